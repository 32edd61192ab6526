"""The calls that one task takes: each within the limits and the budget, over passing faults, and booked."""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evoharness.models.hosted.booking import Booking
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.completion import Completion, Request, complete
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.messages import Message
from evoharness.models.hosted.pictures import Encoder
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.hosted.seats import Seat
from evoharness.records.frame import Frame
from evoharness.records.spend import Spend

if TYPE_CHECKING:
    from evoharness.models.budget import Budget


@dataclass(frozen=True)
class Means:
    """What asking needs beside the seat."""

    encoder: Encoder
    retries: RetryPolicy
    clock: Clock
    timeout_s: float
    budget: "Budget | None"


@dataclass(frozen=True)
class Called:
    """A completion, and what its call took."""

    completion: Completion
    spend: Spend


class Calls:
    """Makes calls, and knows what they took together; for one task."""

    def __init__(self, seat: Seat, means: Means) -> None:
        self._seat = seat
        self._means = means
        self.booking = Booking(means.budget)
        """What they took so far."""
        self.notes: list[str] = []
        self.chance = random.Random(0)
        """Where the jitter comes from."""

    def make(
        self,
        messages: Sequence[Message],
        shown: Sequence[Frame],
        parameters: Mapping[str, Any],
        estimate: Spend,
    ) -> Called:
        """One completion, over passing faults. Raises CallFailed, or CannotPay before an attempt.

        `shown`: the frames whose pictures are in the messages. `estimate`: the most that one attempt may
        take, its price aside.
        """
        seat, means = self._seat, self._means
        request = Request(
            seat.model,
            messages,
            parameters,
            seat.endpoint.base,
            means.timeout_s,
            seat.secret(),
            seat.asks_price,
        )
        asked = _identity(request, shown)
        attempt = 0
        while True:
            attempt += 1
            try:
                called = self._attempt(request, asked, estimate)
            except CallFailed as failed:
                failure = failed
            else:
                seat.known = True
                return called
            seat.known = seat.known or failure.fault not in (Fault.NO_CONNECTION, Fault.TIMEOUT, Fault.MODEL)
            wait = means.retries.wait(failure, attempt, seat.known, self.chance)
            if wait is None:
                failure.attempts = attempt
                raise failure
            if failure.fault is Fault.BUSY and failure.retry_after_s is not None:
                seat.limiter.hold(failure.retry_after_s)
            means.clock.sleep(wait)

    def _attempt(self, request: Request, asked: str, estimate: Spend) -> Called:
        with (
            self.booking.attempt(asked, self._priced(estimate)) as attempt,
            self._seat.limiter.admit(estimate.tokens) as admission,
        ):
            try:
                attempt.sent()
                completion = complete(request)
            except CallFailed as failure:
                attempt.failed(failure.served)
                raise
            else:
                spend = self._spend_of(completion, estimate)
                attempt.took(spend, self._again(completion, spend))
                return Called(completion, spend)
            finally:
                admission.used(attempt.spend.tokens if attempt.spend is not None else 0)

    def _again(self, completion: Completion, spend: Spend) -> Spend | None:
        """What an attempt took whose reply was lost, seen by one at the same request that came; None: it says
        nothing, and so does not tell how much the other said.

        What the provider had kept of the request when it came again was new to it before.
        """
        if not completion.text.strip() and not completion.refusal:
            return None
        cost = self._seat.estimated_cost(spend.input_tokens, spend.output_tokens)
        return spend if cost is None else spend.model_copy(update={"cost_usd": cost})

    def _priced(self, estimate: Spend) -> Spend:
        cost = self._seat.estimated_cost(estimate.input_tokens, estimate.output_tokens)
        return estimate.model_copy(update={"cost_usd": cost})

    def _spend_of(self, completion: Completion, estimate: Spend) -> Spend:
        """What a call took: as the server says, or the most it may have taken where that cannot be true."""
        given, received, told = completion.input_tokens, completion.output_tokens, completion.cost_usd
        if not given or received is None or (not received and completion.text.strip()):
            self.notes.append(
                f"{self._seat.model} does not say what a call took: the most that it may take is booked"
            )
            given = given or estimate.input_tokens
            received = received or estimate.output_tokens
            told = None
        cost = self._seat.cost(given, received, told)
        if cost is None:
            cost = self._seat.estimated_cost(given, received)
        return Spend(
            calls=1, input_tokens=given, output_tokens=received, frames=estimate.frames, cost_usd=cost
        )


def _identity(request: Request, shown: Sequence[Frame]) -> str:
    """Of what is asked, and of whom; pictures are known by their frames."""
    digest = hashlib.sha256(f"{request.model} {request.api_base}".encode())
    digest.update(json.dumps(request.parameters, sort_keys=True, default=str).encode())
    for message in request.messages:
        content = message["content"]
        parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        for part in (message["role"], *parts):
            digest.update(b"\0" + part.encode("utf-8", "surrogatepass"))
    for frame in shown:
        digest.update(f"\0{frame.key}".encode())
    return digest.hexdigest()
