"""Where jobs run: a protocol, and the one that runs them in this process."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Protocol, TypeVar

from evoharness.evaluation.interrupts import Interrupted, Interruptible
from evoharness.evaluation.workbench import Workbench, WorkbenchConfig
from evoharness.records.spend import Used

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerLost(RuntimeError):
    """A worker died while it did this item, and again when another one tried."""


class JobFailed(RuntimeError):
    """A job raised an error that cannot be sent between processes; the message holds its traceback."""


class Executor(Protocol):
    """Runs a job on many items, each run with a workbench of its worker."""

    config: WorkbenchConfig
    """What the workers build their workbenches from."""
    workers: int
    """How many workers there may be."""
    used: Used
    """What all finished jobs have used of the backbone so far, and what of it was paid for."""

    def map(
        self,
        job: Callable[[Workbench, Item], Result],
        items: Sequence[Item],
        *,
        key: Callable[[Item], Hashable] | None = None,
        on_lost: Callable[[Item, WorkerLost], Result] | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """Yield (index of the item, result) as items are done.

        `job` is a function of a module, not a lambda or a method; items and results can be pickled.
        Items with the same `key` go to the same worker, one after the other, as far as possible: what it
        decoded or loaded for one serves the next. `on_lost` gives the result of an item that killed its
        worker twice; without it `WorkerLost` is raised. An error raised by the job is raised here;
        before `CannotPay` is, no new item is begun, and those in flight are yielded.
        Ctrl-C: no new item is begun, those in flight are yielded, then `Interrupted` is raised.
        """
        ...

    def close(self) -> None:
        """End the workers; the executor can be used again afterwards."""
        ...


class InlineExecutor:
    """One item after the other, in this process: for tests, debugging and single questions."""

    workers = 1

    def __init__(self, config: WorkbenchConfig) -> None:
        self.config = config
        self.used = Used()
        self._bench: Workbench | None = None

    @property
    def bench(self) -> Workbench:
        """The workbench that all jobs share."""
        if self._bench is None:
            self._bench = self.config.build()
        return self._bench

    def map(
        self,
        job: Callable[[Workbench, Item], Result],
        items: Sequence[Item],
        *,
        key: Callable[[Item], Hashable] | None = None,
        on_lost: Callable[[Item, WorkerLost], Result] | None = None,  # noqa: ARG002
    ) -> Iterator[tuple[int, Result]]:
        """See `Executor.map`; there is no worker to lose."""
        order = list(range(len(items)))
        if key is not None:
            first_seen: dict[Hashable, int] = {}
            for index, item in enumerate(items):
                first_seen.setdefault(key(item), index)
            order.sort(key=lambda index: first_seen[key(items[index])])
        with Interruptible() as interrupt:
            for index in order:
                if interrupt.asked:
                    raise Interrupted
                try:
                    result = job(self.bench, items[index])
                finally:
                    self.used += self.bench.take_used()
                yield index, result
            if interrupt.asked:
                raise Interrupted

    def close(self) -> None:
        """Let go of the workbench."""
        if self._bench is not None:
            self._bench.close()
            self._bench = None
