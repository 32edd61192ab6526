"""What the attempts of one task took, as it is booked.

Every attempt is reserved and settled by itself. One whose reply was lost (too late, broken off, unreadable)
may have been served and paid for: it is booked at the most that it may have taken. When the same request is
answered later it is booked at what the answer took: the tokens given are the same, and those received are the
best guess there is. One that is never answered stays booked at the most.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evoharness.records.spend import Spend

if TYPE_CHECKING:
    from evoharness.models.budget import Budget, Reservation


@dataclass
class Attempt:
    """One call, about to be made; says how it went."""

    _booking: "Booking"
    _reservation: "Reservation | None"
    _most: Spend
    request: str
    """Identity of what is asked, and of whom."""
    _is_sent: bool = False
    _is_lost: bool = False
    spend: Spend | None = None
    """What it took, or may have taken at the most; None: nothing, or not known yet."""
    again: Spend | None = None
    """What lost attempts took that asked the same; None: this one does not tell."""

    def sent(self) -> None:
        """The call is being made: unless it is said how it went, its reply is lost."""
        budget = self._booking.budget
        if budget is not None and self._reservation is not None:
            self._reservation = budget.sent(self._reservation, self.request)
        self._is_sent = True

    def took(self, spend: Spend, again: Spend | None = None) -> None:
        """It came back. `again`: what earlier attempts took whose replies were lost, if this one tells."""
        self._is_sent, self.spend, self.again = False, spend, again

    def failed(self, served: bool) -> None:
        """It did not; `served`: it may have been paid for all the same."""
        self._is_sent, self._is_lost = False, served
        self.spend = self._most if served else None


@dataclass
class Booking:
    """Books attempts; for one task, in one thread."""

    budget: "Budget | None"
    heard: Spend = field(default_factory=Spend)
    """What attempts took that came back, those included that gave nothing to read."""
    _corrected: Spend = field(default_factory=Spend)
    _lost: dict[str, list[Spend]] = field(default_factory=dict)
    _numbers: dict[str, list[int]] = field(default_factory=dict)

    @property
    def unheard(self) -> Spend:
        """What attempts took whose replies were lost.

        Those that were never answered are left to the books of a run, where it keeps some: they may be
        corrected there.
        """
        if self.budget is not None and self.budget.path is not None:
            return self._corrected
        return sum((spend for lost in self._lost.values() for spend in lost), self._corrected)

    @property
    def spent(self) -> Spend:
        """What all attempts took so far, see `unheard`."""
        return self.heard + self.unheard

    @contextmanager
    def attempt(self, request: str, most: Spend) -> Iterator[Attempt]:
        """A call that takes `most` at the most; booked at the end of the block. CannotPay before it."""
        budget = self.budget
        reservation = budget.reserve(most) if budget is not None else None
        attempt = Attempt(self, reservation, most, request)
        try:
            yield attempt
        except BaseException:
            if attempt._is_sent:  # interrupted: whoever answers goes on answering
                attempt.failed(served=True)
            raise
        finally:
            self._book(attempt)

    def close(self) -> None:
        """The task has ended: what it lost may be corrected by whoever gets an answer to it."""
        numbers = [number for lost in self._numbers.values() for number in lost]
        if self.budget is not None and numbers:
            self.budget.leave(numbers)

    def _book(self, attempt: Attempt) -> None:
        from evoharness.models.budget import Answers

        budget, reservation, request = self.budget, attempt._reservation, attempt.request
        answers = None
        if attempt._is_lost:
            self._lost.setdefault(request, []).append(attempt._most)
        elif attempt.spend is not None:
            self.heard += attempt.spend
            if attempt.again is not None:
                for _ in self._lost.pop(request, ()):
                    self._corrected += attempt.again
                answers = Answers(request, attempt.again, tuple(self._numbers.pop(request, ())))
        if budget is None or reservation is None:
            return
        if attempt._is_lost:
            self._numbers.setdefault(request, []).append(budget.lose(reservation, request))
        elif attempt.spend is not None:
            budget.settle(reservation, attempt.spend, answers)
        else:
            budget.refund(reservation)
