"""The fork server: a small process that has imported what a run needs and forks one child for each.

Each child does its job with the module of this folder that the host named; arguments after the first are
that module's. It reads single bytes from its control socket (descriptor given as the first argument):
`S` with a descriptor: fork a child that serves one job over it; answers with the child's pid.
`K` and a pid: kill the child; answers with how it ended.
`W` and a pid: the same, when it has ended by itself; answers at once that it has not.
It ends when the control socket closes or its parent is no longer the one that started it, whichever way
that process died; its children end with it.
"""

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from . import framing, kernel, layers

DEFAULT_LIMITS = {"cpu_seconds": 5, "memory_bytes": 256 << 20}

Serve = Callable[..., None]
"""Does one job over a connection to the host; with a companion, the socket to it is a second argument."""
Companion = Callable[[socket.socket, Any, bool], NoReturn]
"""Becomes the second process of a run: its socket, the limits, whether the superuser started the server.

It sends the names of the layers that hold as soon as they do."""
_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


def main(serve: Serve, companion: Companion | None = None) -> None:
    """Fork children that do their jobs with `serve`, until the parent is gone."""
    control = socket.socket(fileno=_lowered(int(sys.argv[1])))
    parent = os.getppid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a host that ignores it hands that on
    warnings.simplefilter("ignore")  # a warning about a source would read files
    forker = Forker(serve, companion)
    reached = _probe(forker.root, kernel.unshare())
    gc.collect()
    gc.freeze()
    os.dup2(0, 2)  # a traceback of the start reaches the host; nothing later does
    framing.send(control, {"layers": reached})
    while os.getppid() == parent:
        if not select.select([control], [], [], 2.0)[0]:
            continue
        data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            break
        if data == b"S":
            control.sendall(struct.pack(">i", forker.fork(descriptors[0])))
            os.close(descriptors[0])
        else:
            pid = struct.unpack(">i", control.recv(4, socket.MSG_WAITALL))[0]
            control.sendall(framing.ENDED.pack(*forker.reap(pid, kill=data == b"K")))


def _lowered(descriptor: int) -> int:
    """The same descriptor as number 3, so that children find no high one that they would have to close."""
    if descriptor != 3:
        os.dup2(descriptor, 3, inheritable=False)
        os.close(descriptor)
    return 3


class Forker:
    """Starts the process of a run, and the companion that some have, and collects both."""

    def __init__(self, serve: Serve, companion: Companion | None) -> None:
        self.root = os.getuid() == 0
        self._serve = serve
        self._companion = companion
        self._companions: dict[int, int] = {}
        self._server = os.getpid()

    def fork(self, descriptor: int) -> int:
        """Fork a child that serves one job over the socket with that descriptor; its pid."""
        if self._companion is None:
            return self._started(lambda: self._run(descriptor))
        ours, theirs = socket.socketpair()
        with ours, theirs:
            beside = self._started(lambda: self._accompany(theirs))
            pid = self._started(lambda: self._run(descriptor, ours))
        self._companions[pid] = beside
        return pid

    def reap(self, pid: int, kill: bool) -> tuple[bool, int, float, int]:
        """How a child and its companion ended, killed first if asked to; the fields of `framing.ENDED`."""
        found, status, usage = _collected(pid, kill)
        if not found:
            return False, 0, 0.0, 0
        cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        beside = self._companions.pop(pid, None)
        if beside is not None:
            _, other, usage = _collected(beside, kill=True)
            cpu, peak = cpu + usage.ru_utime + usage.ru_stime, max(peak, usage.ru_maxrss)
            if status == 0 and other != signal.SIGKILL:  # it ended by itself, perhaps not well
                status = other
        return True, status, cpu, peak * _MAXRSS_BYTES

    @staticmethod
    def _started(work: Callable[[], None]) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                work()
            finally:
                os._exit(0)
        return pid

    def _run(self, descriptor: int, *beside: socket.socket) -> None:
        layers.close_all_but(descriptor, *(other.fileno() for other in beside))
        connection = socket.socket(fileno=descriptor)
        limits = framing.receive(connection)
        if os.getppid() != self._server:
            return
        try:
            held = layers.confine(limits, self.root)
            for other in beside:
                framing.send(other, limits)
                theirs = framing.receive(other)
                held = [layer for layer in held if layer in theirs]
            framing.send(connection, {"ready": held})
            self._serve(connection, *beside)
        finally:  # a socket that is freed asks the system for its name, which kills
            for socket_held in (connection, *beside):
                socket_held.detach()

    def _accompany(self, connection: socket.socket) -> None:
        assert self._companion is not None
        layers.close_all_but(connection.fileno())
        if os.getppid() == self._server:
            self._companion(connection, framing.receive(connection), self.root)


def _probe(root: bool, namespaces: bool) -> list[str]:
    """The layers that a child reaches here."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            held = layers.confine(DEFAULT_LIMITS, root)
            held += ["namespaces"] if namespaces else []
            held += [] if layers.memory_is_limited(DEFAULT_LIMITS) else ["memory_watch"]
            os.write(writing, "+".join(held).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        reached = pipe.read().decode()
    os.waitpid(pid, 0)
    return reached.split("+")


def _collected(pid: int, kill: bool) -> tuple[int, int, resource.struct_rusage]:
    """What wait4 says of a child, which is killed first if asked to; a pid of 0 when it has not ended."""
    found, status, usage = os.wait4(pid, os.WNOHANG)
    if found or not kill:
        return found, status, usage
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return os.wait4(pid, 0)
