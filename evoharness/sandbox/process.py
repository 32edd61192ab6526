"""The `process` backend: a fork server, and one confined child for each run.

A run goes like this: ask the server to fork, hand the child its job over a socket of its own, answer its
host calls, read its last message, have it killed and collected. The source never touches this process; what
the child says is read with a length limit and a deadline, and only what this side saw itself (limits,
deadlines, signals) decides the kinds that a run could not forge.
"""

import contextlib
import os
import signal
import socket
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from evoharness.sandbox.fork_server import Ended, ForkServer
from evoharness.sandbox.job import Job, check_job, result_of, run_job, violations_of
from evoharness.sandbox.memory_watch import MemoryWatch
from evoharness.sandbox.result import (
    HostApi,
    Kind,
    SandboxLevel,
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
    Violation,
    demand_level,
)
from evoharness.sandbox.session import Session

PATIENCE = 0.25
"""Seconds that a child which hung up has to end by itself, so that it can be seen how."""


class ProcessSandbox:
    """Fork server per process that uses it, started at the first run and again when it died.

    `allow_weaker`: run code even where the system cannot confine it with Landlock and seccomp.
    `raw`: run any Python at all, without the language layer; for trying what the system layers hold.
    """

    program = "execute"
    """Module of `confined` whose `serve` does a job; it may have a `companion`, see `confined.server`."""

    def __init__(self, allow_weaker: bool = False, raw: bool = False) -> None:
        self._allow_weaker = allow_weaker
        self._program = "raw" if raw else self.program
        self._lock = threading.Lock()
        self._server: ForkServer | None = None
        _sandboxes.add(self)

    @property
    def level(self) -> SandboxLevel:
        """The layers that confine each run here."""
        with self._lock:
            return self._running().level

    def run(
        self, source: str, entry: str, arguments: Mapping[str, Any], api: HostApi, limits: SandboxLimits
    ) -> SandboxResult:
        """Call `entry(api, **arguments)` of the source in a confined process of its own."""
        demand_level(self.level, self._allow_weaker)
        return self._session(run_job(source, entry, arguments, api, limits), api, limits)

    def check(self, source: str, entry: str) -> list[Violation]:
        """What the language policy does not allow in a source, found in a confined process."""
        return violations_of(self._session(check_job(source, entry), HostApi({}), SandboxLimits()))

    def close(self) -> None:
        """End the server and every child; a later run starts another one."""
        with self._lock:
            if self._server is not None:
                self._server.stop()
                self._server = None

    def _arguments(self) -> list[str]:
        """Further arguments of the fork server, for its program; asked when it is started."""
        return []

    def _death(self, ended: Ended, limits: SandboxLimits) -> tuple[Kind, dict[str, Any]]:
        """What the end of a child that sent no last message means."""
        spent = ended.cpu_seconds >= limits.cpu_seconds
        if ended.status == -signal.SIGXCPU or (ended.status == -signal.SIGKILL and spent):
            return "cpu_time_exceeded", {"message": f"used all {limits.cpu_seconds} s of processor time"}
        if ended.status == -signal.SIGSYS:
            return "syscall_violation", {"message": "made a system call that is not allowed"}
        return "worker_crashed", {"message": f"ended without an answer ({ended.status})"}

    def _session(self, job: Job, api: HostApi, limits: SandboxLimits) -> SandboxResult:
        ours, theirs = socket.socketpair()
        with ours:
            session = Session(ours, api, limits)
            with theirs:
                pid, server = self._spawn(theirs)
            watch = MemoryWatch(pid, limits.memory_bytes, needed="memory_watch" in server.level.layers)
            try:
                with watch:
                    session.begin(server.level)
                    kind, end = session.conduct(job)
            finally:
                ended = self._collect(server, pid, patient=session.hung_up)
        if watch.exceeded:
            kind, end = "memory_limit_exceeded", {"message": "out of memory"}
        elif session.hung_up or (kind == "protocol_violation" and ended and _killed_itself(ended)):
            if ended is None:
                raise SandboxUnavailable("the fork server died during a run")
            kind, end = self._death(ended, limits)
        cpu, peak = (ended.cpu_seconds, ended.peak_bytes) if ended else (0.0, 0)
        return result_of(job, kind, end, session, server.level, cpu, peak)

    def _spawn(self, connection: socket.socket) -> tuple[int, ForkServer]:
        for _ in range(2):  # a server that died is replaced once
            with self._lock:
                server = self._running()
                with self._dropped_when_broken(server):
                    return server.spawn(connection), server
        raise SandboxUnavailable("the fork server does not answer")

    def _collect(self, server: ForkServer, pid: int, patient: bool) -> Ended | None:
        """How the child ended; None when the server died, and with it all its children."""
        until = time.monotonic() + (PATIENCE if patient else 0.0)
        while True:
            kill = time.monotonic() >= until
            ended = None
            broken = True
            with self._lock, self._dropped_when_broken(server):
                ended = server.collect(pid, kill)
                broken = False
            if ended is not None or broken:
                return ended
            time.sleep(0.001)

    @contextlib.contextmanager
    def _dropped_when_broken(self, server: ForkServer) -> Iterator[None]:
        """Ends the server when an exchange with it is cut short: what it says next answers the last one."""
        try:
            yield
        except BaseException as error:
            server.stop()
            if self._server is server:
                self._server = None
            if not isinstance(error, OSError):
                raise

    def _running(self) -> ForkServer:
        if self._server is None or not self._server.usable():
            if self._server is not None:
                self._server.stop()
            self._server = ForkServer(self._program, self._arguments())
        return self._server

    def _forget(self) -> None:
        """In a fork of the host: the server is the other process's, and so is whoever held the lock."""
        self._lock = threading.Lock()
        if self._server is not None:
            self._server.stop()
            self._server = None


def _killed_itself(ended: Ended) -> bool:
    return ended.status in (-signal.SIGXCPU, -signal.SIGSYS)


_sandboxes: "weakref.WeakSet[ProcessSandbox]" = weakref.WeakSet()


def _forget_all() -> None:
    for sandbox in list(_sandboxes):
        sandbox._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
