"""The host's end of a fork server: start it, have it fork and collect, end it."""

import fcntl
import importlib.metadata
import os
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from evoharness.sandbox.confined import framing
from evoharness.sandbox.result import SandboxLevel, SandboxUnavailable

START_SECONDS = 20.0
CONTROL_SECONDS = 5.0
_BEYOND_STANDARD = 3


@dataclass(frozen=True)
class Ended:
    """How a child ended."""

    status: int
    """Exit code; a signal is its number below zero."""
    cpu_seconds: float
    peak_bytes: int


class ForkServer:
    """A running fork server and the control socket to it. SandboxUnavailable when it does not start.

    `program`: the module of `confined` that its children do their jobs with; `arguments`: of that program.
    """

    def __init__(self, program: str, arguments: list[str]) -> None:
        self._control, theirs = socket.socketpair()
        self._owner = os.getpid()
        with theirs:
            # A host without standard streams has sockets where the server's are going to be.
            number = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, _BEYOND_STANDARD)
        try:
            self.process = subprocess.Popen(
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
        finally:
            os.close(number)
        self.level = self._greeted()
        self._control.settimeout(CONTROL_SECONDS)

    def _greeted(self) -> SandboxLevel:
        try:
            hello = framing.receive(self._control, time.monotonic() + START_SECONDS)
            return SandboxLevel(layers=tuple(hello["layers"]))
        except (framing.Closed, framing.Late, framing.FramingError) as error:
            self._control.close()
            self.process.kill()
            why = self.process.communicate()[1].decode(errors="replace").strip().splitlines()
            said = why[-1] if why else type(error).__name__
            raise SandboxUnavailable(f"the fork server did not start: {said}") from error
        finally:
            if self.process.stderr is not None:
                self.process.stderr.close()

    def usable(self) -> bool:
        """Whether it still runs, and belongs to this process rather than to the one that forked it."""
        return self._owner == os.getpid() and self.process.poll() is None

    def spawn(self, connection: socket.socket) -> int:
        """Fork a child that serves one job over `connection`; its pid. OSError when there is no answer."""
        socket.send_fds(self._control, [b"S"], [connection.fileno()])
        return int(struct.unpack(">i", self._exactly(4))[0])

    def collect(self, pid: int, kill: bool) -> Ended | None:
        """How a child ended, killed first if asked to; None when it has not. OSError: no answer."""
        self._control.sendall((b"K" if kill else b"W") + struct.pack(">i", pid))
        found, status, cpu, peak = framing.ENDED.unpack(self._exactly(framing.ENDED.size))
        return Ended(os.waitstatus_to_exitcode(status), cpu, peak) if found else None

    def stop(self) -> None:
        """End it and its children, if it is this process's own; let go of it otherwise."""
        self._control.close()
        if self._owner == os.getpid():
            self.process.kill()
            self.process.wait()

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

    It finds this folder and RestrictedPython after the standard library, and nothing else.
    """
    try:
        restricted = importlib.metadata.distribution("RestrictedPython")
        beside = Path(str(restricted.locate_file("RestrictedPython/__init__.py"))).parent.parent
    except importlib.metadata.PackageNotFoundError as error:
        raise SandboxUnavailable(
            "RestrictedPython is not installed: pip install 'RestrictedPython>=9.0,<10'"
        ) from error
    places = [str(Path(__file__).parent), str(beside)]
    return (
        f"import sys; sys.path += {places!r}; "
        f"from confined import server, {program} as program; "
        "server.main(program.serve, getattr(program, 'companion', None))"
    )
