"""The initial strategies, in the restricted dialect: read as text, never imported."""
