"""Proposers: where changes to the harness come from."""

from evoharness.evolution.proposers.search import SearchProposer, SearchSettings

__all__ = ["SearchProposer", "SearchSettings"]
