"""Calls for vectors, as those of other hosted models: within limits and a budget, over faults, and booked."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.models.backbone import Refused, Reply
from evoharness.models.budget import PriceUnknown
from evoharness.models.hosted.attempts import Attempts
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.completion import token_count
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.profiles import Profile
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.hosted.seats import Seat
from evoharness.models.settings import EmbedderTerms, Price
from evoharness.providers import Endpoint
from evoharness.records.spend import Spend

if TYPE_CHECKING:
    from evoharness.models.budget import Budget
    from evoharness.retrieval.embedders.calls import Served

EMBEDDER = "embedder"
"""The role that calls for vectors are booked for."""
BYTES_A_TOKEN, SHORT = 2, 64
"""No text has fewer bytes a token, except a short piece of one, where each byte may be one."""
TOKENS_AROUND = 8
"""What a model puts around each text, and a little more."""


class TooLong(Refused):
    """Fewer or shorter texts may do."""


class EmbeddingCalls:
    """Makes the calls of one embedder; may be used from many threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        terms: EmbedderTerms,
        *,
        budget: "Budget | None" = None,
        limits_dir: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`limits_dir`: where limits are shared with other processes; None: nowhere."""
        price = None if terms.price is None else Price(input=terms.price, output=0.0)
        self._clock = clock or Clock()
        self._seat = Seat(endpoint, Profile(), {}, price, terms.rates, limits_dir, self._clock)
        self._retries = RetryPolicy(terms.rates.attempts)
        self._timeout_s = terms.rates.timeout_s
        self._budget = budget

    def ask(self, call: "Callable[[float], Served]", texts: Sequence[str]) -> "Reply[Any]":
        """A reply whose output is what `call` gives for these texts.

        Raises a BackboneError, with what was paid before it: TooLong where fewer or shorter texts may do,
        CannotPay before a call that could pass a cap.
        """
        self._seat.secret()
        most = most_tokens(texts)
        attempts = Attempts(
            self._seat,
            retries=self._retries,
            timeout_s=self._timeout_s,
            budget=self._budget,
            clock=self._clock,
            request=hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest(),
        )
        try:
            served, spend = attempts.make(
                lambda: call(self._timeout_s),
                self._spend(most),
                lambda served: self._spend(token_count(served.tokens) or most),
                {},
            )
        except PriceUnknown as error:
            said = f"{error} (embedder.price=…, USD for a million tokens of {self._seat.model})"
            raise PriceUnknown(said).costing(error.spend) from None
        except CallFailed as failure:
            ended = attempts.ended(failure, "makes vectors")
            if failure.fault is Fault.TOO_LARGE:
                raise TooLong(str(ended)).costing(ended.spend) from None
            raise ended from None
        finally:
            attempts.close()
        return Reply(served, spend, wasted=attempts.spent.beyond(spend))

    def price(self, tokens: int) -> float | None:
        """The most USD that a call with so many tokens costs; None: its price is not known."""
        return self._seat.estimated_cost(tokens, 0)

    def _spend(self, tokens: int) -> Spend:
        return Spend(calls=1, input_tokens=tokens, cost_usd=self.price(tokens))


def most_tokens(texts: Sequence[str]) -> int:
    """The most tokens that a model may make of texts."""
    sizes = (len(text.encode()) for text in texts)
    return sum(min(size, size // BYTES_A_TOKEN + SHORT) + TOKENS_AROUND for size in sizes)
