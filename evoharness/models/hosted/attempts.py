"""Calls other than completions: each within the limits and the budget, over passing faults, and booked."""

import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from evoharness.models.backbone import (
    BackboneError,
    BackboneUnavailable,
    MissingKey,
    Refused,
    UnknownModel,
    Unreachable,
)
from evoharness.models.budget import CannotPay
from evoharness.models.hosted.booking import Booking
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.deadline import within
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.faults_of import failed_call
from evoharness.models.hosted.retrying import PASSING, RetryPolicy
from evoharness.models.hosted.seats import Seat
from evoharness.records.spend import Spend

if TYPE_CHECKING:
    from evoharness.models.budget import Budget

Given = TypeVar("Given")
REFUSALS = (Fault.BLOCKED, Fault.TOO_LARGE, Fault.REQUEST, Fault.PARAMETER, Fault.OUTPUT)


class Attempts:
    """What one job for a seat takes; used once."""

    def __init__(
        self,
        seat: Seat,
        *,
        retries: RetryPolicy,
        timeout_s: float,
        budget: "Budget | None",
        clock: Clock,
        request: str,
    ) -> None:
        """`request`: identity of what is asked; the jitter comes from it as well."""
        self._seat = seat
        self._retries = retries
        self._timeout_s = timeout_s
        self._booking = Booking(budget)
        self._clock = clock
        self._request = request
        self._chance = random.Random(request)
        self._made = 0

    @property
    def spent(self) -> Spend:
        """What all attempts took so far; see `Booking.spent`."""
        return self._booking.spent

    def close(self) -> None:
        """The job has ended; to be called however it ended."""
        self._booking.close()

    def make(
        self,
        call: Callable[[], Given],
        estimate: Spend,
        spend_of: Callable[[Given], Spend],
        sent: Mapping[str, Any],
    ) -> tuple[Given, Spend]:
        """What the call gives, and what it took. Raises CallFailed, or CannotPay before an attempt.

        `estimate`: the most that one attempt may take. `sent`: the parameters, for reading a refusal.
        """
        seat = self._seat
        while True:
            self._made += 1
            try:
                given = self._once(call, estimate, spend_of, sent)
            except CallFailed as failed:
                failure = failed
            except CannotPay as error:
                raise error.costing(self.spent) from None
            else:
                seat.known = True
                return given
            seat.known = seat.known or failure.fault not in (Fault.NO_CONNECTION, Fault.TIMEOUT, Fault.MODEL)
            wait = self._retries.wait(failure, self._made, seat.known, self._chance)
            if wait is None:
                failure.attempts = self._made
                raise failure
            if failure.fault is Fault.BUSY and failure.retry_after_s is not None:
                seat.limiter.hold(failure.retry_after_s)
            self._clock.sleep(wait)

    def ended(self, failure: CallFailed, what: str) -> BackboneError:
        """The error that a job ends in when a call failed for good. `what`: what it does, as a verb."""
        seat, said = self._seat, str(failure)
        where = seat.endpoint.address or "its provider"
        error: BackboneError
        if failure.fault is Fault.KEY:
            names = " or ".join(seat.endpoint.key_variables) or "its provider's environment variable"
            error = MissingKey(f"{seat.model}: the key in {names} is not accepted: {said}")
        elif failure.fault is Fault.MODEL:
            error = UnknownModel(f"{seat.model}: {where} has no such model that {what}: {said}")
        elif failure.fault is Fault.QUOTA:
            error = CannotPay(f"{seat.model}: the account at {where} is out of credit or quota: {said}")
        elif failure.fault is Fault.NO_CONNECTION and not seat.known:
            error = Unreachable(f"{seat.model}: nothing answers at {where} ({said}): is the server running?")
        elif failure.fault in REFUSALS:
            error = Refused(f"{seat.model} refuses what it is asked for: {said}")
        else:
            tries = "1 attempt" if failure.attempts == 1 else f"{failure.attempts} attempts"
            error = BackboneUnavailable(f"{seat.model} at {where} gave no answer in {tries}: {said}")
            error.lasting = failure.fault not in PASSING
        return error.costing(self.spent)

    def _once(
        self,
        call: Callable[[], Given],
        estimate: Spend,
        spend_of: Callable[[Given], Spend],
        sent: Mapping[str, Any],
    ) -> tuple[Given, Spend]:
        with (
            self._booking.attempt(f"{self._seat.id} {self._request}", estimate) as attempt,
            self._seat.limiter.admit(estimate.tokens) as admission,
        ):
            try:
                attempt.sent()
                given = self._called(call, sent)
            except CallFailed as failure:
                attempt.failed(failure.served)
                raise
            else:
                spend = spend_of(given)
                attempt.took(spend, again=spend)
                return given, spend
            finally:
                admission.used(attempt.spend.tokens if attempt.spend is not None else 0)

    def _called(self, call: Callable[[], Given], sent: Mapping[str, Any]) -> Given:
        secret = self._seat.secret()
        try:
            return within(self._timeout_s, call)
        except Exception as error:
            failure = failed_call(error, sent, [secret], time.time())
        raise failure  # outside the handler: what litellm raised may hold a key, and goes no further
