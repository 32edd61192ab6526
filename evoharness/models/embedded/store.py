"""Percepts kept by the identity of their pixels: in this process, and in a file for all processes.

The file is SQLite in WAL mode, so several processes may read and write it at once; the first percept written
for a key stays. When the file cannot be used (a full disk, a read-only folder, a lock held too long)
perception goes on without it.
"""

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

from evoharness.models.embedded.known_lines import KnownLine
from evoharness.models.embedded.percepts import Percept

CAPACITY = 20_000
"""Percepts kept in the process."""
_SCHEMA = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS percepts (key TEXT PRIMARY KEY, percept TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lines (
    number INTEGER PRIMARY KEY, stream TEXT, height INTEGER, width INTEGER, pixels BLOB, text TEXT, score REAL
);
CREATE INDEX IF NOT EXISTS lines_of_stream ON lines (stream, number);
"""
OPENING_ATTEMPTS = 8
BATCH = 500
"""Keys asked for in one statement."""


class PerceptStore:
    """A bounded dictionary in front of an optional SQLite file."""

    def __init__(self, path: Path | None, capacity: int = CAPACITY) -> None:
        self._path = path
        self._capacity = capacity
        self._kept: OrderedDict[str, Percept] = OrderedDict()
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Sequence[str]) -> dict[str, Percept]:
        """The percepts that are known among those keys."""
        found = {key: self._kept[key] for key in keys if key in self._kept}
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing:
            stored = self._read(missing)
            self._keep(stored)
            found.update(stored)
        return found

    def put(self, percepts: Mapping[str, Percept]) -> None:
        """Remember percepts."""
        self._keep(percepts)
        connection = self._open()
        if connection is None:
            return
        try:
            with connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO percepts VALUES (?, ?)",
                    [(key, percept.dumps()) for key, percept in percepts.items()],
                )
        except sqlite3.Error:
            self._give_up()

    def lines_after(self, stream: str, number: int) -> list[tuple[int, KnownLine]]:
        """Lines of text that any process read in a stream, with numbers above the one given."""
        import numpy as np

        connection = self._open()
        if connection is None:
            return []
        query = "SELECT number, height, width, pixels, text, score FROM lines WHERE stream = ? AND number > ?"
        try:
            rows = connection.execute(f"{query} ORDER BY number", (stream, number)).fetchall()
        except sqlite3.Error:
            self._give_up()
            return []
        return [
            (row, KnownLine(np.frombuffer(pixels, np.uint8).reshape(height, width), text, score))
            for row, height, width, pixels, text, score in rows
            if len(pixels) == height * width
        ]

    def put_lines(self, stream: str, lines: Sequence[KnownLine]) -> None:
        """Let other processes know lines of text that were read in a stream."""
        connection = self._open() if lines else None
        if connection is None:
            return
        insert = "INSERT INTO lines (stream, height, width, pixels, text, score) VALUES (?, ?, ?, ?, ?, ?)"
        rows = [
            (stream, line.height, line.width, line.pixels.tobytes(), line.text, line.score) for line in lines
        ]
        try:
            with connection:
                connection.executemany(insert, rows)
        except sqlite3.Error:
            self._give_up()

    def _keep(self, percepts: Mapping[str, Percept]) -> None:
        self._kept.update(percepts)
        while len(self._kept) > self._capacity:
            self._kept.popitem(last=False)

    def _read(self, keys: list[str]) -> dict[str, Percept]:
        connection = self._open()
        found: dict[str, Percept] = {}
        if connection is None:
            return found
        try:
            for first in range(0, len(keys), BATCH):
                some = keys[first : first + BATCH]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, percept FROM percepts WHERE key IN ({marks})"
                for key, text in connection.execute(query, some):
                    found[key] = Percept.loads(text)
        except (sqlite3.Error, ValueError):
            self._give_up()
        return found

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is None and self._path is not None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = _connect(self._path)
            except (sqlite3.Error, OSError):
                self._give_up()
        return self._connection

    def _give_up(self) -> None:
        """Go on without the file."""
        self._path = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _connect(path: Path) -> sqlite3.Connection:
    """An open file with its tables; when several processes start at once, all but one have to wait."""
    for attempt in range(OPENING_ATTEMPTS):
        connection = sqlite3.connect(path, timeout=20, check_same_thread=False)
        try:
            connection.executescript(_SCHEMA)
        except sqlite3.OperationalError:
            connection.close()
            time.sleep(0.05 * (attempt + 1))
        else:
            return connection
    raise sqlite3.OperationalError(f"{path} cannot be opened")
