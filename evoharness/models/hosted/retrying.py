"""Which failed calls are made again, and after how long.

Busy, broken and silent servers are tried again, because a passing fault costs time and no result. What is
wrong with the request, the key or the model stays wrong, and is not.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from evoharness.errors import UserError
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.providers.waiting import asked_wait

__all__ = ["PASSING", "RetryPolicy", "asked_wait", "policy_of"]

PASSING = frozenset({Fault.BUSY, Fault.SERVER, Fault.TIMEOUT, Fault.DROPPED, Fault.NO_CONNECTION})
"""Faults that may be over at the next attempt."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently."""

    attempts: int = 6
    """Attempts in all."""
    first_wait_s: float = 1.0
    """About how long to wait after the first failure; twice as long after each further one."""
    longest_wait_s: float = 60.0
    """No wait of our own choosing is longer."""
    patience_s: float = 600.0
    """A server that asks to wait longer than this is not waited for."""
    strangers: int = 3
    """Attempts at an address where nobody has ever answered: more likely a mistake than a fault."""

    def wait(self, failure: CallFailed, attempt: int, known: bool, chance: random.Random) -> float | None:
        """Seconds until the next attempt, or None when there should be none.

        `attempt` counts the failed ones, from 1; `known`: somebody has answered at this address before.
        The wait that a server asks for is kept to, with a little on top, so that not all callers come back
        at the same moment; it is not counted as long.
        """
        if failure.fault not in PASSING:
            return None
        stranger = failure.fault is Fault.NO_CONNECTION and not known
        if attempt >= (min(self.strangers, self.attempts) if stranger else self.attempts):
            return None
        own = min(self.longest_wait_s, self.first_wait_s * 2.0 ** (attempt - 1))
        if stranger:
            return min(own, 0.5)
        if failure.retry_after_s is None:
            return own * (0.5 + 0.5 * chance.random())
        if failure.retry_after_s > self.patience_s:
            return None
        return failure.retry_after_s + min(own, 1.0) * chance.random()


def policy_of(values: Mapping[str, Any]) -> RetryPolicy:
    """A policy from some of its fields. UserError names what is none, or no number."""
    known = {field.name for field in fields(RetryPolicy)}
    for name, value in values.items():
        if name not in known:
            raise UserError(f"retries: there is no {name}; there are {', '.join(sorted(known))}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise UserError(f"retries.{name}={value}: a number is needed, and no negative one")
    return RetryPolicy(**values)
