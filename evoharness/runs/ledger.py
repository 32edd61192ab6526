"""The ledger: every decision of a run with its numbers, one JSON object a line, only ever appended to.

A process can die while a line is being written. Such a line has no newline at its end: reading stops
before it, and the next process that appends cuts it off first, so that two events never share a line.
"""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from evoharness.runs.damage import reading, writing


class Ledger:
    """Appends events to a file and reads them back."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist; it is created by the first event."""
        self.path = path
        self._repaired = False

    def append(self, event: str, **numbers: Any) -> None:
        """Write one event with its numbers (JSON values or records) and the time, and see it to the disk.

        DamagedRun when the file cannot be written; ValueError for a number that JSON does not know.
        """
        line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
        line |= {name: _plain(value) for name, value in numbers.items()}
        data = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
        with writing(self.path):
            if not self._repaired:
                self._cut_torn_line()
            with self.path.open("ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())

    def events(self, event: str | None = None) -> Iterator[dict[str, Any]]:
        """The events in the order written, of one name or of all; DamagedRun names a line that is none."""
        if not self.path.exists():
            return
        with reading(self.path):
            lines = self.path.read_bytes().split(b"\n")[:-1]  # what follows the last newline is a torn line
        for number, line in enumerate(lines, start=1):
            with reading(self.path):
                entry = _event(line, number)
            if event is None or entry["event"] == event:
                yield entry

    def _cut_torn_line(self) -> None:
        self._repaired = True
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.truncate(self.path, whole)


def _event(line: bytes, number: int) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error
    if not isinstance(entry, dict) or "event" not in entry:
        raise ValueError(f"line {number}: it is no event")
    return entry


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
