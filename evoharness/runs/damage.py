"""Files of a run that cannot be used: named in one line, whatever is wrong with them."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from evoharness.errors import UserError


class DamagedRun(UserError):
    """A file of a run that cannot be read, or cannot be written; `.path` is that file."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path} {message}")
        self.path = path
        self.message = message

    def __reduce__(self) -> tuple[type["DamagedRun"], tuple[Path, str]]:
        return type(self), (self.path, self.message)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """DamagedRun for whatever goes wrong while `path` is read inside the block."""
    try:
        yield
    except (OSError, ValueError, sqlite3.Error, zlib.error) as error:
        raise DamagedRun(path, f"is damaged or cannot be read: {_said(error, path)}") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """DamagedRun when the disk or the database refuses what is written to `path` inside the block."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise DamagedRun(path, f"cannot be written: {_said(error, path)}") from error


def _said(error: Exception, path: Path) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    cause = error.__cause__ if isinstance(error.__cause__, ValidationError) else error
    if not isinstance(cause, ValidationError):
        return str(error).removeprefix(f"{path}, ")
    first = cause.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    line = str(error).partition(":")[0].removeprefix(f"{path}, ") if cause is not error else ""
    return ": ".join(part for part in (line, where, first["msg"]) if part)
