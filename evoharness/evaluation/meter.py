"""What jobs use of the models, whoever calls them."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evoharness.evaluation.outage import Watch
from evoharness.models.backbone import NOTHING, Backbone, BackboneError, Reply
from evoharness.models.caller import caller
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend, Used

if TYPE_CHECKING:
    from evoharness.models.embedding import EmbeddingCalls
    from evoharness.retrieval.embedders.calls import Served


class Meter:
    """Adds up what is used and what is paid, for each thread by itself; see `models.caller`."""

    def __init__(self) -> None:
        self._used: dict[int, Used] = {}
        self._booking = threading.Lock()

    def book(self, role: str, paid: Spend, cached: Spend = NOTHING) -> None:
        """Add what was paid now for a role, and what an answer from the cache took when it was paid for."""
        by_role = {role: paid} if paid != NOTHING else {}
        used, whose = Used(paid=by_role, cached=cached), caller()
        with self._booking:
            self._used[whose] = self._used.get(whose, Used()) + used

    def take(self) -> Used:
        """What this thread used since its last `take`."""
        with self._booking:
            return self._used.pop(caller(), Used())


class MeteredBackbone:
    """A backbone that adds up what its tasks take, and what is paid for them.

    An answer from the response cache takes what it took when it was paid for, and is not paid again. A task
    that ends without an output may have been paid for all the same, and so may answers before a good one.
    A provider that answers nobody is waited for, see `outage`.
    """

    def __init__(
        self,
        backbone: Backbone,
        outage_s: float | None = None,
        note: Callable[[str], None] = lambda _: None,
        meter: Meter | None = None,
    ) -> None:
        """`outage_s`: how long a provider that answers nobody is waited for; `note` is told of it."""
        self._backbone = backbone
        self._watch = Watch(outage_s, note)
        self._meter = meter or Meter()

    @property
    def id(self) -> str:
        """See `Backbone`."""
        return self._backbone.id

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`; raises ProviderLost as well."""
        return self._watch.run(lambda: self._run(task), lambda: hash(repr(task)))

    @property
    def waited_s(self) -> float:
        """How long this thread has waited for a provider that answered nobody."""
        return self._watch.waited_s

    def _run(self, task: Task[Output]) -> Reply[Output]:
        from evoharness.models.budget import paying_for

        role = task.role.value
        try:
            with paying_for(role):
                reply = self._backbone.run(task)
        except BackboneError as error:
            self._meter.book(role, error.paid, error.spend if error.cached else NOTHING)
            raise
        self._meter.book(role, reply.paid, reply.spend if reply.cached else NOTHING)
        return reply

    def take(self) -> Used:
        """What this thread used since its last `take`."""
        return self._meter.take()


class MeteredCalls:
    """Calls of a hosted embedder: see `retrieval.embedders.calls.Calls`. An outage is waited for as well."""

    def __init__(
        self,
        calls: "EmbeddingCalls",
        meter: Meter,
        outage_s: float | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`outage_s`: how long a provider that answers nobody is waited for; `note` is told of it."""
        self._calls = calls
        self._meter = meter
        self._watch = Watch(outage_s, note)

    def make(self, call: "Callable[[float], Served]", texts: Sequence[str]) -> "Served":
        """See `Calls`; raises a BackboneError when there are no vectors to be had."""
        from evoharness.models.embedding import TooLong
        from evoharness.retrieval.embedders.calls import TextsTooLong

        try:
            served: Served = self._watch.run(
                lambda: self._asked(call, texts), lambda: hash(tuple(texts))
            ).output
        except TooLong as error:
            raise TextsTooLong(str(error)) from None
        return served

    @property
    def waited_s(self) -> float:
        """How long this thread has waited for a provider that answered nobody."""
        return self._watch.waited_s

    def _asked(self, call: "Callable[[float], Served]", texts: Sequence[str]) -> Reply[Any]:
        from evoharness.models.budget import paying_for
        from evoharness.models.embedding import EMBEDDER

        try:
            with paying_for(EMBEDDER):
                reply = self._calls.ask(call, texts)
        except BackboneError as error:
            self._meter.book(EMBEDDER, error.paid)
            raise
        self._meter.book(EMBEDDER, reply.paid)
        return reply
