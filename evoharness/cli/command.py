"""What the wrapper knows about a command: its name, its settings and the function that does the work."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Numbers = Mapping[str, str | int | float | None]


@dataclass(frozen=True)
class Call:
    """How a job was called."""

    overrides: tuple[str, ...]
    """What was given on the command line, as Hydra reads it; in a sweep, the values of this job."""
    config_text: str
    """The whole configuration as YAML."""
    sweep: Path | None = None
    """Folder of the sweep that the job belongs to."""
    number: int | None = None
    """Which job of the sweep, from 0."""
    preset: str | None = None
    """Name of the preset, for commands that have presets."""


Job = Callable[[Any, Call], Numbers | None]
"""Does the work of a command; its numbers are the job's line in the table of a sweep.

Takes the command's config dataclass and the call. Raises `UserError` for what the user can put right.
"""


@dataclass(frozen=True)
class Command:
    """A command `python -m evoharness.<name>`."""

    name: str
    purpose: str
    """One sentence."""
    job: Job
    examples: tuple[str, ...] = ()
    """Arguments worth showing in the help."""
    exit_code: Callable[[Numbers], int] | None = None
    """Exit code of a job that was done, by its numbers; None: always 0. Not asked in a sweep."""
