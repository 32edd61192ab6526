"""On whose behalf a thread works: what it uses is booked on the one that waits for it."""

import contextvars
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")

_CALLER: ContextVar[int | None] = ContextVar("caller", default=None)


def caller() -> int:
    """Identity of the thread that waits for this one's work; of this one when nobody does."""
    return _CALLER.get() or threading.get_ident()


def for_caller(work: Callable[[], Result]) -> Callable[[], Result]:
    """The same work, to be done by another thread on behalf of the present caller."""
    context, waiting = contextvars.copy_context(), caller()

    def run() -> Result:
        _CALLER.set(waiting)
        return work()

    return lambda: context.run(run)
