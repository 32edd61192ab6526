"""What must be known about a run to understand or repeat it."""

import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Self

import evoharness
from evoharness.records.base import Record

RUN_SCHEMA = 1


class RunFacts(Record):
    """Content of `run.json`."""

    schema_version: int = RUN_SCHEMA
    started: str
    """Time of creation, ISO 8601, UTC."""
    command: tuple[str, ...]
    """The command line, as given."""
    evoharness: str
    """Version of this package."""
    git_revision: str | None
    """Revision of the source tree, `+changes` when it differs from it; None outside a repository."""
    python: str
    platform: str
    packages: dict[str, str]
    """Every installed distribution and its version."""
    seed: int
    backbones: tuple[str, ...] = ()
    """Ids of the models in use."""
    sandbox: str = ""
    """Backend that runs strategies and tools, and how far it confines them."""
    made_by: str = ""
    """Name of the command that made the run: `evolve` or `evaluate`."""

    @classmethod
    def gather(cls, seed: int, backbones: tuple[str, ...] = (), sandbox: str = "", made_by: str = "") -> Self:
        """The facts of this process, now."""
        return cls(
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            command=tuple(sys.argv),
            evoharness=evoharness.__version__,
            git_revision=git_revision(),
            python=platform.python_version(),
            platform=platform.platform(),
            packages=installed_packages(),
            seed=seed,
            backbones=backbones,
            sandbox=sandbox,
            made_by=made_by,
        )


def installed_packages() -> dict[str, str]:
    """Name and version of every distribution that Python can see, by name."""
    found = {str(d.metadata["Name"]): d.version for d in distributions() if d.metadata["Name"]}
    return dict(sorted(found.items(), key=lambda item: item[0].casefold()))


def git_revision() -> str | None:
    """Revision of the repository that holds this package; None when there is none."""
    folder = Path(evoharness.__file__).parent
    revision = _git("rev-parse", "HEAD", folder=folder)
    if revision is None:
        return None
    return revision + ("+changes" if _git("status", "--porcelain", "-uno", folder=folder) else "")


def _git(*arguments: str, folder: Path) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
