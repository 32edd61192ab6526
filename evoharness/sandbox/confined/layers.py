"""Operating-system layers around one run, each applied where the system has it.

The layers that were reached are a value; a run records it. Namespaces are left once by the fork server,
because making them is slow, and its children inherit them; everything else is done by each child, last of
all the filter of system calls.
"""

import contextlib
import mmap
import os
import resource
import signal
from typing import Any

from . import kernel

NOBODY = 65534
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38


def confine(limits: dict[str, Any], root: bool) -> list[str]:
    """Confine this process for good, and return the names of the layers that hold.

    `root`: whether the fork server was started by the superuser.
    """
    held = ["uid"] if root and drop_root() else []
    kernel.drop_capabilities()
    if kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1):
        held.append("no_new_privs")
    kernel.prctl(_PR_SET_DUMPABLE, 0)
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if kernel.landlock():
        held.append("landlock")
    held.insert(0, _rlimits(limits))
    if kernel.seccomp():
        held.append("seccomp")
    return held


def memory_is_limited(limits: dict[str, Any]) -> bool:
    """Whether this confined process is refused more memory than its limit; some systems only promise it."""
    try:
        mmap.mmap(-1, int(limits["memory_bytes"]) + 1).close()
    except (OSError, MemoryError):
        return True
    return False


def close_all_but(*kept: int) -> None:
    """Close every inherited descriptor except `kept` and the standard ones, which point at /dev/null."""
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, first + (1 << 10))


def _rlimits(limits: dict[str, Any]) -> str:
    seconds, memory = int(limits["cpu_seconds"]), int(limits["memory_bytes"])
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_NOFILE, 16, 16),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_STACK, 8 << 20, 8 << 20),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower limit holds already
            resource.setrlimit(kind, (soft, hard))
    return "rlimits"


def drop_root() -> bool:
    try:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    except OSError:
        return False
    return True
