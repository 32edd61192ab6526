"""Tools that a person promoted with `export`; a run never writes here."""
