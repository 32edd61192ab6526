"""What jobs use of the backbone, whoever calls it."""

import threading
from collections.abc import Callable

from evoharness.evaluation.outage import Watch
from evoharness.models.backbone import NOTHING, Backbone, BackboneError, Reply
from evoharness.models.caller import caller
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend, Used


class MeteredBackbone:
    """A backbone that adds up what its tasks take, and what is paid for them, for each thread by itself.

    What threads do on behalf of another one is booked on that one, see `models.caller`.
    An answer from the response cache takes what it took when it was paid for, and is not paid again. A task
    that ends without an output may have been paid for all the same, and so may answers before a good one.
    A provider that answers nobody is waited for, see `outage`.
    """

    def __init__(
        self,
        backbone: Backbone,
        outage_s: float | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`outage_s`: how long a provider that answers nobody is waited for; `note` is told of it."""
        self._backbone = backbone
        self._watch = Watch(outage_s, note)
        self._of_thread: dict[int, Used] = {}
        self._booking = threading.Lock()

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

        try:
            with paying_for(task.role.value):
                reply = self._backbone.run(task)
        except BackboneError as error:
            self._book(task, error.paid, error.spend if error.cached else NOTHING)
            raise
        self._book(task, reply.paid, reply.spend if reply.cached else NOTHING)
        return reply

    def take(self) -> Used:
        """What this thread used since its last `take`."""
        with self._booking:
            return self._of_thread.pop(caller(), Used())

    def _book(self, task: Task[Output], paid: Spend, cached: Spend = NOTHING) -> None:
        by_role = {task.role.value: paid} if paid != NOTHING else {}
        used, whose = Used(paid=by_role, cached=cached), caller()
        with self._booking:
            self._of_thread[whose] = self._of_thread.get(whose, Used()) + used
