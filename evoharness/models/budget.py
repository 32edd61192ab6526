"""Caps on what a run may use, held by all its threads and worker processes together.

A call is reserved at the most it can take before it is made, and settled at what it took afterwards. What is
reserved counts as used, so that no number of calls in flight passes a cap, as long as no call takes more than
was reserved for it. The books are one SQLite file of the run: going on with the run goes on with them.

A call whose reply was lost may have been served: it counts at the most that it may have taken until the same
request is answered, by whichever process, and then at what that answer took. One that is never answered stays
booked at the most, and the books tell which those are.
"""

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from evoharness.models import books as kept
from evoharness.models.backbone import CannotGoOn
from evoharness.models.books import State
from evoharness.records.base import Record
from evoharness.records.spend import Spend, added

BUDGET_FILE = "budget.sqlite"
"""Name of the file in the folder of a run."""
PATIENCE_S = 1800.0
"""How long a call waits for calls in flight to give back what they do not need."""
POLL_S = 0.1
ROUNDING_USD = 1e-9
"""What sums of prices may be off by."""
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
    """Room for one call; to be settled, lost or refunded exactly once."""

    id: int | None
    """None: nothing is capped, so there is nothing to hold."""
    estimate: Spend


@dataclass(frozen=True)
class Answers:
    """What a call shows of earlier attempts at the same request."""

    request: str
    """Identity of what was asked, and of whom."""
    took: Spend
    """What each of them took."""
    lost: tuple[int, ...] = ()
    """Those that the task itself lost, see `Budget.lose`; others that nobody minds are found in the books."""


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

    def sent(self, reservation: Reservation, request: str) -> Reservation:
        """The call is being made: if this process is killed before its end, it is lost. To be used on."""
        if self.path is None:
            return reservation
        with self._freed, self._books() as books:
            if reservation.id is None:
                number = kept.enter(books, State.SENT, _ROLE.get(), request, reservation.estimate)
                return replace(reservation, id=number)
            kept.change(books, reservation.id, State.SENT, _ROLE.get(), request)
        return reservation

    def settle(self, reservation: Reservation, spend: Spend, answers: Answers | None = None) -> None:
        """Book what the call took, and let go of the rest of what was reserved for it; see `paying_for`.

        `answers`: what lost calls are booked at from now on that asked the same.
        """
        with self._freed, self._books() as books:
            _drop(books, reservation)
            kept.book(books, _ROLE.get(), spend)
            if answers is not None:
                kept.resolve(books, answers.request, answers.took, answers.lost)
            self._freed.notify_all()

    def lose(self, reservation: Reservation, request: str) -> int:
        """The reply was lost: what was reserved counts as used until `request` is answered. Its number, by
        which the task that lost it settles it when it asks again, or leaves it; see `leave`."""
        with self._freed, self._books() as books:
            if reservation.id is None:
                return kept.enter(books, State.LOST, _ROLE.get(), request, reservation.estimate)
            kept.change(books, reservation.id, State.LOST, _ROLE.get(), request)
            self._freed.notify_all()
        return reservation.id

    def leave(self, lost: Iterable[int]) -> None:
        """The task that lost these calls has ended without an answer to them; another may get one."""
        with self._freed, self._books() as books:
            kept.disown(books, lost)

    def conclude(self) -> None:
        """Nothing is asked any more: what was lost stays booked at the most that it may have taken."""
        with self._freed, self._books() as books:
            kept.bury(books)
            kept.conclude(books)

    def refund(self, reservation: Reservation) -> None:
        """Let go of all that was reserved: the call was not made, or it took nothing."""
        if reservation.id is None:
            return
        with self._freed, self._books() as books:
            _drop(books, reservation)
            self._freed.notify_all()

    def begin(self, used: Spend | None = None) -> None:
        """Start, or go on: give back what killed processes held, and count at least `used` as used.

        Calls that they had sent are lost. For the one process that has the run open, before its workers.
        """
        with self._freed, self._books() as books:
            kept.bury(books, everybody=True)
            if used is not None:
                books.execute(
                    "UPDATE used SET calls = MAX(calls, ?), input_tokens = MAX(input_tokens, ?), "
                    "output_tokens = MAX(output_tokens, ?), frames = MAX(frames, ?), usd = MAX(usd, ?)",
                    (used.calls, used.input_tokens, used.output_tokens, used.frames, used.cost_usd or 0.0),
                )

    def used(self, lost: bool = True) -> Spend:
        """Everything settled so far; with `lost`, what lost calls may have taken as well."""
        with self._freed, self._books() as books:
            kept.bury(books)
            return sum(kept.lost(books).values() if lost else (), kept.used(books))

    def used_by_role(self, lost: bool = True) -> dict[str, Spend]:
        """The same, of each role; calls for which none was named are in `used` alone."""
        with self._freed, self._books() as books:
            kept.bury(books)
            settled = kept.used_by_role(books)
            return added(settled, _named(kept.lost(books))) if lost else added(settled, {})

    def lost(self) -> Spend:
        """Calls whose replies were lost and that were never answered since, at the most that they took."""
        with self._freed, self._books() as books:
            kept.bury(books)
            return sum(kept.lost(books).values(), Spend())

    def in_flight(self) -> int:
        """How many reservations are held."""
        with self._freed, self._books() as books:
            return kept.in_flight(books)

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
            if refusal is not None and in_flight and kept.bury(books):
                refusal, in_flight = self._refusal(books, estimate)
            if refusal is not None:
                return None, refusal, in_flight
            return kept.enter(books, State.RESERVED, _ROLE.get(), "", estimate), None, False

    def _refusal(self, books: sqlite3.Connection, estimate: Spend) -> tuple[BudgetExceeded | None, bool]:
        """Why a call does not fit (None: it does), and whether it would once nothing is in flight."""
        used, held = kept.taken(books), kept.sums(books, kept.HELD)
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
                self._connection = kept.opened(self.path)
            connection = self._connection
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
        except (sqlite3.Error, OSError) as error:
            said = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            raise BudgetUnusable(f"the budget cannot be kept in {self.path or 'memory'}: {said}") from error


def _drop(books: sqlite3.Connection, reservation: Reservation) -> None:
    if reservation.id is not None:
        kept.drop(books, reservation.id)


def _named(by_role: dict[str | None, Spend]) -> dict[str, Spend]:
    return {role: spend for role, spend in by_role.items() if role is not None}


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", "") if float(value).is_integer() else f"{value:.6g}"
