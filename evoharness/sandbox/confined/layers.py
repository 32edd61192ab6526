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
    held = ["rlimits"] if limit(limits["cpu_seconds"], limits["memory_bytes"]) else []
    held += held_privileges(root)
    if kernel.landlock():
        held.append("landlock")
    if kernel.seccomp():
        held.append("seccomp")
    return held


def held_privileges(root: bool) -> list[str]:
    """Give up what this process may do beyond others, for good; the names of the layers that hold."""
    held = ["uid"] if root and drop_root() else []
    kernel.drop_capabilities()
    if kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1):
        held.append("no_new_privs")
    kernel.prctl(_PR_SET_DUMPABLE, 0)
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
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


def limit(cpu_seconds: int, memory_bytes: int, processes: bool = True) -> bool:
    """Limit what this process may use; whether every limit is in force. `processes`: none may be started."""
    wanted = {
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_NOFILE: (16, 16),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_STACK: (8 << 20, 8 << 20),
        **({resource.RLIMIT_NPROC: (0, 0)} if processes else {}),
    }
    in_force = True
    for kind, (soft, hard) in wanted.items():
        least = resource.getrlimit(kind)[1]
        if least != resource.RLIM_INFINITY:  # a lower limit that holds already
            soft, hard = min(soft, least), min(hard, least)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))
        in_force = in_force and resource.getrlimit(kind) == (soft, hard)
    return in_force


def drop_root() -> bool:
    try:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    except OSError:
        return False
    return True
