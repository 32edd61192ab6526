"""The second process of a run in monty: confines itself like any other, then becomes monty's interpreter.

After a process has become another program it cannot confine itself further, so the filter of system calls
must let that program start: its own file and its libraries can be read and mapped as code, and nothing
else can. It may start threads, which it does once, and no process: that is left to the filter, because the
system's limit of processes counts threads as well, those of every run of the same user. Where the system
has no seccomp, nothing keeps it from starting processes.

The layers outlive the start of the program, except that the user who runs it may look at it again; the
core that could hold its memory is limited to nothing, and no other run can trace it.
"""

import os
import platform
import socket
import struct
import sys
from typing import Any, NoReturn

from . import framing, kernel, layers

OWN_BYTES = 192 << 20
"""Address space of the interpreter itself: its program, its stacks, its allocator."""
_CACHE = "/etc/ld.so.cache"

_STARTING = "execveat pread64 fstat arch_prctl set_tid_address set_robust_list rseq sched_getaffinity gettid"
"""What starting a program needs, beside what running one does."""
_HELD = {
    "x86_64": "clone 56 execveat 322 pread64 17 arch_prctl 158 set_tid_address 218 set_robust_list 273 "
    "rseq 334 prlimit64 302 sched_getaffinity 204 gettid 186 clone3 435 tgkill 234 prctl 157",
    "aarch64": "clone 220 execveat 281 pread64 67 set_tid_address 96 set_robust_list 99 rseq 293 "
    "prlimit64 261 sched_getaffinity 123 gettid 178 clone3 435 tgkill 131 prctl 167",
}
_MMAP = {"x86_64": 9, "aarch64": 222}
_OPENAT = {"x86_64": 257, "aarch64": 56}
_NOT_READING = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | getattr(os, "O_PATH", 0)
_NEWFSTATAT = {"x86_64": 262, "aarch64": 79}


def companion(connection: socket.socket, limits: Any, root: bool) -> NoReturn:
    """Become `monty subprocess`, talking over the socket.

    The server's arguments name its file and its libraries.
    """
    binary, *libraries = sys.argv[2:]
    program = os.open(binary, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    limited = layers.limit(limits["cpu_seconds"], limits["memory_bytes"] + OWN_BYTES, processes=False)
    held = ["rlimits"] if limited else []
    held += layers.held_privileges(root)
    readable = [path for path in (*libraries, _CACHE) if os.path.exists(path)]  # noqa: PTH110
    if kernel.landlock([f"/proc/self/fd/{program}", *readable]):
        held.append("landlock")
    if kernel.seccomp(_filter):
        held.append("seccomp")
    framing.send(connection, held)
    os.execve(program if os.execve in os.supports_fd else binary, ["monty", "subprocess"], {})


def _compiled() -> bytes | None:
    """The filter of `kernel`, with what starting a program needs in front of it."""
    machine = platform.machine()
    common = kernel.compiled(_STARTING, "mprotect", _HELD.get(machine, ""))
    if common is None:
        return None
    words = _HELD[machine].split()
    number = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    load, equal, masked, end = 0x20, 0x15, 0x45, 0x06
    allow, refused, unknown = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38
    first, third, fourth = 16, 32, 40
    code = [
        (equal, 0, 7, _MMAP[machine]),  # code comes from files, and cannot be written
        (load, 0, 0, third),
        (masked, 0, 3, 4),
        (masked, 3, 0, 2),
        (load, 0, 0, fourth),
        (masked, 1, 0, 0x20),
        (end, 0, 0, allow),
        (end, 0, 0, refused),
        (equal, 0, 4, number["clone"]),  # threads
        (load, 0, 0, first),
        (masked, 1, 0, 0x10000),
        (end, 0, 0, refused),
        (end, 0, 0, allow),
        (equal, 0, 1, number["clone3"]),  # has its flags in memory; libraries then use clone
        (end, 0, 0, unknown),
        (equal, 0, 4, _OPENAT[machine]),  # reading
        (load, 0, 0, third),
        (masked, 1, 0, _NOT_READING),
        (end, 0, 0, allow),
        (end, 0, 0, refused),
        (equal, 0, 4, _NEWFSTATAT[machine]),  # open files; a path beside the flag cannot be seen here
        (load, 0, 0, fourth),
        (masked, 1, 0, 0x1000),
        (end, 0, 0, refused),
        (end, 0, 0, allow),
        (equal, 0, 6, number["prlimit64"]),  # asking, not setting
        (load, 0, 0, third),
        (equal, 0, 3, 0),
        (load, 0, 0, third + 4),
        (equal, 0, 1, 0),
        (end, 0, 0, allow),
        (end, 0, 0, refused),
        (equal, 1, 0, number["tgkill"]),
        (equal, 0, 1, number["prctl"]),
        (end, 0, 0, refused),
    ]
    ours = b"".join(struct.pack("=HBBI", *line) for line in code)
    start = 6 * 8  # after the check of the machine and the load of the number
    return common[:start] + ours + common[start:]


_filter = _compiled()
