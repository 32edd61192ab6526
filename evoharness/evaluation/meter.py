"""What jobs use of the backbone, whoever calls it."""

import threading

from evoharness.models.backbone import Backbone, BackboneError, Reply
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend, Used, added


class MeteredBackbone:
    """A backbone that adds up what its tasks take, and what is paid for them; for any number of threads.

    An answer from the response cache takes what it took when it was paid for, and is not paid again. A task
    that ends without an output may have been paid for all the same.
    """

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone
        self._lock = threading.Lock()
        self._used = Used()

    @property
    def id(self) -> str:
        """See `Backbone`."""
        return self._backbone.id

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        try:
            reply = self._backbone.run(task)
        except BackboneError as error:
            self._book(task, error.spend, paid=True)
            raise
        self._book(task, reply.spend, paid=not reply.cached)
        return reply

    def take(self) -> Used:
        """What was used since the last `take`."""
        with self._lock:
            used, self._used = self._used, Used()
        return used

    def _book(self, task: Task[Output], spend: Spend, paid: bool) -> None:
        if spend == Spend():
            return
        with self._lock:
            by_role = added(self._used.paid, {task.role.value: spend}) if paid else self._used.paid
            self._used = Used(spend=self._used.spend + spend, paid=by_role)
