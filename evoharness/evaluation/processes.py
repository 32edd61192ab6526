"""Jobs in several worker processes.

Each worker is a spawned process with its own workbench and its own pipe. The parent hands out as many items
as a worker does at a time and waits for whichever worker answers or dies first: nothing is shared, so a
worker that is killed, by the kernel or by a crash in a decoder, takes its items with it and is replaced.
Items that were in flight in a worker that died are tried again one by one, to find the one that kills.
"""

import os
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, get_context, resource_tracker
from multiprocessing.context import SpawnProcess
from typing import Any

from evoharness.errors import StoppedEarly, UserError
from evoharness.evaluation.executor import Failures, Item, Result, WorkerLost
from evoharness.evaluation.interrupts import Interrupted, Interruptible
from evoharness.evaluation.outage import WAITING
from evoharness.evaluation.workbench import Workbench, WorkbenchConfig
from evoharness.evaluation.worker import NOTE, ONE_THREAD, READY, STOP, TOLD, work
from evoharness.models.backbone import CannotGoOn
from evoharness.records.spend import Used

SECONDS_TO_END = 5.0
PATIENCE_S = 3600.0
PATIENCE_AT_START_S = 120.0
"""The least time that a worker has for its imports, however short an item may take."""
LOOK_UP_S = 1.0
"""How long Ctrl-C may go unnoticed while no worker says anything."""
NOTHING: Hashable = object()


@dataclass(eq=False)
class _Worker:
    process: SpawnProcess
    pipe: "connection.Connection[Any, Any]"
    flying: dict[int, float] = field(default_factory=dict)
    """Index of each item in flight, and when it was handed out."""
    keys: list[Hashable] = field(default_factory=list)
    """Keys of the items in flight, or of the last one that was."""
    ready: bool = False
    """It has begun to take up items."""
    alone: bool = False
    """The item in flight was in a worker that died: it gets no company."""
    waiting: bool = False
    """A provider answers nobody: what is in flight may take very long."""
    stopping: bool = False
    """It knows that what can be taken up again is to end."""

    def stop(self) -> None:
        """Let it know."""
        self.stopping = True
        if self.process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, STOP)


class _Lost(WorkerLost):
    """Items of a worker that is no more."""

    def __init__(
        self, message: str, guilty: list[int], suspected: Sequence[int] = (), others: Sequence[int] = ()
    ) -> None:
        super().__init__(message)
        self.guilty = guilty
        """Items that were the reason."""
        self.suspected = suspected
        """Items of which one was the reason."""
        self.others = others
        """Items that were not."""


class ProcessExecutor:
    """Runs jobs in `workers` processes; they are started when first needed and kept between calls."""

    def __init__(
        self,
        config: WorkbenchConfig,
        workers: int | None = None,
        patience_s: float = PATIENCE_S,
        in_flight: int = 1,
    ) -> None:
        """`workers`: as many as there are CPUs by default. `patience_s`: a worker that takes longer for an
        item counts as lost; only a decoder or a driver that hangs should ever take that long. `in_flight`:
        items that each worker does at the same time; more than one only pays when jobs wait for a network.
        """
        self.config = config
        self.in_flight = in_flight
        # A thread that is done need not wait until the parent has heard of it and handed out another item.
        self._most = in_flight + (in_flight + 7) // 8 if in_flight > 1 else 1
        self.patience_s = patience_s
        self.workers = workers or os.cpu_count() or 1
        self.used = Used()
        self.on_note: Callable[[str], None] = lambda _: None
        self.on_told: Callable[[Any], None] = lambda _: None
        self._noted = ""
        self._crew: list[_Worker] = []
        # Registered after multiprocessing's own exit hook, hence run before it: that one would wait for
        # workers that nobody told to end.
        self._finalizer = weakref.finalize(self, _end, self._crew)

    def map(
        self,
        job: Callable[[Workbench, Item], Result],
        items: Sequence[Item],
        *,
        key: Callable[[Item], Hashable] | None = None,
        on_lost: Callable[[Item, WorkerLost], Result] | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """See `Executor.map`."""
        keys = [key(item) if key else NOTHING for item in items]
        pending = list(range(len(items)))
        deaths: dict[int, int] = {}
        failures = Failures(len(items), lambda said: self.on_note(said))
        ended: CannotGoOn | None = None
        with Interruptible() as interrupt:
            try:
                while True:
                    if not interrupt.asked and ended is None:
                        self._hand_out(job, items, keys, pending, deaths)
                    if interrupt.asked:
                        for worker in [worker for worker in self._crew if worker.waiting]:
                            self._bury(worker)
                        for worker in [worker for worker in self._crew if not worker.stopping]:
                            worker.stop()
                    busy = [worker for worker in self._crew if worker.flying]
                    if not busy:
                        break
                    for worker in self._ready(busy):
                        try:
                            index, succeeded, value, used = self._receive(worker)
                        except _Lost as lost:
                            deaths.update({index: deaths.get(index, 0) for index in lost.suspected})
                            pending[:0] = [*lost.suspected, *lost.others]
                            for index in lost.guilty:
                                deaths[index] = deaths.get(index, 0) + 1
                                if deaths[index] < 2:
                                    pending.insert(0, index)
                                elif on_lost is None:
                                    raise
                                else:
                                    yield index, on_lost(items[index], lost)
                            continue
                        if index == NOTE:
                            worker.waiting = WAITING in value
                            if value != self._noted:  # workers meet the same outage
                                self.on_note(value)
                            self._noted = value
                            continue
                        if index in (READY, TOLD):
                            worker.flying = dict.fromkeys(worker.flying, time.monotonic())  # it is alive
                            worker.ready = True
                            if index == TOLD:
                                self.on_told(value)
                            continue
                        self._land(worker, index, keys[index])
                        self.used += used
                        if succeeded:
                            yield index, value
                        elif interrupt.asked and isinstance(value, StoppedEarly):
                            continue
                        elif isinstance(value, CannotGoOn):
                            # What is in flight has been paid for, or will be: it is waited for.
                            ended = ended or value
                        elif on_lost is None or isinstance(value, UserError):
                            raise value
                        elif failed := failures.again(index, value.place):
                            yield index, on_lost(items[index], failed)
                        else:
                            pending.insert(0, index)
            finally:
                # Left early (an error, or a consumer that stopped): answers still to come belong to nobody.
                for worker in [worker for worker in self._crew if worker.flying]:
                    self._bury(worker)
            if ended is not None:
                _end(self._crew)  # new workers may find that all is well again
                raise ended
            if interrupt.asked:
                _end(self._crew)  # those there are would stop early for ever
                raise Interrupted

    def _hand_out(
        self,
        job: Callable[..., Any],
        items: Sequence[Any],
        keys: list[Hashable],
        pending: list[int],
        deaths: Mapping[int, int],
    ) -> None:
        """Give workers as many items as they do at a time, starting workers as long as there are items."""
        flying = sum(len(worker.flying) for worker in self._crew)
        while len(self._crew) < min(self.workers, flying + len(pending)):
            self._start()
        while pending and (pair := self._match(keys, pending, deaths)):
            worker, index = pair
            pending.remove(index)
            worker.keys = [*(worker.keys if worker.flying else ()), keys[index]]
            worker.flying[index], worker.alone = time.monotonic(), index in deaths
            with suppress(OSError):  # a worker that died idle is found out, and replaced, by waiting for it
                worker.pipe.send(pickle.dumps((index, job, items[index])))

    def _match(
        self, keys: list[Hashable], pending: list[int], deaths: Mapping[int, int]
    ) -> tuple[_Worker, int] | None:
        """The best pair: a worker that knows the key, else a key that no other worker has, else the first.

        Workers with fewer items come first. None when no worker can take any of the items.
        """
        free = [w for w in self._crew if len(w.flying) < self._most and not w.alone]
        if not free:
            return None
        free.sort(key=lambda worker: len(worker.flying))
        company = [index for index in pending if index not in deaths]
        for worker in free:
            known = {key for key in worker.keys if key is not NOTHING}
            for index in (company if worker.flying else pending) if known else ():
                if keys[index] in known:
                    return worker, index
        first, fitting = free[0], company if free[0].flying else pending
        taken = {key for worker in self._crew if worker.flying for key in worker.keys}
        for index in fitting:
            if keys[index] not in taken:
                return first, index
        return (first, fitting[0]) if fitting else None

    @staticmethod
    def _land(worker: _Worker, index: int, key: Hashable) -> None:
        """An item has come back."""
        del worker.flying[index]
        worker.alone = False
        if worker.flying:
            worker.keys.remove(key)
        else:
            worker.keys = [key]

    def _ready(self, busy: Sequence[_Worker]) -> list[_Worker]:
        """Wait for workers that have answered or died, or whose time is up."""
        first = min(min(worker.flying.values()) + self._patience(worker) for worker in busy)
        left = max(0.0, min(first - time.monotonic(), LOOK_UP_S))
        answered = connection.wait([worker.pipe for worker in busy], left)
        if answered:
            return [worker for worker in busy if worker.pipe in answered]
        return [worker for worker in busy if self._late(worker)]

    def _patience(self, worker: _Worker) -> float:
        return self.patience_s if worker.ready else max(self.patience_s, PATIENCE_AT_START_S)

    def _late(self, worker: _Worker) -> list[int]:
        before = time.monotonic() - self._patience(worker)
        return [n for n, since in worker.flying.items() if since <= before]

    def _receive(self, worker: _Worker) -> tuple[int, bool, Any, Used]:
        """What a ready worker answered: for which item, whether the job succeeded, its result or error, and
        what it used."""
        try:
            if not worker.pipe.poll():
                late = self._late(worker)
                self._bury(worker)
                raise _Lost(
                    f"two workers took longer than {self.patience_s:g} s for the same item",
                    guilty=late,
                    others=[index for index in worker.flying if index not in late],
                )
            answer: tuple[int, bool, Any, Used] = pickle.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            code = self._bury(worker)
            said = f"a worker died (exit code {code}) twice on the same item"
            lost = list(worker.flying)
            raise (_Lost(said, lost) if len(lost) == 1 else _Lost(said, [], suspected=lost)) from None
        return answer

    def _start(self) -> None:
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(
            target=work, args=(there, self.config, self.in_flight), name="evoharness-worker"
        )
        with _single_threaded(), _interrupts_blocked():
            process.start()
        there.close()
        self._crew.append(_Worker(process, here))

    def _bury(self, worker: _Worker) -> int | None:
        """Remove a worker that died or must die; returns its exit code."""
        self._crew.remove(worker)
        worker.pipe.close()
        worker.process.join(0.2)
        if worker.process.is_alive():
            worker.process.kill()
        worker.process.join()
        return worker.process.exitcode

    def close(self) -> None:
        """End the workers; they are started again when needed."""
        _end(self._crew)


def _end(crew: list[_Worker]) -> None:
    for worker in crew:
        worker.pipe.close()
    for worker in crew:
        worker.process.join(SECONDS_TO_END)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
    crew.clear()


@contextmanager
def _single_threaded() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while a worker starts: it inherits the block and lifts it once it ignores the signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    resource_tracker.ensure_running()  # else starting it would lift the block too early
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
