"""Several jobs at the same time, in threads."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from evoharness.models.caller import for_caller

Result = TypeVar("Result")


class Lanes:
    """At most so many jobs at the same time, of all who share these lanes together.

    Threads end with the process, whatever they wait for: nobody is there any more who would want to know.
    A single lane is the caller's own thread.
    """

    def __init__(self, count: int = 1) -> None:
        """ValueError when there is not even one."""
        if count < 1:
            raise ValueError(f"{count} jobs at a time: at least 1 is needed")
        self.count = count
        self._free = threading.BoundedSemaphore(count)

    def submit(self, job: Callable[[], Result]) -> "Future[Result]":
        """Do the job as soon as a lane is free; what it uses of a backbone is booked on the caller."""
        future: Future[Result] = Future()
        if self.count == 1:
            _fulfil(future, job)
        else:
            work = for_caller(job)

            def drive() -> None:
                with self._free:
                    _fulfil(future, work)

            threading.Thread(target=drive, name="segment", daemon=True).start()
        return future


def _fulfil(future: "Future[Result]", job: Callable[[], Result]) -> None:
    try:
        future.set_result(job())
    except Exception as error:
        future.set_exception(error)
