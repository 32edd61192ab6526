"""Caps on what a run may use, held by all its threads and worker processes together.

A call is reserved at the most it can take before it is made, and settled at what it took afterwards. What is
reserved counts as used, so that no number of calls in flight passes a cap, as long as no call takes more than
was reserved for it. The books are one SQLite file of the run: going on with the run goes on with them.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from evoharness.models.backbone import CannotGoOn
from evoharness.records.base import Record
from evoharness.records.spend import Spend

BUDGET_FILE = "budget.sqlite"
"""Name of the file in the folder of a run."""
WAIT_S = 30.0
"""How long to wait for another process that writes."""
PATIENCE_S = 1800.0
"""How long a call waits for calls in flight to give back what they do not need."""
POLL_S = 0.1
ROUNDING_USD = 1e-9
"""What sums of prices may be off by."""
_SCHEMA = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS used (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    frames INTEGER NOT NULL,
    usd REAL NOT NULL,
    unpriced INTEGER NOT NULL
);
INSERT OR IGNORE INTO used VALUES (1, 0, 0, 0, 0, 0.0, 0);
CREATE TABLE IF NOT EXISTS used_by_role (
    role TEXT PRIMARY KEY,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    frames INTEGER NOT NULL,
    usd REAL NOT NULL,
    unpriced INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS reservations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    usd REAL NOT NULL
);
"""


_ROLE: ContextVar[str | None] = ContextVar("role", default=None)


@contextmanager
def paying_for(role: str) -> Iterator[None]:
    """Whatever is settled in the block, in this thread, is booked for that role."""
    before = _ROLE.set(role)
    try:
        yield
    finally:
        _ROLE.reset(before)


class Caps(Record):
    """The most that a run may use; what is None is not limited."""

    usd: float | None = Field(default=None, ge=0)
    """US dollars; then every model needs a known price."""
    calls: int | None = Field(default=None, ge=0)
    """Calls of models."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens, in both directions."""

    def __bool__(self) -> bool:
        return any(cap is not None for cap in (self.usd, self.calls, self.tokens))


class CannotPay(CannotGoOn):
    """Nothing can be paid for any more, by anybody in the run."""


class BudgetExceeded(CannotPay):
    """The next call could pass a cap; the run can go on with a higher one."""

    def __init__(self, cap: str, limit: float, used: float, needed: float) -> None:
        """`cap`: usd, calls or tokens; `needed`: the most that the refused call could have taken."""
        super().__init__(
            f"budget.{cap}={_number(limit)} is used up: {_number(used)} used, "
            f"and the next call may take {_number(needed)}"
        )
        self.cap = cap
        self.limit = limit
        self.used = used
        self.needed = needed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cap, self.limit, self.used, self.needed), self.__dict__


class PriceUnknown(CannotPay):
    """There is a cap in US dollars, and nobody knows what the call would cost."""


class BudgetUnusable(CannotPay):
    """The books cannot be read or written; no call is made without them."""


@dataclass(frozen=True)
class Reservation:
    """Room for one call; to be settled or refunded exactly once."""

    id: int | None
    """None: nothing is capped, so there is nothing to hold."""
    estimate: Spend


class Budget:
    """The books of one run; may be used from many threads, and by many processes at once."""

    def __init__(self, path: Path | None, caps: Caps, patience_s: float = PATIENCE_S) -> None:
        """`path` is made when the budget is first used; None: the books of this process alone, in memory.

        `patience_s`: see `reserve`.
        """
        self.path = path
        self.caps = caps
        self._patience_s = patience_s
        self._freed = threading.Condition()
        self._connection: sqlite3.Connection | None = None

    def reserve(self, estimate: Spend) -> Reservation:
        """Room for a call that takes at most `estimate`, of all of it or of nothing.

        Where only calls in flight stand in the way, waits for them to give back what they did not need, for
        `patience_s` at most. Raises BudgetExceeded when a cap could be passed, PriceUnknown when a cap in US
        dollars meets an estimate without a price, BudgetUnusable when the books cannot be kept.
        """
        if not self.caps:
            return Reservation(None, estimate)
        if self.caps.usd is not None and estimate.cost_usd is None:
            raise PriceUnknown(
                f"budget.usd={_number(self.caps.usd)} cannot be kept: the price of a model is not known; "
                "set its price, or leave budget.usd out and cap budget.calls or budget.tokens"
            )
        deadline = time.monotonic() + self._patience_s
        with self._freed:
            while True:
                number, refusal, in_flight = self._try_to_reserve(estimate)
                if refusal is None:
                    return Reservation(number, estimate)
                if not in_flight or time.monotonic() > deadline:
                    raise refusal
                self._freed.wait(POLL_S)  # other processes do not notify

    def settle(self, reservation: Reservation, spend: Spend) -> None:
        """Book what the call took, and let go of the rest of what was reserved for it; see `paying_for`."""
        more = (
            spend.calls,
            spend.input_tokens,
            spend.output_tokens,
            spend.frames,
            spend.cost_usd or 0.0,
            int(spend.cost_usd is None),
        )
        with self._freed, self._books() as books:
            _drop(books, reservation)
            books.execute(f"UPDATE used SET {_MORE}", more)
            if (role := _ROLE.get()) is not None:
                books.execute("INSERT OR IGNORE INTO used_by_role VALUES (?, 0, 0, 0, 0, 0.0, 0)", (role,))
                books.execute(f"UPDATE used_by_role SET {_MORE} WHERE role = ?", (*more, role))
            self._freed.notify_all()

    def refund(self, reservation: Reservation) -> None:
        """Let go of all that was reserved: the call was not made, or it took nothing."""
        if reservation.id is None:
            return
        with self._freed, self._books() as books:
            _drop(books, reservation)
            self._freed.notify_all()

    def begin(self, used: Spend | None = None) -> None:
        """Start, or go on: give back what killed processes held, and count at least `used` as used.

        For the one process that has the run open, before its workers start.
        """
        with self._freed, self._books() as books:
            books.execute("DELETE FROM reservations")
            if used is not None:
                books.execute(
                    "UPDATE used SET calls = MAX(calls, ?), input_tokens = MAX(input_tokens, ?), "
                    "output_tokens = MAX(output_tokens, ?), frames = MAX(frames, ?), usd = MAX(usd, ?)",
                    (used.calls, used.input_tokens, used.output_tokens, used.frames, used.cost_usd or 0.0),
                )

    def used(self) -> Spend:
        """Everything settled so far."""
        with self._freed, self._books() as books:
            row = books.execute(f"SELECT {_COLUMNS} FROM used").fetchone()
        return _spend(*row)

    def used_by_role(self) -> dict[str, Spend]:
        """What was settled for each role; calls for which none was named are in `used` alone."""
        with self._freed, self._books() as books:
            rows = books.execute(f"SELECT role, {_COLUMNS} FROM used_by_role ORDER BY role").fetchall()
        return {role: _spend(*row) for role, *row in rows}

    def in_flight(self) -> int:
        """How many reservations are held."""
        with self._freed, self._books() as books:
            return int(books.execute("SELECT COUNT(*) FROM reservations").fetchone()[0])

    def close(self) -> None:
        """Release the file; it is opened again when it is used again."""
        with self._freed:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _try_to_reserve(self, estimate: Spend) -> tuple[int | None, BudgetExceeded | None, bool]:
        """(number of the reservation, None, …), or (None, why not, whether it may fit once calls end)."""
        with self._books() as books:
            refusal, in_flight = self._refusal(books, estimate)
            if refusal is not None and in_flight and _give_back_of_dead(books):
                refusal, in_flight = self._refusal(books, estimate)
            if refusal is not None:
                return None, refusal, in_flight
            row = (_owner(), estimate.calls, estimate.tokens, estimate.cost_usd or 0.0)
            insert = "INSERT INTO reservations (owner, calls, tokens, usd) VALUES (?, ?, ?, ?)"
            return books.execute(insert, row).lastrowid, None, False

    def _refusal(self, books: sqlite3.Connection, estimate: Spend) -> tuple[BudgetExceeded | None, bool]:
        """Why a call does not fit (None: it does), and whether it would once nothing is in flight."""
        used = books.execute("SELECT usd, calls, input_tokens + output_tokens FROM used").fetchone()
        held = books.execute(
            "SELECT COALESCE(SUM(usd), 0), COALESCE(SUM(calls), 0), COALESCE(SUM(tokens), 0) "
            "FROM reservations"
        ).fetchone()
        needed = (estimate.cost_usd or 0.0, estimate.calls, estimate.tokens)
        caps = (self.caps.usd, self.caps.calls, self.caps.tokens)
        refusal, may_fit = None, True
        for name, cap, has, reserved, more in zip(
            ("usd", "calls", "tokens"), caps, used, held, needed, strict=True
        ):
            rounding = ROUNDING_USD if name == "usd" else 0
            if cap is None or has + reserved + more <= cap + rounding:
                continue
            alone = has + more <= cap + rounding
            if refusal is None or not alone:
                refusal = BudgetExceeded(name, cap, has, more)
            may_fit = may_fit and alone
        return refusal, refusal is not None and may_fit

    @contextmanager
    def _books(self) -> Iterator[sqlite3.Connection]:
        """The open file inside one transaction that no other process writes in."""
        try:
            if self._connection is None:
                self._connection = _open(self.path)
            connection = self._connection
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
        except (sqlite3.Error, OSError) as error:
            said = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            raise BudgetUnusable(f"the budget cannot be kept in {self.path or 'memory'}: {said}") from error


_COLUMNS = "calls, input_tokens, output_tokens, frames, usd, unpriced"
_MORE = ", ".join(f"{name} = {name} + ?" for name in _COLUMNS.split(", "))


def _spend(calls: int, given: int, received: int, frames: int, usd: float, unpriced: int) -> Spend:
    return Spend(
        calls=calls,
        input_tokens=given,
        output_tokens=received,
        frames=frames,
        cost_usd=None if unpriced else usd,
    )


def _open(path: Path | None) -> sqlite3.Connection:
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


def _drop(books: sqlite3.Connection, reservation: Reservation) -> None:
    if reservation.id is not None:
        books.execute("DELETE FROM reservations WHERE id = ?", (reservation.id,))


def _give_back_of_dead(books: sqlite3.Connection) -> bool:
    """Remove what processes held that are no more; whether there was anything."""
    owners = [owner for (owner,) in books.execute("SELECT DISTINCT owner FROM reservations")]
    dead = [(owner,) for owner in owners if not _is_alive(owner)]
    books.executemany("DELETE FROM reservations WHERE owner = ?", dead)
    return bool(dead)


def _owner() -> str:
    """This process, told apart from a later one with the same number."""
    return f"{os.getpid()}/{_started(os.getpid())}"


def _is_alive(owner: str) -> bool:
    number, _, started = owner.partition("/")
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


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", "") if float(value).is_integer() else f"{value:.6g}"
