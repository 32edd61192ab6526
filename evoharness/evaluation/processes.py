"""Jobs in several worker processes.

Each worker is a spawned process with its own workbench and its own pipe. The parent hands out one item
at a time and waits for whichever worker answers or dies first: nothing is shared, so a worker that is
killed, by the kernel or by a crash in a decoder, takes one item with it and is replaced.
"""

import os
import pickle
import signal
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context, resource_tracker
from multiprocessing.context import SpawnProcess
from typing import Any

from evoharness.evaluation.executor import Item, Result, WorkerLost
from evoharness.evaluation.interrupts import Interrupted, Interruptible
from evoharness.evaluation.workbench import Workbench, WorkbenchConfig
from evoharness.evaluation.worker import ONE_THREAD, work
from evoharness.models.budget import CannotPay
from evoharness.records.spend import Used

SECONDS_TO_END = 5.0
PATIENCE_S = 3600.0
NOTHING: Hashable = object()


@dataclass(eq=False)
class _Worker:
    process: SpawnProcess
    pipe: "connection.Connection[Any, Any]"
    key: Hashable = NOTHING
    """Key of the item it does, or did last."""
    index: int | None = None
    """Index of the item in flight."""
    since: float = 0.0
    """When that item was handed out."""


class ProcessExecutor:
    """Runs jobs in `workers` processes; they are started when first needed and kept between calls."""

    def __init__(
        self, config: WorkbenchConfig, workers: int | None = None, patience_s: float = PATIENCE_S
    ) -> None:
        """`workers`: as many as there are CPUs by default. `patience_s`: a worker that takes longer for an
        item counts as lost; only a decoder or a driver that hangs should ever take that long."""
        self.config = config
        self.patience_s = patience_s
        self.workers = workers or os.cpu_count() or 1
        self.used = Used()
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
        unpaid: CannotPay | None = None
        with Interruptible() as interrupt:
            try:
                while True:
                    if not interrupt.asked and unpaid is None:
                        self._hand_out(job, items, keys, pending)
                    busy = [worker for worker in self._crew if worker.index is not None]
                    if not busy:
                        break
                    for worker in self._ready(busy):
                        index = worker.index
                        assert index is not None
                        try:
                            succeeded, value, used = self._receive(worker)
                        except WorkerLost as lost:
                            deaths[index] = deaths.get(index, 0) + 1
                            if deaths[index] < 2:
                                pending.insert(0, index)
                            elif on_lost is None:
                                raise
                            else:
                                yield index, on_lost(items[index], lost)
                            continue
                        worker.index = None
                        self.used += used
                        if not succeeded and not isinstance(value, CannotPay):
                            raise value
                        if not succeeded:
                            # What is in flight has been paid for, or will be: it is waited for.
                            unpaid = unpaid or value
                            continue
                        yield index, value
            finally:
                # Left early (an error, or a consumer that stopped): answers still to come belong to nobody.
                for worker in [worker for worker in self._crew if worker.index is not None]:
                    self._bury(worker)
            if unpaid is not None:
                raise unpaid
            if interrupt.asked:
                raise Interrupted

    def _hand_out(
        self, job: Callable[..., Any], items: Sequence[Any], keys: list[Hashable], pending: list[int]
    ) -> None:
        """Give every idle worker an item, starting workers as long as there are items for them."""
        busy = sum(worker.index is not None for worker in self._crew)
        while len(self._crew) < min(self.workers, busy + len(pending)):
            self._start()
        while pending and (idle := [worker for worker in self._crew if worker.index is None]):
            worker, index = self._match(idle, keys, pending)
            pending.remove(index)
            worker.key, worker.index, worker.since = keys[index], index, time.monotonic()
            with suppress(OSError):  # a worker that died idle is found out, and replaced, by waiting for it
                worker.pipe.send(pickle.dumps((job, items[index])))

    def _match(self, idle: list[_Worker], keys: list[Hashable], pending: list[int]) -> tuple[_Worker, int]:
        """The best pair: a worker that knows the key, else a key that no other worker has, else the first."""
        for worker in idle:
            if worker.key is not NOTHING:
                for index in pending:
                    if keys[index] == worker.key:
                        return worker, index
        taken = {worker.key for worker in self._crew if worker.index is not None}
        for index in pending:
            if keys[index] not in taken:
                return idle[0], index
        return idle[0], pending[0]

    def _ready(self, busy: Sequence[_Worker]) -> list[_Worker]:
        """Wait for workers that have answered or died, or whose time is up."""
        first = min(worker.since for worker in busy) + self.patience_s
        answered = connection.wait([worker.pipe for worker in busy], max(0.0, first - time.monotonic()))
        if answered:
            return [worker for worker in busy if worker.pipe in answered]
        return [worker for worker in busy if time.monotonic() - worker.since >= self.patience_s]

    def _receive(self, worker: _Worker) -> tuple[bool, Any, Used]:
        """What a ready worker answered: whether the job succeeded, its result or error, and what it used."""
        try:
            if not worker.pipe.poll():
                self._bury(worker)
                raise WorkerLost(f"two workers took longer than {self.patience_s:g} s for the same item")
            answer: tuple[bool, Any, Used] = pickle.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            code = self._bury(worker)
            raise WorkerLost(f"a worker died (exit code {code}) twice on the same item") from None
        return answer

    def _start(self) -> None:
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=work, args=(there, self.config), name="evoharness-worker")
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
