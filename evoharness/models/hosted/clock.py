"""Time, as far as waiting is concerned, so that tests need not wait."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """What the time is, and how to let some pass."""

    now: Callable[[], float] = time.time
    """Seconds, the same for all processes of this machine."""
    sleep: Callable[[float], None] = time.sleep
    """Waits that many seconds."""
