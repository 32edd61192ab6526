"""Linux confinement by raw system calls: namespaces, capabilities, Landlock, seccomp.

Each function says whether the layer holds now; where the system lacks it the answer is False, found out by
trying, not by the name of the platform. Nothing here can be undone by the process that called it.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Sequence
from typing import Any

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_NEWUTS, _NEWIPC, _NEWUSER, _NEWNET = 0x04000000, 0x08000000, 0x10000000, 0x40000000
_LANDLOCK_CREATE, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT = 444, 445, 446
_PATH_BENEATH, _EXECUTE, _READ_FILE, _READ_DIR = 1, 1, 4, 8
_CAPABILITY_VERSION = 0x20080522
_EPERM = 1
_PROT_EXEC = 4

_ALLOWED = (
    "read write close recvfrom sendto recvmsg sendmsg poll ppoll munmap mremap brk madvise futex "
    "rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall sched_yield getpid getrandom "
    "clock_gettime gettimeofday getrusage exit exit_group"
)
"""What running Python needs once everything is imported and the socket is open."""
_NO_EXEC = "mmap mprotect"
"""Allowed without PROT_EXEC, else EPERM."""
_REFUSED = (
    "open openat openat2 stat lstat fstat newfstatat statx access faccessat readlink getcwd lseek ioctl fcntl"
)
"""EPERM: Python asks for these in passing and copes; every other call kills."""

_NUMBERS = {
    "x86_64": (
        0xC000003E,
        "read 0 write 1 open 2 close 3 stat 4 fstat 5 lstat 6 poll 7 lseek 8 mmap 9 mprotect 10 munmap 11 "
        "brk 12 rt_sigaction 13 rt_sigprocmask 14 rt_sigreturn 15 ioctl 16 access 21 sched_yield 24 "
        "mremap 25 madvise 28 getpid 39 sendto 44 recvfrom 45 sendmsg 46 recvmsg 47 exit 60 fcntl 72 "
        "getcwd 79 readlink 89 gettimeofday 96 getrusage 98 sigaltstack 131 futex 202 restart_syscall 219 "
        "clock_gettime 228 exit_group 231 openat 257 newfstatat 262 faccessat 269 ppoll 271 getrandom 318 "
        "statx 332 openat2 437",
    ),
    "aarch64": (
        0xC00000B7,
        "getcwd 17 fcntl 25 ioctl 29 faccessat 48 openat 56 close 57 lseek 62 read 63 write 64 ppoll 73 "
        "newfstatat 79 fstat 80 exit 93 exit_group 94 futex 98 clock_gettime 113 sched_yield 124 "
        "restart_syscall 128 sigaltstack 132 rt_sigaction 134 rt_sigprocmask 135 rt_sigreturn 139 "
        "getrusage 165 gettimeofday 169 getpid 172 sendto 206 recvfrom 207 sendmsg 211 recvmsg 212 brk 214 "
        "munmap 215 mremap 216 mmap 222 mprotect 226 madvise 233 getrandom 278 statx 291 openat2 437",
    ),
}


def unshare() -> bool:
    """Leave the network, IPC and host name of the system; an ordinary user needs a user namespace for it."""
    flags = _NEWNET | _NEWIPC | _NEWUTS | (0 if os.getuid() == 0 else _NEWUSER)
    return _libc is not None and _libc.unshare(flags) == 0


def drop_capabilities() -> bool:
    """Give up every capability, those inside a user namespace included."""
    header = struct.pack("=II", _CAPABILITY_VERSION, 0)
    return _libc is not None and _libc.capset(header, bytes(24)) == 0


def landlock(readable: Sequence[str] = ()) -> bool:
    """No file, no TCP port, no abstract socket and no signal beyond this process. Needs no_new_privs.

    `readable`: files and folders that may be read and executed after all.
    """
    if _libc is None:
        return False
    version = _libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    files = 0x1FFF | (0x2000 if version >= 2 else 0) | (0x4000 if version >= 3 else 0)
    files |= 0x8000 if version >= 5 else 0
    handled = struct.pack("=QQQ", files, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _libc.syscall(_LANDLOCK_CREATE, handled, ctypes.c_size_t(len(handled)), ctypes.c_uint32(0))
    if rules < 0:
        return False
    for path in readable:
        _allow_reading(rules, path)
    held = _libc.syscall(_LANDLOCK_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0)) == 0
    os.close(rules)
    return bool(held)


def _allow_reading(rules: int, path: str) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rights = _EXECUTE | _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)  # noqa: PTH112
    rule = struct.pack("=Qi", rights, beneath)
    _libc.syscall(
        _LANDLOCK_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0)
    )
    os.close(beneath)


def seccomp(filtering: bytes | None = None) -> bool:
    """Only the system calls of `_ALLOWED`; needs no_new_privs, and nothing more can be set up after it.

    `filtering`: another filter, as `compiled` makes it.
    """
    filtering = filtering or _filter
    if _libc is None or filtering is None:
        return False
    code = ctypes.create_string_buffer(filtering, len(filtering))
    program = struct.pack("@HP", len(filtering) // 8, ctypes.addressof(code))
    return bool(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0) == 0)


def prctl(option: int, value: int) -> bool:
    """`prctl(option, value)`, where there is one."""
    return _libc is not None and bool(_libc.prctl(option, value, 0, 0, 0) == 0)


def _open_libc() -> Any:
    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except OSError:
        return None
    return libc if all(hasattr(libc, name) for name in ("prctl", "unshare", "capset", "syscall")) else None


def compiled(allowed: str = "", no_exec: str = _NO_EXEC, further: str = "") -> bytes | None:
    """A filter as classic BPF for this machine; None where the numbers of its calls are not known.

    `allowed`: names of calls beside those of `_ALLOWED`; `no_exec`: of those allowed without PROT_EXEC;
    `further`: `name number` pairs of calls of this machine that are not listed above.
    """
    if platform.machine() not in _NUMBERS:
        return None
    architecture, listed = _NUMBERS[platform.machine()]
    words = f"{listed} {further}".split()
    numbers = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    load, equal, at_least, masked, end = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | _EPERM, 0x80000000
    code: list[tuple[int, int, int, int]] = [
        (load, 0, 0, 4),
        (equal, 1, 0, architecture),
        (end, 0, 0, kill),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # the x32 calls of x86_64
        (end, 0, 0, kill),
    ]
    for name in no_exec.split():
        code += [
            (equal, 0, 4, numbers[name]),
            (load, 0, 0, 32),  # low half of the third argument
            (masked, 0, 1, _PROT_EXEC),
            (end, 0, 0, refuse),
            (end, 0, 0, allow),
        ]
    for names, verdict in ((f"{_ALLOWED} {allowed}", allow), (_REFUSED, refuse)):
        for name in names.split():
            if name in numbers:
                code += [(equal, 0, 1, numbers[name]), (end, 0, 0, verdict)]
    code.append((end, 0, 0, kill))
    return b"".join(struct.pack("=HBBI", *line) for line in code)


_libc = _open_libc()
_filter = compiled()
