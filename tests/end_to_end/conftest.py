"""The commands, run as a user runs them: in processes of their own, in folders of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SEED = 3
GROUP = pytest.mark.xdist_group("end_to_end")
"""Puts tests that share the run below on one worker, so that it is made once."""


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything it wrote, for messages of tests."""
        return f"exit {self.code}\n{self.out}\n{self.err}"


Evoharness = Callable[..., Ended]


@dataclass(frozen=True)
class World:
    """A folder to run commands in, with a cache that all tests of a session share."""

    folder: Path
    cache: Path

    def environment(self) -> dict[str, str]:
        """What the commands are run with."""
        return {**os.environ, "EVOHARNESS_CACHE": str(self.cache), "COLUMNS": "200"}

    def start(self, command: str, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command and go on."""
        return subprocess.Popen(
            [sys.executable, "-m", f"evoharness.{command}", *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str, *arguments: str) -> Ended:
        """Run a command to its end."""
        with self.start(command, *arguments) as process:
            out, err = process.communicate(timeout=280)
        return Ended(process.returncode, out, err)


@dataclass(frozen=True)
class Run:
    """The folder of a finished run of evolve."""

    path: Path

    @property
    def summary(self) -> dict[str, Any]:
        """Its summary.json."""
        value: dict[str, Any] = json.loads((self.path / "summary.json").read_text())
        return value

    @property
    def decisions(self) -> dict[str, Any]:
        """Everything that was decided and measured; not what it took."""
        return {name: self.summary[name] for name in ("status", "initial", "final", "rounds", "test")}


@dataclass(frozen=True)
class Finished(Run):
    """A finished run, and where it was made."""

    world: World
    ended: Ended

    @property
    def samples(self) -> list[Path]:
        """The videos that it made."""
        return sorted(self.world.cache.glob("samples/*/*.mp4"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def world(tmp_path: Path, cache: Path) -> World:
    folder = tmp_path / "work"
    folder.mkdir()
    return World(folder, cache)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Finished:
    """One small run from start to end."""
    world = World(tmp_path_factory.mktemp("tiny"), cache)
    ended = world.run("evolve", "preset=tiny", f"seed={SEED}")
    assert ended.code == 0, ended.text
    (path,) = (world.folder / "runs").iterdir()
    return Finished(path, world, ended)
