"""How many calls at a time, and how many calls and tokens a minute, over all threads and processes.

Processes of one machine that share a folder share its limits. A place among the calls in flight is a lock on
a file, which the kernel opens again when its process dies, however it dies. The rates are times in another
file: until when the calls granted so far use up the requests, the tokens, and a pause that was asked for.
A caller is told at once how long to wait, so that callers are served in order and none polls. Times are
those of the machine's clock since it was started, which nobody can set; after a restart, and on another
machine, the file is another one.
"""

import fcntl
import hashlib
import math
import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evoharness.models.hosted.clock import Clock
from evoharness.models.settings import Rates

BURST = 0.1
"""Share of a minute's allowance that may go at once; the rest is spread, so that no minute has too many."""
POLL_S = 0.01
"""How often a process looks for a place among those that other processes hold."""
_STATE = struct.Struct("8s4d")
_KIND = b"limits-2"
"""What the file begins with; one that begins otherwise is taken for empty."""
LONGEST_HOLD_S = 3600.0
"""A pause that ends later was not asked for by a provider, and is not kept."""
OLD_S = 7 * 86_400.0
"""The rates of a clock that is not used any more are removed after so long."""


class Admission:
    """A call that may be made now."""

    def __init__(self, limiter: "Limiter", tokens: int) -> None:
        self._limiter = limiter
        self._tokens = tokens

    def used(self, tokens: int) -> None:
        """Correct the guess of how many tokens the call takes."""
        self._limiter.correct(tokens - self._tokens)


class Limiter:
    """The limits of one model at one address; may be used from many threads."""

    def __init__(self, rates: Rates, folder: Path | None, name: str, clock: Clock) -> None:
        """`folder`: where the files lie that processes share; None, or one that cannot be written: the limits
        are this process's own.

        Files are named after a digest of `name`, the model and its address, and made at the first call.
        """
        self._rates = rates
        self._clock = clock
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        self._path = folder / "limits" / digest if folder is not None else None
        self._slots = threading.BoundedSemaphore(rates.concurrency) if rates.concurrency else None
        self._lock = threading.Lock()
        self._waiting = threading.Lock()
        self._times = [0.0, 0.0, 0.0, 0.0]
        """Until when requests, tokens and a pause are used up, and the longest that one call took of them."""
        self._file: int | None = None
        self._places: dict[int, int] = {}
        self._held: set[int] = set()

    @contextmanager
    def admit(self, tokens: int) -> Iterator[Admission]:
        """Wait until a call of about so many tokens may be made; it is in flight until the block ends."""
        self._share()
        if self._slots is None:
            self._await_turn(tokens)
            yield Admission(self, tokens)
            return
        with self._slots:
            place = self._take_place()
            try:
                self._await_turn(tokens)
                yield Admission(self, tokens)
            finally:
                self._leave_place(place)

    def hold(self, seconds: float) -> None:
        """Let no call begin for that long: the provider asked for it."""
        self._share()
        with self._shared() as times:
            times[2] = max(times[2], self._clock.now() + seconds)

    def correct(self, tokens: int) -> None:
        """Count so many tokens more, or fewer, than were guessed."""
        rate = self._rates.tokens_a_minute
        if rate and tokens:
            with self._shared() as times:
                times[1] += tokens * _spacing(rate)
                times[3] = max(times[3], tokens * _spacing(rate))

    def _share(self) -> None:
        """Open the files of the folder, once; go without them where that is not possible."""
        if self._path is None or self._file is not None:
            return
        with self._lock:
            if self._path is not None and self._file is None:
                try:
                    for number in range(self._rates.concurrency or 0):
                        self._places[number] = _open(self._path.with_suffix(f".{number}"))
                    whose = self._clock.whose()
                    self._file = _open(self._path.with_suffix(f".{whose}.rate"))
                    _remove_old(self._path, whose)
                except OSError:
                    for file in self._places.values():  # else they would be missing elsewhere
                        os.close(file)
                    self._places.clear()
                    self._path = None

    def _await_turn(self, tokens: int) -> None:
        at = self._turn(tokens)
        while (wait := at - self._clock.now()) > 0:
            self._clock.sleep(wait)
            if self._path is not None or self._times[2]:
                with self._shared() as times:
                    at = max(at, times[2])

    def _turn(self, tokens: int) -> float:
        """When the call may begin; what it takes is booked for that time."""
        requests, per_minute = self._rates.requests_a_minute, self._rates.tokens_a_minute
        with self._shared() as times:
            now = self._clock.now()
            begin = max(now, times[2])
            if requests:
                begin = max(begin, times[0] - BURST * 60)
            if per_minute:
                begin = max(begin, times[1] - BURST * 60)
            for place, booked in (
                (0, _spacing(requests) if requests else 0.0),
                (1, tokens * _spacing(per_minute) if per_minute else 0.0),
            ):
                if booked:
                    times[place] = max(times[place], begin) + booked
                    times[3] = max(times[3], booked)
            return begin

    @contextmanager
    def _shared(self) -> Iterator[list[float]]:
        """The times, which nobody else reads or writes meanwhile."""
        with self._lock:
            if self._path is None:
                yield self._times
                return
            assert self._file is not None
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                read = os.pread(self._file, _STATE.size, 0)
                times = self._believable(read)
                yield times
                if (written := _STATE.pack(_KIND, *times)) != read:
                    os.pwrite(self._file, written, 0)
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _believable(self, data: bytes) -> list[float]:
        """The times in a file. What calls that never came had booked, because their processes were killed,
        counts no further than what all calls that can be in flight may have booked."""
        kind, *times = _STATE.unpack(data) if len(data) == _STATE.size else (b"",)
        if kind != _KIND or not all(map(math.isfinite, times)):
            return [0.0, 0.0, 0.0, 0.0]
        now, places = self._clock.now(), self._rates.concurrency
        if places:
            # As much again, for calls that took more than was guessed.
            latest = now + BURST * 60 + 2 * places * times[3]
            times[:2] = [min(until, latest) for until in times[:2]]
        if times[2] > now + LONGEST_HOLD_S:
            times[2] = 0.0
        return times

    def _take_place(self) -> int | None:
        """The number of a place among the calls in flight of all processes."""
        if self._path is None or not self._rates.concurrency:
            return None
        with self._waiting:  # one thread of a process looks for a place at a time
            while True:
                with self._lock:
                    free = [n for n in range(self._rates.concurrency) if n not in self._held]
                    for number in free:
                        if self._try_place(number):
                            self._held.add(number)
                            return number
                self._clock.sleep(POLL_S)

    def _try_place(self, number: int) -> bool:
        try:
            fcntl.flock(self._places[number], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _leave_place(self, number: int | None) -> None:
        if number is not None:
            with self._lock:
                self._held.discard(number)
                fcntl.flock(self._places[number], fcntl.LOCK_UN)


def _spacing(a_minute: float) -> float:
    """Seconds that one of so many a minute takes; a burst on top still fits into the minute."""
    return 60.0 / (a_minute * (1.0 - BURST))


def _remove_old(path: Path, whose: str) -> None:
    """Remove the rates of clocks that are not used any more."""
    for other in path.parent.glob(f"{path.name}.*.rate"):
        with suppress(OSError):
            if whose not in other.name and time.time() - other.stat().st_mtime > OLD_S:
                other.unlink()


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
