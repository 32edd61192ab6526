"""Runs a command as on a system that has less: `python lesser_system.py landlock,seccomp,memory -- command`.

What is named is taken away by a filter of system calls that the command and its children inherit:
`landlock` and `seccomp` do not exist, limits of `memory` are accepted and ignored, as some systems do. For
Linux on x86_64 only.
"""

import ctypes
import os
import resource
import struct
import sys

LOAD, EQUAL, END = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
ENOSYS, EINVAL = 38, 22
NUMBER, FIRST, SECOND = 0, 16, 24
PRCTL, SETRLIMIT, PRLIMIT, LANDLOCK_CREATE, SECCOMP = 157, 160, 302, 444, 317
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38

Line = tuple[int, int, int, int]


def refusal(call: int, error: int, argument: tuple[int, int] | None = None) -> list[Line]:
    """Lines that answer a call with an error, or only with that value at the offset of an argument."""
    lines: list[Line] = [(LOAD, 0, 0, NUMBER)]
    if argument is None:
        return [*lines, (EQUAL, 0, 1, call), (END, 0, 0, ERRNO | error)]
    offset, value = argument
    return [
        *lines,
        (EQUAL, 0, 3, call),
        (LOAD, 0, 0, offset),
        (EQUAL, 0, 1, value),
        (END, 0, 0, ERRNO | error),
    ]


TAKEN = {
    "landlock": refusal(LANDLOCK_CREATE, ENOSYS),
    "seccomp": refusal(SECCOMP, ENOSYS) + refusal(PRCTL, EINVAL, (FIRST, PR_SET_SECCOMP)),
    "memory": refusal(SETRLIMIT, 0, (FIRST, resource.RLIMIT_AS))
    + refusal(PRLIMIT, 0, (SECOND, resource.RLIMIT_AS)),
}


def main() -> None:
    """Take away what the first argument names, and become the command after `--`."""
    names, command = sys.argv[1].split(","), sys.argv[3:]
    lines = [line for name in names for line in TAKEN[name]] + [(END, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = struct.pack("@HP", len(lines), ctypes.addressof(code))
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0) != 0:
        sys.exit("cannot take anything away")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
