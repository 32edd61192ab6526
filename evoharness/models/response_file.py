"""The SQLite file of kept responses: opened by many processes at once, or only to be read."""

import sqlite3
import time
from pathlib import Path

WAIT_S = 30.0
"""How long to wait for another process that writes."""
OPENING_ATTEMPTS = 8
_SCHEMA = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS responses (
    key TEXT NOT NULL PRIMARY KEY,
    answer TEXT NOT NULL,
    spend TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    used REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS responses_used ON responses (used);
"""


def open_to_write(path: Path) -> sqlite3.Connection:
    """The open file with its table; when several processes start at once, all but one have to wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(OPENING_ATTEMPTS):
        connection = sqlite3.connect(path, timeout=WAIT_S, check_same_thread=False)
        try:
            connection.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            connection.close()
            if "locked" not in str(error) or attempt + 1 == OPENING_ATTEMPTS:
                raise
            time.sleep(0.05 * (attempt + 1))
        except sqlite3.Error:
            connection.close()
            raise
        else:
            return connection
    raise AssertionError("unreachable")


def open_to_read(path: Path) -> sqlite3.Connection:
    """The open file, which is not changed; also where the folder cannot be written either."""
    address = path.absolute().as_uri()
    failure: sqlite3.Error | None = None
    for how in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"{address}?{how}", uri=True, timeout=WAIT_S, check_same_thread=False)
        try:
            connection.execute("SELECT COUNT(*) FROM (SELECT key FROM responses LIMIT 1)").fetchone()
        except sqlite3.Error as error:
            connection.close()
            failure = failure or error
        else:
            return connection
    assert failure is not None
    raise failure


def is_busy(error: Exception) -> bool:
    """Whether another process writes for longer than was waited."""
    return bool(getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY)


def is_readable(path: Path) -> bool:
    """Whether what is in the file can be read."""
    try:
        open_to_read(path).close()
    except (sqlite3.Error, OSError):
        return False
    return True
