"""The folder of a run: created once, by one process, and advanced only by appending or replacing.

    runs/<time>-<name>/
      config.yaml  run.json      what was asked for, and with which versions
      events.jsonl               the ledger
      outcomes.sqlite            answers and their cost
      rounds/01/…                questions, policy, diagnosis, candidates and verdicts of a round
      harnesses/<fingerprint>/   every harness that was used
      summary.json  report.html

One process at a time may have it open for writing: a lock that the system frees when the process
dies, however it dies.
"""

import fcntl
import os
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from pydantic import BaseModel, TypeAdapter

from evoharness.errors import UserError
from evoharness.records.paths import as_path
from evoharness.records.storage import read_jsonl, write_atomically, write_json, write_jsonl
from evoharness.runs.damage import reading, writing
from evoharness.runs.facts import RunFacts
from evoharness.runs.ledger import Ledger
from evoharness.runs.outcomes import SqliteOutcomes

Model = TypeVar("Model", bound=BaseModel)

CONFIG_FILE = "config.yaml"
FACTS_FILE = "run.json"
SUMMARY_FILE = "summary.json"


class RunDirectory:
    """One run on disk; made by `create` or `open`."""

    def __init__(self, path: Path, lock: IO[str] | None = None) -> None:
        """For `create` and `open`; a run without a lock is for reading."""
        self.path = path.absolute()
        self._lock = lock

    @classmethod
    def create(cls, root: Path, name: str, config: str, facts: RunFacts, stamped: bool = True) -> Self:
        """Make `root/<time>-<name>` (`root/<name>` unless `stamped`), which must not exist, and lock it.

        `config` is the text of config.yaml. UserError when the folder cannot be made.
        """
        label = safe_name(name)
        now = datetime.now()
        path = root / (f"{now:%Y%m%d-%H%M%S}-{label}" if stamped else label)
        try:
            root.mkdir(parents=True, exist_ok=True)
            try:
                path.mkdir()
            except FileExistsError:
                if not stamped:
                    raise
                path = root / f"{now:%Y%m%d-%H%M%S}-{label}-{now:%f}"
                path.mkdir()
            lock = _locked(path)
            write_atomically(path / CONFIG_FILE, config)
            write_json(path / FACTS_FILE, facts)
        except OSError as error:
            raise UserError(f"cannot make a run in {root}: {error.strerror or error}") from error
        return cls(path, lock)

    @classmethod
    def open(cls, path: Path, write: bool = True) -> Self:
        """Open an existing run, to go on with it or (`write=False`) to read.

        UserError when it is no run, or when another process is writing to it.
        """
        if not (path / CONFIG_FILE).is_file() or not (path / FACTS_FILE).is_file():
            raise UserError(f"{path} is no run: it has no {CONFIG_FILE} and {FACTS_FILE}")
        if not write:
            return cls(path)
        try:
            return cls(path, _locked(path))
        except OSError as error:
            raise UserError(f"cannot write to {path}: {error.strerror or error}") from error

    @cached_property
    def ledger(self) -> Ledger:
        """Every decision, in order."""
        return Ledger(self.path / "events.jsonl")

    @cached_property
    def outcomes(self) -> SqliteOutcomes:
        """Every answer, by (harness, question, trial)."""
        return SqliteOutcomes(self.path / "outcomes.sqlite")

    @cached_property
    def facts(self) -> RunFacts:
        """What run.json says."""
        with reading(self.path / FACTS_FILE):
            return RunFacts.model_validate_json((self.path / FACTS_FILE).read_bytes())

    @property
    def shown(self) -> str:
        """The path as people read and type it: relative to the working folder where the run lies below it."""
        here = Path.cwd()
        return str(self.path.relative_to(here) if self.path.is_relative_to(here) else self.path)

    @property
    def config_text(self) -> str:
        """What config.yaml says."""
        with reading(self.path / CONFIG_FILE):
            return (self.path / CONFIG_FILE).read_text(encoding="utf-8")

    @property
    def harnesses(self) -> Path:
        """Where the harnesses of the run lie, by fingerprint."""
        return self.path / "harnesses"

    def round_path(self, number: int) -> Path:
        """Folder of round `number`, the first being 1."""
        return self.path / "rounds" / f"{number:02d}"

    def save(self, relative: str | Path, value: Any) -> Path:
        """Write a record or a JSON value atomically; to a `.jsonl` file, a sequence of records.

        DamagedRun when it cannot be written.
        """
        target = self._inside(relative)
        with writing(target):
            if target.suffix == ".jsonl":
                write_jsonl(target, value)
            elif isinstance(value, str) and target.suffix != ".json":
                write_atomically(target, value)
            else:
                write_json(target, _plain(value))
        return target

    def load(self, relative: str | Path, model: type[Model]) -> Model | None:
        """Read a record back; None when it was never saved. DamagedRun names a damaged file."""
        target = self._inside(relative)
        if not target.exists():
            return None
        with reading(target):
            return model.model_validate_json(target.read_bytes())

    def load_lines(self, relative: str | Path, model: type[Model]) -> list[Model] | None:
        """Read a `.jsonl` file of records back; None when it was never saved. DamagedRun likewise."""
        target = self._inside(relative)
        with reading(target):
            return read_jsonl(target, model) if target.exists() else None

    def load_json(self, relative: str | Path) -> Any:
        """Read a JSON value back; None when it was never saved. DamagedRun likewise."""
        target = self._inside(relative)
        with reading(target):
            return TypeAdapter(Any).validate_json(target.read_bytes()) if target.exists() else None

    def close(self) -> None:
        """Let others write to the run."""
        if "outcomes" in self.__dict__:
            self.outcomes.close()
            del self.__dict__["outcomes"]
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _inside(self, relative: str | Path) -> Path:
        target = Path(os.path.normpath(self.path / relative))
        if not target.is_relative_to(os.path.normpath(self.path)):
            raise ValueError(f"{relative} lies outside the run {self.path}")
        return target


def safe_name(name: str) -> str:
    """`name` as one folder name: whatever is no letter, digit, `.`, `_` or `-` becomes `-`."""
    plain = "".join(c if c.isalnum() or c in "._-" else "-" for c in name).strip("-.")
    return plain[:80] or "run"


def find_run(text: str, root: Path, made_by: str | None = None) -> Path:
    """The run that `text` means: a folder, a name below `root`, or `latest`; UserError when there is none.

    `latest` is the latest run of the command `made_by` (None: of any).
    """
    if text == "latest":
        for path in sorted((path.parent for path in root.glob(f"*/{FACTS_FILE}")), reverse=True):
            if made_by is None or RunDirectory(path).facts.made_by == made_by:
                return path
        raise UserError(f"there is no run {f'of {made_by} ' if made_by else ''}in {root}")
    for path in (Path(text), root / text, as_path(text)):
        if path.is_dir():
            return path
    raise UserError(f"there is no run {text}")


def _locked(path: Path) -> IO[str]:
    lock = (path / ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise UserError(f"another process is working on {path}") from error
    except BaseException:
        lock.close()
        raise
    return lock


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value
    if isinstance(value, dict):
        return {str(k): _dumped(v) for k, v in value.items()}
    return _dumped(value)


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(k): _dumped(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_dumped(item) for item in value]
    return value
