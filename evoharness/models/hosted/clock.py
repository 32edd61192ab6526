"""Time, as far as waiting is concerned, so that tests need not wait."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def _since_boot() -> float:
    """Seconds since the machine was started, time asleep included: nobody sets this clock back or forth."""
    try:
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    except (AttributeError, OSError):  # not on Linux
        return time.monotonic()


@cache
def boot() -> str:
    """Tells apart the clocks of different machines, and those before and after a restart."""
    try:
        told = _BOOT_ID.read_text(encoding="ascii")
    except (OSError, ValueError):
        told = f"{round((time.time() - _since_boot()) / 600)}"  # about when it was started
    return hashlib.sha256(told.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Clock:
    """What the time is, and how to let some pass."""

    now: Callable[[], float] = _since_boot
    """Seconds, the same for all processes of this machine."""
    sleep: Callable[[float], None] = time.sleep
    """Waits that many seconds."""
    whose: Callable[[], str] = boot
    """Which clock it is: times of another one mean nothing here."""
