"""Things for attacks to go for, and a look at whether anything came to them.

Everything is open to everybody (a file that all may write, sockets that all may connect to), so that only
the sandbox stands between an attack and its success.
"""

import contextlib
import copy
import ctypes
import os
import resource
import select
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evoharness.sandbox.result import HostApi
from evoharness.sandbox.stub import QUESTION, stub_context

KEY = "EVOHARNESS_FAKE_KEY"
SECRET = "SECRET-3f1c9a70"
CONTENT = "untouched"
_PR_SET_CHILD_SUBREAPER = 36
_LEFTOVERS = ("/dev/shm", "/dev/mqueue")
_IPC = ("/proc/sysvipc/shm", "/proc/sysvipc/msg", "/proc/sysvipc/sem")


class Victims:
    """A context that sets the things up, and takes them away again.

    Enter it before the sandbox is started: what a process inherits is one of the things.
    """

    def __init__(self) -> None:
        self._exits = contextlib.ExitStack()
        self._sockets: list[socket.socket] = []
        self._before: dict[str, Any] = {}

    def __enter__(self) -> Self:
        try:
            self._set_up()
        except BaseException:
            self._exits.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exits.close()

    @property
    def targets(self) -> dict[str, str]:
        """Placeholder in the source of an attack → the thing that it stands for."""
        tcp, udp = self._sockets[:2]
        return {
            "folder": str(self._folder),
            "tcp": str(tcp.getsockname()[1]),
            "udp": str(udp.getsockname()[1]),
            "host": str(os.getpid()),
            "key": KEY,
        }

    def call_surface(self) -> tuple[HostApi, dict[str, Any]]:
        """A fresh `ctx` and question, watched until the next call of this method."""
        self._api, self._question = stub_context(), copy.deepcopy(QUESTION)
        self._data = copy.deepcopy(dict(self._api.data))
        return self._api, self._question

    def harm(self) -> list[str]:
        """What came to the things since they were set up or last looked at; empty: nothing."""
        harm = []
        if self._file_state() != self._file_before:
            harm.append("the file was changed")
            self._put_file_back()
        if left := sorted({*_listed(str(self._folder))} - self._in_folder):
            harm.append(f"left {', '.join(left)} in the folder")
            for name in left:
                self._remove(self._folder / name)
        if reached := select.select(self._sockets, [], [], 0)[0]:
            harm.append("reached a socket of this machine")
            for listening in reached:
                self._drain(listening)
        if (dict(self._api.data), self._question) != (self._data, QUESTION):
            harm.append("changed objects of the host")
        state = self._state()
        harm += [
            f"{name}: {state[name]} instead of {old}"
            for name, old in self._before.items()
            if state[name] != old
        ]
        self._before = state
        return harm

    def remember(self) -> None:
        """Take the state of this process as it is now for the one to compare with.

        To be called once the sandbox runs, since its servers are processes of this one.
        """
        self._before = self._state()

    def _set_up(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="evoharness-victims-"))
        self._exits.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._folder.chmod(0o777)
        self._put_file_back()
        self._sockets = [
            self._bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            self._bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            self._bound(socket.AF_UNIX, socket.SOCK_STREAM, str(self._folder / "socket")),
        ]
        (self._folder / "socket").chmod(0o777)
        self._in_folder = {*_listed(str(self._folder))}
        self._set_key()
        self._open_secret()
        self._adopt_orphans()
        self.call_surface()
        self.remember()

    def _set_key(self) -> None:
        before = os.environ.get(KEY)
        os.environ[KEY] = SECRET
        if before is None:
            self._exits.callback(os.environ.pop, KEY, None)
        else:
            self._exits.callback(os.environ.__setitem__, KEY, before)

    def _open_secret(self) -> None:
        reading, writing = os.pipe()
        os.write(writing, SECRET.encode() * 10)
        for descriptor in (reading, writing):
            os.set_inheritable(descriptor, True)
            self._exits.callback(os.close, descriptor)

    def _adopt_orphans(self) -> None:
        """Processes that lose their parent become children of this one, so that none goes unseen."""
        if sys.platform != "linux":
            return
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._exits.callback(libc.prctl, _PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def _bound(self, family: int, kind: int, address: Any) -> socket.socket:
        made = socket.socket(family, kind)
        self._exits.callback(made.close)
        made.bind(address)
        made.setblocking(False)
        if kind == socket.SOCK_STREAM:
            made.listen(8)
        return made

    def _put_file_back(self) -> None:
        file = self._folder / "victim"
        self._remove(file)
        file.write_text(CONTENT)
        file.chmod(0o666)
        self._file_before = self._file_state()

    def _file_state(self) -> Any:
        try:
            facts = (self._folder / "victim").lstat()
            text = (self._folder / "victim").read_text()
        except OSError:
            return None
        return (
            facts.st_ino, facts.st_mode, facts.st_uid, facts.st_gid, facts.st_size, facts.st_nlink,
            facts.st_mtime_ns, text,
        )  # fmt: skip

    def _state(self) -> dict[str, Any]:
        return {
            "descriptors": sorted(_listed("/proc/self/fd")),
            "processes": _descendants(os.getpid()),
            "working folder": str(Path.cwd()),
            "environment": os.environ.get(KEY),
            "priority": os.getpriority(os.PRIO_PROCESS, 0),
            "limits": [resource.getrlimit(kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE)],
            "processors": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
            "shared memory": [
                name for where in _LEFTOVERS for name in _listed(where) if "evoharness" in name
            ],
            "old shared memory": [_text(where) for where in _IPC],
            "name of the machine": socket.gethostname(),
        }

    @staticmethod
    def _drain(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                if listening.type == socket.SOCK_DGRAM:
                    listening.recv(1)
                else:
                    listening.accept()[0].close()

    @staticmethod
    def _remove(path: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _listed(folder: str) -> list[str]:
    try:
        return [path.name for path in Path(folder).iterdir()]
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _descendants(pid: int) -> list[int]:
    """Every process below that one, where the system tells."""
    found = []
    for child in map(int, _text(f"/proc/{pid}/task/{pid}/children").split()):
        found += [child, *_descendants(child)]
    return sorted(found)
