"""Outcomes on disk: what was answered and paid for is never asked again."""

import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from evoharness.records.outcome import Outcome
from evoharness.records.spend import Spend
from evoharness.runs.damage import reading, writing

_TABLE = """
CREATE TABLE IF NOT EXISTS outcomes (
    harness TEXT NOT NULL,
    public TEXT NOT NULL,
    question TEXT NOT NULL,
    trial INTEGER NOT NULL,
    status TEXT NOT NULL,
    reward REAL,
    frames INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    cost_usd REAL,
    record BLOB NOT NULL,
    PRIMARY KEY (harness, public, trial)
)
"""


class SqliteOutcomes:
    """Outcomes by (harness fingerprint, public question id, trial) in one SQLite file.

    The public id stands for the whole question: two question files may use the same readable ids, which
    are kept beside it.

    The numbers that people query have columns of their own; the whole record, trace included, is kept
    beside them as compressed JSON. Each `put` is one transaction: a killed process loses the outcomes of
    the transaction under way and nothing else. May be used from several threads.
    """

    def __init__(self, path: Path) -> None:
        """Open `path`, creating it; DamagedRun, here and everywhere else, when it is no such database."""
        self.path = path
        self._lock = threading.Lock()
        with reading(path):
            self._connection = sqlite3.connect(path, check_same_thread=False, timeout=30)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(_TABLE)
            self._connection.commit()

    def get(self, harness: str, public_id: str, trial: int = 0) -> Outcome | None:
        """What that harness answered to that question, or None when it has not been asked."""
        with self._lock, reading(self.path):
            row = self._connection.execute(
                "SELECT record FROM outcomes WHERE harness = ? AND public = ? AND trial = ?",
                (harness, public_id, trial),
            ).fetchone()
        return None if row is None else self._unpack(row[0])

    def put(self, outcomes: Iterable[Outcome]) -> None:
        """Keep outcomes, replacing those of the same key."""
        rows = [
            (
                outcome.harness,
                outcome.answered.question,
                outcome.question,
                outcome.trial,
                outcome.status,
                outcome.reward,
                outcome.answered.spend.frames,
                outcome.answered.spend.tokens,
                outcome.answered.spend.calls,
                outcome.answered.spend.cost_usd,
                zlib.compress(outcome.model_dump_json().encode(), 1),
            )
            for outcome in outcomes
        ]
        with self._lock, writing(self.path), self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def all(self, harness: str | None = None) -> Iterator[Outcome]:
        """Every outcome, of one harness or of all, in a fixed order."""
        where, values = ("", ()) if harness is None else ("WHERE harness = ?", (harness,))
        with self._lock, reading(self.path):
            rows = self._connection.execute(
                f"SELECT record FROM outcomes {where} ORDER BY harness, question, public, trial", values
            ).fetchall()
        for (record,) in rows:
            yield self._unpack(record)

    def spend(self) -> Spend:
        """What all outcomes kept here have used together, each answer counted once."""
        with self._lock, reading(self.path):
            rows = self._connection.execute("SELECT record FROM outcomes").fetchall()
        answers = (self._unpack(record).answered for (record,) in rows)
        return sum((answered.spend for answered in answers if not answered.reused), Spend())

    def __len__(self) -> int:
        with self._lock, reading(self.path):
            return int(self._connection.execute("SELECT COUNT(*) FROM outcomes").fetchone()[0])

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._connection.close()

    def _unpack(self, record: bytes) -> Outcome:
        with reading(self.path):
            return Outcome.model_validate_json(zlib.decompress(record))
