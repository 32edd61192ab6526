"""Vectors that cost money or time, in one SQLite file of the cache folder, for all runs and workers."""

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from evoharness.retrieval.embedders.base import EmbedderUnavailable
from evoharness.retrieval.embedders.recent import unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Half = NDArray[np.float16]

VECTORS_FILE = "vectors.sqlite"
"""Name of the file in the cache folder."""
MOST_ROWS = 200_000
"""When there are more, the oldest tenth goes."""
WAIT_S = 30.0
ASKED_AT_ONCE = 500
Result = TypeVar("Result")


class KeptVectors:
    """Text → vector in half precision; may be used by many threads and processes.

    A file that cannot be used costs vectors their permanence, nothing else: everything is then unknown.
    """

    def __init__(self, path: Path, namespace: str, most_rows: int = MOST_ROWS) -> None:
        """`namespace`: which model, and where; its vectors answer for no other."""
        self._path = path
        self._namespace = namespace
        self._most_rows = most_rows
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._usable = True

    def get(self, texts: Sequence[str]) -> "dict[str, Half]":
        """Those of the texts that are known."""
        import numpy as np

        keys = {self._key(text): text for text in texts}

        def read(file: sqlite3.Connection) -> "dict[str, Half]":
            found: dict[str, Half] = {}
            asked = list(keys)
            for start in range(0, len(asked), ASKED_AT_ONCE):
                some = asked[start : start + ASKED_AT_ONCE]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
                for key, blob in file.execute(query, some):
                    found[keys[key]] = np.frombuffer(blob, dtype="<f2")
            return found

        return self._try(read) or {}

    def put(self, vectors: "Mapping[str, Half]") -> None:
        """Keep these."""
        rows = [(self._key(text), vector.astype("<f2").tobytes()) for text, vector in vectors.items()]

        def write(file: sqlite3.Connection) -> None:
            with file:
                file.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
                (count,) = file.execute("SELECT COUNT(*) FROM vectors").fetchone()
                if count > self._most_rows:
                    query = "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY id LIMIT ?)"
                    file.execute(query, (count - self._most_rows + self._most_rows // 10,))

        self._try(write)

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self._namespace}\n{text}".encode()).hexdigest()

    def _try(self, use: Callable[[sqlite3.Connection], Result]) -> Result | None:
        with self._lock:
            if not self._usable:
                return None
            try:
                if self._connection is None:
                    self._connection = _open(self._path)
                return use(self._connection)
            except (sqlite3.Error, OSError):
                self._usable = False
                return None


def through(
    kept: KeptVectors | None,
    texts: Sequence[str],
    compute: "Callable[[Sequence[str]], NDArray[np.float32]]",
    batch: int,
) -> "NDArray[np.float32]":
    """Unit rows of different texts: those that are kept, and the others computed `batch` at a time and kept.

    EmbedderUnavailable when they do not all have the same length.
    """
    import numpy as np

    found = kept.get(texts) if kept is not None else {}
    unknown = [text for text in texts if text not in found]
    for start in range(0, len(unknown), batch):
        some = unknown[start : start + batch]
        # Half precision is what is kept, so that a vector is the same whether it was kept or came now.
        fresh = dict(zip(some, compute(some).astype(np.float16), strict=True))
        if kept is not None:
            kept.put(fresh)
        found.update(fresh)
    if len({len(row) for row in found.values()}) > 1:
        raise EmbedderUnavailable("vectors differ in length: was the model of that name replaced by another?")
    return unit_rows(np.stack([found[text] for text in texts]).astype(np.float32))


def _open(path: Path) -> Any:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=WAIT_S, check_same_thread=False)
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS vectors "
        "(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, vector BLOB NOT NULL)"
    )
    return connection
