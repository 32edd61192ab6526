"""The file that a budget is kept in: what was used, and the calls that have not come to their end.

A call is `RESERVED` before it is made and `SENT` while it is made. When its reply is lost it is `LOST`: the
provider may have served it, so it counts at the most that it may have taken, until an answer to the same
request shows what it took. Calls that a process had sent when it was killed are lost as well.
"""

import os
import sqlite3
import time
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from evoharness.records.spend import Spend

WAIT_S = 30.0
"""How long to wait for another process that writes."""
COLUMNS = "calls, input_tokens, output_tokens, frames, usd, unpriced"
_NUMBERS = """
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    frames INTEGER NOT NULL,
    usd REAL NOT NULL,
    unpriced INTEGER NOT NULL
"""
_SCHEMA = f"""
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS used (one INTEGER PRIMARY KEY CHECK (one = 1), {_NUMBERS});
INSERT OR IGNORE INTO used VALUES (1, 0, 0, 0, 0, 0.0, 0);
CREATE TABLE IF NOT EXISTS used_by_role (role TEXT PRIMARY KEY, {_NUMBERS});
CREATE TABLE IF NOT EXISTS open_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, state TEXT NOT NULL, role TEXT,
    request TEXT NOT NULL, {_NUMBERS}
);
"""
_MORE = ", ".join(f"{name} = {name} + ?" for name in COLUMNS.split(", "))
_SUMS = ", ".join(f"COALESCE(SUM({name}), 0)" for name in COLUMNS.split(", "))
NOBODY = ""
"""Owner of a lost call whose task has ended."""


class State(StrEnum):
    """Of a call that has not come to its end."""

    RESERVED = "reserved"
    SENT = "sent"
    LOST = "lost"


HELD = f"state IN ('{State.RESERVED}', '{State.SENT}')"
"""Calls in flight, in SQL."""
LOST = f"state = '{State.LOST}'"
"""Lost calls, in SQL."""


def opened(path: Path | None) -> sqlite3.Connection:
    """The open file with its tables; in memory where there is no path."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + WAIT_S
    while True:
        connection = sqlite3.connect(
            path or ":memory:", timeout=WAIT_S, check_same_thread=False, isolation_level=None
        )
        try:
            connection.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:  # changing to WAL does not wait for others that do
            connection.close()
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        except sqlite3.Error:
            connection.close()
            raise
        else:
            return connection


def book(books: sqlite3.Connection, role: str | None, spend: Spend) -> None:
    """Add what was used, for that role."""
    books.execute(f"UPDATE used SET {_MORE}", _row(spend))
    if role is not None:
        books.execute("INSERT OR IGNORE INTO used_by_role VALUES (?, 0, 0, 0, 0, 0.0, 0)", (role,))
        books.execute(f"UPDATE used_by_role SET {_MORE} WHERE role = ?", (*_row(spend), role))


def used(books: sqlite3.Connection) -> Spend:
    """What is settled."""
    return _spend(*books.execute(f"SELECT {COLUMNS} FROM used").fetchone())


def used_by_role(books: sqlite3.Connection) -> dict[str, Spend]:
    """What is settled, of each role that was named."""
    rows = books.execute(f"SELECT role, {COLUMNS} FROM used_by_role").fetchall()
    return {role: _spend(*row) for role, *row in rows}


def lost(books: sqlite3.Connection) -> dict[str | None, Spend]:
    """What lost calls may have taken at the most, by role; None: none was named."""
    rows = books.execute(f"SELECT role, {_SUMS} FROM open_calls WHERE {LOST} GROUP BY role").fetchall()
    return {role: _spend(*row) for role, *row in rows}


def in_flight(books: sqlite3.Connection) -> int:
    """How many calls are held."""
    return int(books.execute(f"SELECT COUNT(*) FROM open_calls WHERE {HELD}").fetchone()[0])


def sums(books: sqlite3.Connection, which: str) -> tuple[float, int, int]:
    """USD, calls and tokens of the open calls that are so, in SQL."""
    total = "COALESCE(SUM(usd), 0), COALESCE(SUM(calls), 0), COALESCE(SUM(input_tokens + output_tokens), 0)"
    usd, calls, tokens = books.execute(f"SELECT {total} FROM open_calls WHERE {which}").fetchone()
    return usd, calls, tokens


def taken(books: sqlite3.Connection) -> tuple[float, int, int]:
    """USD, calls and tokens that are settled or lost."""
    settled = books.execute("SELECT usd, calls, input_tokens + output_tokens FROM used").fetchone()
    usd, calls, tokens = (mine + more for mine, more in zip(settled, sums(books, LOST), strict=True))
    return usd, calls, tokens


def enter(books: sqlite3.Connection, state: State, role: str | None, request: str, most: Spend) -> int:
    """A call of this process, which may take so much; its number."""
    places = ", ".join("?" * 10)
    insert = f"INSERT INTO open_calls (owner, state, role, request, {COLUMNS}) VALUES ({places})"
    number = books.execute(insert, (owner(), state, role, request, *_row(most))).lastrowid
    assert number is not None
    return number


def change(books: sqlite3.Connection, number: int, state: State, role: str | None, request: str) -> None:
    """Let a call be in another state."""
    update = "UPDATE open_calls SET state = ?, role = ?, request = ? WHERE id = ?"
    books.execute(update, (state, role, request, number))


def drop(books: sqlite3.Connection, number: int) -> None:
    """Forget a call."""
    books.execute("DELETE FROM open_calls WHERE id = ?", (number,))


def disown(books: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Leave lost calls to whoever gets an answer to the same request."""
    books.executemany("UPDATE open_calls SET owner = ? WHERE id = ?", [(NOBODY, each) for each in numbers])


def resolve(books: sqlite3.Connection, request: str, took: Spend, own: Iterable[int]) -> None:
    """Book `took` for each lost call with that request: those of one's own, and those that nobody minds."""
    query = f"SELECT id, owner, role FROM open_calls WHERE request = ? AND state <> '{State.RESERVED}'"
    mine = set(own)
    for number, whose, role in books.execute(query, (request,)).fetchall():
        if number in mine or not is_alive(whose):
            drop(books, number)
            book(books, role, took)


def conclude(books: sqlite3.Connection) -> None:
    """Let all lost calls stay booked at the most that they may have taken."""
    for role, most in lost(books).items():
        book(books, role, most)
    books.execute(f"DELETE FROM open_calls WHERE {LOST}")


def bury(books: sqlite3.Connection, everybody: bool = False) -> bool:
    """Give back what dead processes had reserved, and take what they had sent for lost; whether any did.

    `everybody`: all processes that have calls here are dead.
    """
    query = f"SELECT DISTINCT owner FROM open_calls WHERE {HELD}"
    owners = [whose for (whose,) in books.execute(query) if everybody or not is_alive(whose)]
    for whose in owners:
        books.execute("DELETE FROM open_calls WHERE owner = ? AND state = ?", (whose, State.RESERVED))
        books.execute(
            "UPDATE open_calls SET state = ?, owner = ? WHERE owner = ?", (State.LOST, NOBODY, whose)
        )
    return bool(owners)


def owner() -> str:
    """This process, told apart from a later one with the same number."""
    return _name_of(os.getpid())


@cache
def _name_of(process: int) -> str:
    return f"{process}/{_started(process)}"


def is_alive(whose: str) -> bool:
    """Whether the process is, that calls belong to."""
    number, _, started = whose.partition("/")
    if not number:
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _started(int(number)) == started


def _started(process: int) -> str:
    """When a process started, in the system's own clock; `gone` for a dead one, empty where nobody knows."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "gone" if fields[0] in (b"Z", b"X") else fields[19].decode()


def _row(spend: Spend) -> tuple[Any, ...]:
    return (
        spend.calls,
        spend.input_tokens,
        spend.output_tokens,
        spend.frames,
        spend.cost_usd or 0.0,
        int(spend.cost_usd is None),
    )


def _spend(calls: int, given: int, received: int, frames: int, usd: float, unpriced: int) -> Spend:
    return Spend(
        calls=calls,
        input_tokens=given,
        output_tokens=received,
        frames=frames,
        cost_usd=None if unpriced else usd,
    )
