"""Configuration groups of the commands."""
