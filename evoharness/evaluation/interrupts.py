"""Ctrl-C while jobs are running: what is in flight is finished, then `Interrupted` is raised.

The first Ctrl-C only sets a flag, so that it does no harm wherever it strikes, in the loop that hands
out jobs or in the code that consumes their results. The second one is an ordinary KeyboardInterrupt.
Outside the main thread signals cannot be caught, and nothing changes.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class Interrupted(KeyboardInterrupt):
    """The user asked to stop; every job that had begun was finished and its result handed over."""


class Interruptible:
    """While inside, Ctrl-C sets `asked` instead of raising."""

    def __init__(self) -> None:
        self.asked = False
        self._before: signal._HANDLER = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, signum: int, frame: FrameType | None) -> None:
        if self.asked:
            signal.default_int_handler(signum, frame)
        self.asked = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
