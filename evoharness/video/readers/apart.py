"""A reader in a process of its own: what hangs or crashes there is ended, and nothing else stops.

The process is started when it is first needed, kept for the next request, and shared by all videos of this
process; several requests at once have one each. Jobs go to it through a pipe, pictures come back through
another: at 1280 x 704 that costs a millisecond and a half a picture, little beside decoding it, and leaves
nothing behind in the file system when somebody is killed.

The deadline is for progress: so long without a picture as decoding it would take on a machine twenty times
slower than an ordinary one. The process has the same deadline for itself, kept by the kernel, so that a
hanging one does not outlive its parent.
"""

import atexit
import contextlib
import json
import os
import pickle
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.video.index import PacketIndex
from evoharness.video.readers.plan import plan
from evoharness.video.readers.protocol import Losses, ReaderFailed, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATIENCE_S = 20.0
"""Seconds to wait for any picture, beside those for decoding."""
SECONDS_A_MEGAPIXEL = 0.02
"""Seconds to wait for each million pixels that are decoded on the way to it."""
BYTES_A_SECOND = 10e6
"""How fast, at the least, a file is read when it is opened."""

MOST_IDLE = 2
"""How many processes are kept for the next request; each takes some 150 MB."""

HEADER = struct.Struct("<cII")
"""What comes before everything that a process of a reader sends: kind, and two numbers.

`P`: a picture, height and width, then its bytes. `E`: the end, length of a JSON text with the numbers of
pictures that others stood in for and of those that came damaged, 0. `F`: the reader failed, length of a text
that says why, 0.
"""
MOST_BYTES = 2**20
"""No text is longer."""

KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT")
KEPT_PREFIXES = ("PYTHON", "LC_", "LD_", "DYLD_", "DECORD_")
"""What of the environment is passed on: a process that parses strangers' files needs no keys."""


@dataclass(frozen=True)
class Job:
    """What a process of a reader is asked."""

    reader: str
    path: Path
    index: PacketIndex
    sound: bool
    threads: int
    wanted: tuple[Wanted, ...]
    patience: tuple[float, ...]
    """Seconds until the kernel ends the process, for each picture."""


class ApartReader:
    """A reader, by its name, in a process of its own."""

    def __init__(
        self,
        name: str,
        path: Path,
        index: PacketIndex,
        *,
        pixels: int,
        sound: bool,
        threads: int,
        losses: Losses,
    ) -> None:
        """`pixels`: of a whole picture of the file, to tell how long decoding may take."""
        self._name = name
        self._path = path
        self._index = index
        self._megapixels = pixels / 1e6
        self._sound = sound
        self._threads = threads
        self._losses = losses

    def read(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        """See `Reader`."""
        if not wanted:
            return
        steps = plan(self._index, [want.number for want in wanted], leave_out=False)
        patience = [PATIENCE_S + step.cost * self._megapixels * SECONDS_A_MEGAPIXEL for step in steps]
        patience[0] += self._path.stat().st_size / BYTES_A_SECOND
        job = Job(
            self._name,
            self._path.absolute(),
            self._index,
            self._sound,
            self._threads,
            tuple(wanted),
            tuple(patience),
        )
        process, first = _begin(job)
        finished = False
        try:
            yield first
            for want, seconds in zip(wanted[1:], patience[1:], strict=True):
                yield process.picture(want, seconds)
            pictures, damaged = process.end()
            self._losses.pictures.update(pictures)
            self._losses.damaged.update(damaged)
            finished = True
        finally:
            if finished:
                _put_back(process)
            else:  # somebody stopped asking, or it failed: it is in the middle of something
                _end(process)


class _Ended(ReaderFailed):
    """The process is not there any more."""


class _Process:
    """One process of a reader, seen from its parent."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "evoharness.video.readers.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(os.environ),
            bufsize=0,
        )
        _enlarge(self._child.stdout)

    def ask(self, job: Job) -> None:
        """Send a job; `ReaderFailed` when nobody is there to take it."""
        assert self._child.stdin is not None
        data = memoryview(pickle.dumps(job))
        try:
            self._child.stdin.write(struct.pack("<Q", len(data)))
            while data:
                data = data[self._child.stdin.write(data) :]
        except OSError as error:
            self.kill()
            raise _Ended("its process has ended") from error

    def picture(self, want: Wanted, seconds: float) -> "NDArray[np.uint8]":
        """The next picture, of the size that was wanted."""
        import numpy as np

        until = time.monotonic() + seconds
        kind, height, width = HEADER.unpack(self._bytes(HEADER.size, until, seconds))
        if kind == b"F":
            raise ReaderFailed(self._text(height, until, seconds))
        if kind != b"P" or (height, width) != (want.height, want.width):
            raise ReaderFailed("its process sent something else than the picture that was wanted")
        pixels = np.empty((height, width, 3), dtype=np.uint8)
        self._fill(pixels.data.cast("B"), until, seconds)
        return pixels

    def end(self) -> list[list[int]]:
        """Numbers of the pictures that others stood in for, and of damaged ones, once all are there."""
        until = time.monotonic() + PATIENCE_S
        kind, length, _ = HEADER.unpack(self._bytes(HEADER.size, until, PATIENCE_S))
        if kind != b"E":
            raise ReaderFailed("its process sent more than was wanted")
        lost, hurt = json.loads(self._text(length, until, PATIENCE_S))
        return [[int(number) for number in numbers] for numbers in (lost, hurt)]

    def kill(self) -> None:
        """End the process now."""
        self._child.kill()
        self._close()

    def dismiss(self) -> None:
        """Let an idle process end by itself."""
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        try:
            self._child.wait(1)
        except subprocess.TimeoutExpired:
            self._child.kill()
        self._close()

    def _close(self) -> None:
        for end in (self._child.stdin, self._child.stdout):
            if end is not None:
                with contextlib.suppress(OSError):
                    end.close()
        self._child.wait()

    def _text(self, length: int, until: float, seconds: float) -> str:
        if length > MOST_BYTES:
            raise ReaderFailed("its process sent something senseless")
        return self._bytes(length, until, seconds).decode("utf-8", "replace")

    def _bytes(self, count: int, until: float, seconds: float) -> bytes:
        data = bytearray(count)
        self._fill(memoryview(data), until, seconds)
        return bytes(data)

    def _fill(self, place: memoryview, until: float, seconds: float) -> None:
        assert self._child.stdout is not None
        poll = select.poll()
        poll.register(self._child.stdout, select.POLLIN)
        while place:
            left = max(0.0, until - time.monotonic())
            if not poll.poll(left * 1000):  # also after a pause of this process: what is there counts
                raise ReaderFailed(f"no picture came within {seconds:.0f} s")
            count = self._child.stdout.readinto(place)  # type: ignore[attr-defined]
            if not count:
                raise _Ended(f"its process ended in the middle ({_ending(self._child)})")
            place = place[count:]


_idle: list[_Process] = []
_working: set[_Process] = set()
_owner = os.getpid()
_lock = threading.Lock()


def is_idle() -> bool:
    """Whether a process waits for a job, so that the next one begins at once."""
    with _lock:
        return _owner == os.getpid() and bool(_idle)


def is_busy() -> bool:
    """Whether all the processes there are, one at least, have a job."""
    with _lock:
        return _owner == os.getpid() and bool(_working) and not _idle


def _begin(job: Job) -> "tuple[_Process, NDArray[np.uint8]]":
    """A process that works on the job, and its first picture.

    One that waited for a job may have died meanwhile, which is nobody's fault: then another one is asked.
    """
    while True:
        waited = _waiting()
        process = waited or _started()
        try:
            process.ask(job)
            return process, process.picture(job.wanted[0], job.patience[0])
        except _Ended:
            _end(process)
            if waited is None:
                raise
        except BaseException:
            _end(process)
            raise


def _waiting() -> _Process | None:
    global _owner
    with _lock:
        if _owner != os.getpid():  # after a fork these are another's
            _idle.clear()
            _working.clear()
            _owner = os.getpid()
        if not _idle:
            return None
        process = _idle.pop()
        _working.add(process)
        return process


def _started() -> _Process:
    try:
        process = _Process()
        with _lock:
            _working.add(process)
        return process
    except OSError as error:
        raise ReaderFailed(f"no process can be started for it ({error.strerror})") from error


def _put_back(process: _Process) -> None:
    """Keep a process for the next job, if not enough of them wait already."""
    with _lock:
        _working.discard(process)
        keep = len(_idle) < MOST_IDLE
        if keep:
            _idle.append(process)
    if not keep:
        process.dismiss()


def _end(process: _Process) -> None:
    with _lock:
        _working.discard(process)
    process.kill()


@atexit.register
def _dismiss_all() -> None:
    with _lock:
        waiting = list(_idle) if _owner == os.getpid() else []
        _idle.clear()
    for process in waiting:
        process.dismiss()


def _environment(whole: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in whole.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}
    # The package is found where this process found it.
    return {**kept, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}


def _enlarge(pipe: object) -> None:
    """Make room for a whole picture in the pipe, where the system lets us."""
    import fcntl

    setting = getattr(fcntl, "F_SETPIPE_SZ", None)
    if setting is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, setting, 2**20)  # type: ignore[call-overload]


def _ending(child: "subprocess.Popen[bytes]") -> str:
    try:
        code = child.wait(1)
    except subprocess.TimeoutExpired:
        return "still running"
    return f"signal {-code}" if code < 0 else f"exit {code}"
