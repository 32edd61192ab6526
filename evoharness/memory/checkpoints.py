"""Steps of a build that are written down as soon as they are done, so that none is done twice."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from evoharness.records.base import Record
from evoharness.records.storage import write_atomically

Step = TypeVar("Step", bound=Record)


class Checkpoints:
    """A folder of finished steps, each a file that says what it was made from.

    A file that is damaged, or was made from something else, counts as not there.
    """

    def __init__(self, folder: Path | None) -> None:
        """None: nothing is written down."""
        self._folder = folder

    def done(self, name: str, made_from: str, kind: type[Step]) -> Step | None:
        """The step of that name, when it was finished with the same input; else None."""
        if self._folder is None:
            return None
        try:
            written = self._file(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        head, _, body = written.partition(b"\n")
        if head.decode("ascii", "replace") != _digest(made_from):
            return None
        try:
            return kind.model_validate_json(body)
        except ValueError:
            return None

    def keep(self, name: str, made_from: str, step: Record) -> None:
        """Write a finished step down; OSError when the folder cannot be written."""
        if self._folder is not None:
            written = f"{_digest(made_from)}\n{step.model_dump_json()}"
            # Soon, rather than safe from power cuts: a process that is killed before loses the step.
            write_atomically(self._file(name), written, durable=False)

    def once(self, name: str, made_from: str, kind: type[Step], make: Callable[[], Step]) -> Step:
        """The step of that name: finished earlier with the same input, or now."""
        step = self.done(name, made_from, kind)
        if step is None:
            step = make()
            self.keep(name, made_from, step)
        return step

    def _file(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}.json"


def _digest(made_from: str) -> str:
    return hashlib.sha256(made_from.encode("utf-8", "surrogatepass")).hexdigest()
