"""An end for a call that its own timeouts do not end.

Timeouts of a connection count from one sign of life to the next: a server that sends a blank now and then
keeps a call open for good. The call is made in a thread that is left behind when its time is up. Threads are
kept for the next call: making one, with what a client keeps in each thread, costs as much as a small reply.
"""

import contextvars
import ctypes
import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")
SHARE, GRACE_S = 1.05, 0.5
"""How much later than the timeouts of the connection the deadline comes: they end a call more gently."""
MOST_IDLE = 64
"""So many threads wait for calls at most; those beyond end with their call."""


class LeftBehind(SystemExit):
    """Raised in the thread of a call that nobody waits for any more, to close its connection."""


def within(timeout_s: float, call: Callable[[], Result]) -> Result:
    """What the call gives, or raises; TimeoutError when it takes much longer than `timeout_s`."""
    job = _Job(call)
    try:
        caller = _IDLE.pop()  # the last one used: what it needs is still at hand
    except IndexError:
        caller = _Caller()
    caller.jobs.put(job)
    ended = False
    try:
        job.ended.get(timeout=timeout_s * SHARE + GRACE_S)
        ended = True
    except Empty:
        raise TimeoutError(f"no end within {timeout_s:g} s") from None
    finally:
        if not ended:
            caller.leave(job)
    return job.result()


class _Job(Generic[Result]):
    """A call, and what came of it."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        self._context = contextvars.copy_context()
        self._results: list[Result] = []
        self._error: BaseException | None = None
        self.left = False
        """Nobody waits for it any more."""
        self.ended: SimpleQueue[None] = SimpleQueue()

    def run(self) -> None:
        """Make the call, in the context of who asked for it."""
        try:
            self._results.append(self._context.run(self._call))
        except BaseException as error:
            self._error = error

    def result(self) -> Result:
        """Of a call that has ended."""
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # else it and this frame would keep each other
        return self._results.pop()


class _Caller:
    """A thread that makes one call after another."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[_Job[Any]] = SimpleQueue()
        self._now = threading.Lock()
        self._at: _Job[Any] | None = None
        self._thread = threading.Thread(target=self._run, name="calls of models", daemon=True)
        self._thread.start()

    def leave(self, job: _Job[Any]) -> None:
        """Have the thread end at its next step in Python, as when the next byte arrives, if it is still at
        that job."""
        raise_in: Any = ctypes.pythonapi.PyThreadState_SetAsyncExc
        with self._now:
            job.left = True
            if self._at is job:
                raise_in(ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(LeftBehind))

    def _run(self) -> None:
        while True:
            job = self.jobs.get()
            with self._now:
                self._at = job
            if not job.left:
                job.run()
            with self._now:  # left behind until here, not from here on
                self._at = None
            keep = len(_IDLE) < MOST_IDLE
            if keep:
                _IDLE.append(self)
            job.ended.put(None)
            del job  # what it holds is not kept until the next one
            if not keep:
                return


_IDLE: list[_Caller] = []
os.register_at_fork(after_in_child=_IDLE.clear)  # threads stay behind in the parent
