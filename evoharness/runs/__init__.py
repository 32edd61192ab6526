"""Runs: the directory of a run, its ledger, its outcomes, and what is shown while it goes on."""

from evoharness.runs.damage import DamagedRun
from evoharness.runs.directory import RunDirectory, find_run, safe_name
from evoharness.runs.facts import RunFacts, git_revision, installed_packages
from evoharness.runs.ledger import Ledger
from evoharness.runs.outcomes import SqliteOutcomes
from evoharness.runs.progress import PlainProgress, Progress, SilentProgress, make_progress

__all__ = [
    "DamagedRun",
    "Ledger",
    "PlainProgress",
    "Progress",
    "RunDirectory",
    "RunFacts",
    "SilentProgress",
    "SqliteOutcomes",
    "find_run",
    "git_revision",
    "installed_packages",
    "make_progress",
    "safe_name",
]
