"""Where jobs run: a protocol, and the one that runs them in this process."""

import traceback
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from evoharness.errors import StoppedEarly, UserError
from evoharness.evaluation.interrupts import Interrupted, Interruptible
from evoharness.evaluation.workbench import Workbench, WorkbenchConfig
from evoharness.models.backbone import CannotGoOn
from evoharness.records.spend import Used

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerLost(RuntimeError):
    """A worker died while it did this item, and again when another one tried."""


class JobFailed(RuntimeError):
    """A job raised an error that cannot be sent between processes; the message holds its traceback."""


class ItemFailed(WorkerLost):
    """The job raised an error that nobody foresaw when it did this item, and again the second time."""


class TooManyFailed(CannotGoOn):
    """So many items came to nothing that it is not about the items."""


LEAST_FAILED = 3
MOST_FAILED = 0.05


def check_failed(failed: int, of: int, what: str, last: str) -> None:
    """Raise TooManyFailed when so many came to nothing that what is left would say nothing either."""
    if failed >= LEAST_FAILED and failed > MOST_FAILED * of:
        raise TooManyFailed(f"{failed} of {of} {what} came to nothing, and again when tried again: {last}")


def place_of(error: BaseException) -> str:
    """An error in one line, with the file and line of this program that it came from."""
    steps = traceback.extract_tb(error.__traceback__)
    own = [step for step in steps if "evoharness" in Path(step.filename).parts] or steps
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    if not own:
        return said
    parts = Path(own[-1].filename).parts
    first = max((n for n, part in enumerate(parts) if part == "evoharness"), default=len(parts) - 1)
    return f"{said} ({'/'.join(parts[first:])}, line {own[-1].lineno})"


class Failures:
    """Items of one `map` whose job raised what nobody foresaw."""

    def __init__(self, items: int, note: Callable[[str], None]) -> None:
        self._items = items
        self._note = note
        self._times: dict[int, int] = {}
        self._given_up = 0

    def again(self, index: int, place: str) -> ItemFailed | None:
        """None when the item is to be tried again; TooManyFailed when that has been no use too often."""
        self._times[index] = self._times.get(index, 0) + 1
        if self._times[index] < 2:
            self._note(f"an item failed and is tried again: {place}")
            return None
        self._given_up += 1
        check_failed(self._given_up, self._items, "items", place)
        return ItemFailed(place)


class Executor(Protocol):
    """Runs a job on many items, each run with a workbench of its worker."""

    config: WorkbenchConfig
    """What the workers build their workbenches from."""
    workers: int
    """How many workers there may be."""
    used: Used
    """What all finished jobs have used of the backbone so far, and what of it was paid for."""
    on_note: Callable[[str], None]
    """Told, in one line, what happens on the way: an outage that is waited for, an item that fails."""
    on_told: Callable[[Any], None]
    """Told what jobs tell of themselves on the way, such as how far they are."""

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
        worker twice, or whose job raised twice what nobody foresaw; without it `WorkerLost`, or the error of
        the job, is raised here, and so is a UserError, and TooManyFailed when that happens to more than a few
        items. Before `CannotGoOn` is raised, no new item is begun, and those in flight are yielded.
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
        self.on_note: Callable[[str], None] = lambda _: None
        self.on_told: Callable[[Any], None] = lambda _: None
        self._bench: Workbench | None = None

    @property
    def bench(self) -> Workbench:
        """The workbench that all jobs share."""
        if self._bench is None:
            self._bench = self.config.build()
            self._bench.note = lambda said: self.on_note(said)
            self._bench.tell = lambda what: self.on_told(what)
        return self._bench

    def map(
        self,
        job: Callable[[Workbench, Item], Result],
        items: Sequence[Item],
        *,
        key: Callable[[Item], Hashable] | None = None,
        on_lost: Callable[[Item, WorkerLost], Result] | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """See `Executor.map`; there is no worker to lose."""
        failures = Failures(len(items), lambda said: self.on_note(said))
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
                self.bench.stopping = lambda: interrupt.asked
                try:
                    result = self._done(job, items[index], index, failures, on_lost)
                except StoppedEarly:
                    raise Interrupted from None
                yield index, result
            if interrupt.asked:
                raise Interrupted

    def _done(
        self,
        job: Callable[[Workbench, Item], Result],
        item: Item,
        index: int,
        failures: Failures,
        on_lost: Callable[[Item, WorkerLost], Result] | None,
    ) -> Result:
        while True:
            bench = self.bench
            try:
                return job(bench, item)
            except CannotGoOn:
                self.close()  # another bench may find that all is well again
                raise
            except (UserError, StoppedEarly):
                raise
            except Exception as error:
                if on_lost is None:
                    raise
                if lost := failures.again(index, place_of(error)):
                    return on_lost(item, lost)
            finally:
                self.used += bench.take_used()

    def close(self) -> None:
        """Let go of the workbench."""
        if self._bench is not None:
            self._bench.close()
            self._bench = None
