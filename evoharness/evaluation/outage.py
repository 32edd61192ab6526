"""A provider that answers nobody is waited for; one that will not answer at all ends the work.

A call that fails while others come back is its own affair: the provider stumbles over just this one. When
none comes back, everybody waits, one call at a time is tried, and all go on as soon as one comes back. Only
after `patience_s` is it given up: the provider, when different calls failed, and else the call.
"""

import threading
import time
from collections.abc import Callable, Hashable

from evoharness.errors import UserError
from evoharness.models.backbone import (
    BackboneUnavailable,
    CannotGoOn,
    Refused,
    Reply,
    Unparsed,
    Unreachable,
)
from evoharness.models.caller import caller
from evoharness.models.task import Output

MANY = 3
"""Different calls that failed in a row: from here on it is not about the calls."""
MANY_LASTING = 8
"""The same, of calls that are turned down for good: a few of them may well come in a row."""
TRIES = 2
"""How often a call is made that fails while others come back."""
CONFIRM_S = 3.0
"""How long a call that failed waits to hear how others fare."""
LONGEST_PAUSE_S = 30.0
WAITING = "waiting for it"
WELL = "the provider answers again"


class ProviderLost(CannotGoOn):
    """A provider that answered nobody for as long as it was waited for, or that turns everybody away."""


class Watch:
    """What the threads of a process know of the provider together."""

    def __init__(self, patience_s: float | None, note: Callable[[str], None]) -> None:
        """`patience_s`: how long to wait in all; None: a call that fails is nobody else's concern."""
        self._patience_s = patience_s
        self._note = note
        self._changed = threading.Condition()
        self._failing: set[Hashable] = set()
        self._turned_down: set[Hashable] = set()
        self._given_up: set[Hashable] = set()
        self._given_up_in_a_row: set[Hashable] = set()
        self._since = 0.0
        self._successes = 0
        self._out = False
        self._prober: int | None = None
        self._pause_s = 1.0
        self._lost: ProviderLost | None = None
        self._waited: dict[int, float] = {}

    def run(self, call: Callable[[], Reply[Output]], key: Callable[[], Hashable]) -> Reply[Output]:
        """What `call` returns. Raises ProviderLost, and whatever the call raises when it is alone with that.

        `key` tells different calls apart.
        """
        tries, seen = 0, 0
        while True:
            if self._lost is not None:
                raise _again(self._lost)
            try:
                reply = call()
            except BackboneUnavailable as error:
                if isinstance(error, UserError) and not isinstance(error, Unreachable):
                    raise self._lose(str(error)) from error
                if self._patience_s is None:
                    raise
                tries, seen = tries + 1, seen if tries else self._successes
                began = time.monotonic()
                try:
                    self._failed(error, key(), tries, seen, self._patience_s)
                finally:
                    with self._changed:
                        self._waited[caller()] = self.waited_s + time.monotonic() - began
            except (Refused, Unparsed) as error:
                if not error.cached:  # it did answer
                    self._succeeded()
                raise
            else:
                if not reply.cached:
                    self._succeeded()
                return reply
            finally:
                if self._prober == threading.get_ident() and not self._out:
                    self._prober = None

    @property
    def waited_s(self) -> float:
        """How long this thread has waited so far, and those that work for it."""
        return self._waited.get(caller(), 0.0)

    def _succeeded(self) -> None:
        if self._patience_s is None:
            return
        with self._changed:
            self._successes += 1
            self._failing.clear()
            self._turned_down.clear()
            self._given_up_in_a_row.clear()
            if self._out:
                self._out, self._prober, self._pause_s = False, None, 1.0
                self._note(WELL)
            self._changed.notify_all()

    def _failed(
        self, error: BackboneUnavailable, key: Hashable, tries: int, seen: int, patience_s: float
    ) -> None:
        """Return when the call is to be made again. Raises `error` when it is not, and ProviderLost.

        `seen`: how many calls had come back when this one failed first.
        """
        with self._changed:
            if self._prober == threading.get_ident():
                self._prober = None
            if error.lasting:
                self._turned_down.add(key)
                if len(self._turned_down) >= MANY_LASTING:
                    raise self._lose(f"{len(self._turned_down)} calls in a row were turned down: {error}")
                raise error
            if not self._failing:
                self._since = time.monotonic()
            self._failing.add(key)
            if len(self._failing) >= MANY or isinstance(error, Unreachable):
                self._declare(error, patience_s)
            self._changed.wait_for(
                lambda: self._out or self._lost or self._successes != seen, min(CONFIRM_S, patience_s)
            )
            others_fare_well = self._successes != seen
            if not self._out and self._lost is None and (others_fare_well or key in self._given_up):
                if tries >= TRIES or key in self._given_up:
                    error.lasting = others_fare_well
                    raise error
                return
            self._declare(error, patience_s)
            self._wait(error, key, patience_s)

    def _declare(self, error: BackboneUnavailable, patience_s: float) -> None:
        if not self._out:
            self._out = True
            self._note(f"{error}: {WAITING}, for {patience_s:g} s at most (executor.outage_s= sets how long)")
        self._changed.notify_all()

    def _wait(self, error: BackboneUnavailable, key: Hashable, patience_s: float) -> None:
        """Until it is this thread's turn to try, or the provider answers others again."""
        while self._out:
            left = self._since + patience_s - time.monotonic()
            if self._lost is not None or left <= 0:
                waited = time.monotonic() - self._since
                alone = len(self._failing) < MANY and not self._given_up_in_a_row - {key}
                if self._lost is None and alone and not isinstance(error, Unreachable):
                    self._given_up.add(key)
                    self._given_up_in_a_row.add(key)
                    self._failing.discard(key)
                    self._out = bool(self._failing)
                    self._changed.notify_all()
                    raise error
                raise self._lose(f"{error}; it was waited for {waited:.0f} s") from error
            if self._prober is None:
                self._prober = threading.get_ident()
                pause = min(self._pause_s, left, max(0.05, patience_s / 10))
                self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s)
                self._changed.wait_for(lambda: not self._out or self._lost, pause)
                if self._lost is None:
                    return
            else:
                self._changed.wait(min(left, LONGEST_PAUSE_S))

    def _lose(self, message: str) -> ProviderLost:
        with self._changed:
            if self._lost is None:
                self._lost = ProviderLost(message)
            self._changed.notify_all()
            return _again(self._lost)


def _again(lost: ProviderLost) -> ProviderLost:
    """The same error for another thread."""
    return ProviderLost(*lost.args)
