"""Watches the memory of a run where the system does not limit it.

Linux limits the address space of a process by itself; some systems accept that limit and ignore it. There
the fork server says so, and each run is polled from outside.
"""

import contextlib
import os
import signal
import subprocess
import threading
from pathlib import Path
from types import TracebackType

POLL_SECONDS = 0.05


class MemoryWatch:
    """Kills a process that grows beyond a number of resident bytes, while the block runs."""

    def __init__(self, pid: int, most_bytes: int, needed: bool) -> None:
        self._pid = pid
        self._most_bytes = most_bytes
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True) if needed else None
        self.exceeded = False
        """Whether it was killed."""

    def __enter__(self) -> "MemoryWatch":
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _poll(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            if resident_bytes(self._pid) > self._most_bytes:
                self.exceeded = True
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(self._pid, signal.SIGKILL)
                return


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 when it has ended or cannot be asked."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        told = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        )
        return int(told.stdout) * 1024
    return 0
