"""The `process` backend: a fork server, and one confined child for each run.

A run goes like this: ask the server to fork, hand the child its job over a socket of its own, answer its
host calls, read its last message, have it killed and collected. The source never touches this process; what
the child says is read with a length limit and a deadline, and only what this side saw itself (limits,
deadlines, signals) decides the kinds that a run could not forge.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evoharness.sandbox.confined import framing
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

START_SECONDS = 20.0
CONTROL_SECONDS = 5.0
_ENDED = struct.Struct(">iddQ")


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
        self._server: _Server | None = None

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

    def _death(
        self, ended: "Ended", limits: SandboxLimits, end: dict[str, Any]
    ) -> tuple[Kind, dict[str, Any]]:
        """What the end of a child that sent no last message means."""
        spent = ended.cpu_seconds >= limits.cpu_seconds
        if ended.status == -signal.SIGXCPU or (ended.status == -signal.SIGKILL and spent):
            return "cpu_time_exceeded", {"message": f"used all {limits.cpu_seconds} s of processor time"}
        if ended.status == -signal.SIGSYS:
            return "syscall_violation", {"message": "made a system call that is not allowed"}
        said = end.get("message") or f"ended without an answer ({ended.status})"
        return "worker_crashed", {"message": said}

    def _session(self, job: Job, api: HostApi, limits: SandboxLimits) -> SandboxResult:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                pid, server = self._spawn(theirs)
            session = Session(ours, api, limits)
            watch = MemoryWatch(pid, limits.memory_bytes, needed="memory_watch" in server.level.layers)
            try:
                with watch:
                    kind, end = session.conduct(job)
            finally:
                ended = self._collect(server, pid, kill=not session.hung_up)
        if watch.exceeded:
            kind, end = "memory_limit_exceeded", {"message": "out of memory"}
        elif session.hung_up:
            if ended is None:
                raise SandboxUnavailable("the fork server died during a run")
            kind, end = self._death(ended, limits, end)
        cpu, peak = (ended.cpu_seconds, ended.peak_bytes) if ended else (0.0, 0)
        return result_of(job, kind, end, session, server.level, cpu, peak)

    def _spawn(self, connection: socket.socket) -> tuple[int, "_Server"]:
        for attempt in (1, 2):
            with self._lock:
                server = self._running()
                try:
                    return server.spawn(connection), server
                except (OSError, framing.Late) as error:
                    server.stop()
                    self._server = None
                    if attempt == 2:
                        raise SandboxUnavailable(f"the fork server does not answer: {error}") from error
        raise AssertionError("unreachable")

    def _collect(self, server: "_Server", pid: int, kill: bool) -> "Ended | None":
        """How the child ended; None when the server died, and with it all its children."""
        with self._lock:
            try:
                return server.collect(pid, kill)
            except (OSError, framing.Late):
                server.stop()
                if self._server is server:
                    self._server = None
                return None

    def _running(self) -> "_Server":
        if self._server is None or not self._server.usable():
            if self._server is not None:
                self._server.stop()
            self._server = _Server(self._program, self._arguments())
        return self._server


class Ended:
    """How a child ended."""

    def __init__(self, status: int, cpu_seconds: float, peak_bytes: int) -> None:
        self.status = status
        self.cpu_seconds = cpu_seconds
        self.peak_bytes = peak_bytes


class _Server:
    """The running fork server and the control socket to it."""

    def __init__(self, program: str, arguments: list[str]) -> None:
        self._control, theirs = socket.socketpair()
        self._owner = os.getpid()
        with theirs:
            number = theirs.fileno()
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-s", "-S", "-c", _boot(program), str(number), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env={"PYTHONHASHSEED": "0"},  # the order of sets is part of a strategy's result
                    cwd="/",
                    pass_fds=(number,),
                    start_new_session=True,
                )
            except OSError as error:
                self._control.close()
                raise SandboxUnavailable(f"cannot start {sys.executable}: {error}") from error
        try:
            hello = framing.receive(self._control, time.monotonic() + START_SECONDS)
        except (framing.Closed, framing.Late, framing.FramingError) as error:
            self._control.close()
            self._process.kill()
            why = self._process.communicate()[1].decode(errors="replace").strip().splitlines()
            raise SandboxUnavailable(f"the fork server did not start: {why[-1:] or error}") from error
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._control.settimeout(CONTROL_SECONDS)
        self.level = SandboxLevel(layers=tuple(hello["layers"]))

    def usable(self) -> bool:
        """Whether it still runs, and belongs to this process rather than to the one that forked it."""
        return self._owner == os.getpid() and self._process.poll() is None

    def spawn(self, connection: socket.socket) -> int:
        """Fork a child that serves one job over `connection`; its pid."""
        socket.send_fds(self._control, [b"S"], [connection.fileno()])
        return int(struct.unpack(">i", self._exactly(4))[0])

    def collect(self, pid: int, kill: bool) -> Ended:
        """Wait for a child to end, killing it first if asked to."""
        self._control.sendall((b"K" if kill else b"W") + struct.pack(">i", pid))
        status, cpu, _, peak = _ENDED.unpack(self._exactly(_ENDED.size))
        return Ended(os.waitstatus_to_exitcode(status), cpu, peak)

    def stop(self) -> None:
        """End it and its children."""
        self._control.close()
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = self._control.recv(count - len(data))
            if not chunk:
                raise ConnectionResetError("it ended")
            data += chunk
        return data


def _boot(program: str) -> str:
    """The code of a fork server whose children do their jobs with that module of `confined`.

    It finds this folder and RestrictedPython, and nothing else beside the standard library.
    """
    restricted = find_spec("RestrictedPython")
    if restricted is None or restricted.origin is None:
        raise SandboxUnavailable("RestrictedPython is not installed: pip install 'RestrictedPython>=9.0,<10'")
    places = [str(Path(__file__).parent), str(Path(restricted.origin).parent.parent)]
    return (
        f"import sys; sys.path[:0] = {places!r}; "
        f"from confined import server, {program} as program; "
        "server.main(program.serve, getattr(program, 'companion', None))"
    )
