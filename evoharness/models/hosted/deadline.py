"""An end for a call that its own timeouts do not end.

Timeouts of a connection count from one sign of life to the next: a server that sends a blank now and then
keeps a call open for good. The call is made in a thread that is left behind when its time is up.
"""

import contextvars
import ctypes
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
SHARE, GRACE_S = 1.05, 0.5
"""How much later than the timeouts of the connection the deadline comes: they end a call more gently."""


class LeftBehind(SystemExit):
    """Raised in the thread of a call that nobody waits for any more, to close its connection."""


def within(timeout_s: float, call: Callable[[], Result]) -> Result:
    """What the call gives, or raises; TimeoutError when it takes much longer than `timeout_s`."""
    ended = threading.Event()
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    thread = threading.Thread(
        target=contextvars.copy_context().run, args=(run,), name="call of a model", daemon=True
    )
    thread.start()
    in_time = False
    try:
        in_time = ended.wait(timeout_s * SHARE + GRACE_S)
    finally:
        if not in_time:
            _leave(thread)
    if not in_time:
        raise TimeoutError(f"no end within {timeout_s:g} s")
    if errors:
        raise errors.pop()
    return results.pop()


def _leave(thread: threading.Thread) -> None:
    """Have the thread end at its next step in Python, as when the next byte arrives."""
    raise_in: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(LeftBehind))
