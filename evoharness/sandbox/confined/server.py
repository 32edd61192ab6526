"""The fork server: a small process that has imported what a run needs and forks one child for each.

It reads single bytes from its control socket (descriptor given as the first argument):
`S` with a descriptor: fork a child that serves one job over it; answers with the child's pid.
`K` or `W` and a pid: kill the child, or give it a moment to end by itself; answers with how it ended.
It ends when the control socket closes or its parent is no longer the one that started it, whichever way
that process died; its children end with it.
"""

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import sys
import time
import unicodedata  # noqa: F401  (the parser wants it for names that are not ASCII)
import warnings
from typing import NoReturn

from . import framing, kernel, layers, policy
from .execute import serve

DEFAULT_LIMITS = {"cpu_seconds": 5, "memory_bytes": 256 << 20}
ENDED = struct.Struct(">iddQ")
"""Wait status, CPU seconds, seconds waited, peak resident bytes."""
PATIENCE = 0.25
"""Seconds that `W` waits."""


def main() -> None:
    """Serve until the parent is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    parent = os.getppid()
    policy.checked("def strategy(ctx, question):\n    return [x for x in f'{1:.1f}']\n", "strategy")
    warnings.simplefilter("ignore")  # a warning about a source would read files
    root = os.getuid() == 0
    level = _probe(root, kernel.unshare())
    gc.collect()
    gc.freeze()
    os.dup2(0, 2)  # a traceback of the start reaches the host; nothing later does
    framing.send(control, {"level": level})
    while os.getppid() == parent:
        if not select.select([control], [], [], 2.0)[0]:
            continue
        data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            break
        if data == b"S":
            control.sendall(struct.pack(">i", _fork(descriptors[0], root)))
            os.close(descriptors[0])
        else:
            pid = struct.unpack(">i", control.recv(4, socket.MSG_WAITALL))[0]
            control.sendall(ENDED.pack(*_reap(pid, kill=data == b"K")))


def _fork(descriptor: int, root: bool) -> int:
    server = os.getpid()
    pid = os.fork()
    if pid == 0:
        _child(descriptor, server, root)
    return pid


def _child(descriptor: int, server: int, root: bool) -> NoReturn:
    try:
        os.setsid()
        layers.close_all_but(descriptor)
        connection = socket.socket(fileno=descriptor)
        limits = framing.receive(connection)
        if os.getppid() == server:
            layers.confine(limits, root)
            serve(connection)
    finally:
        os._exit(0)


def _probe(root: bool, namespaces: bool) -> str:
    """The layers that a child reaches here, as `a+b+c`."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            held = layers.confine(DEFAULT_LIMITS, root)
            os.write(writing, "+".join([*held, *(["namespaces"] if namespaces else [])]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        level = pipe.read().decode()
    os.waitpid(pid, 0)
    return level


def _reap(pid: int, kill: bool) -> tuple[int, float, float, int]:
    started = time.monotonic()
    while not kill and time.monotonic() - started < PATIENCE:
        found, status, usage = os.wait4(pid, os.WNOHANG)
        if found:
            break
        time.sleep(0.0005)
    else:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    return status, cpu, time.monotonic() - started, usage.ru_maxrss * 1024
