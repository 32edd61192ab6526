"""Operating-system layers around one run, each applied where the system has it.

The layers that were reached are a value; a run records it.
"""

import contextlib
import ctypes
import os
import resource
import signal
from typing import Any

NOBODY = 65534
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38


def confine(limits: dict[str, Any]) -> list[str]:
    """Confine this process for good, and return the names of the layers that hold."""
    layers = [_rlimits(limits)]
    if os.getuid() == 0 and _drop_root():
        layers.append("uid")
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1):
        layers.append("no_new_privs")
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return layers


def close_all_but(kept: int) -> None:
    """Close every inherited descriptor except the standard ones, which point at /dev/null, and `kept`."""
    os.closerange(3, kept)
    os.closerange(kept + 1, 1 << 10)


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


def _drop_root() -> bool:
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError:
        return False
    return True


def _prctl(option: int, value: int) -> bool:
    return _libc is not None and bool(_libc.prctl(option, value, 0, 0, 0) == 0)


def _open_libc() -> Any:
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc if hasattr(libc, "prctl") else None
    except OSError:
        return None


_libc = _open_libc()
