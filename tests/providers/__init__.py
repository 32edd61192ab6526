"""Providers, addresses, keys, and whether a server answers."""
