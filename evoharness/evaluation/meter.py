"""What jobs use of the backbone, whoever calls it."""

import threading

from evoharness.models.backbone import Backbone, BackboneError, Reply
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend, Used, added


class MeteredBackbone:
    """A backbone that adds up what its tasks take, and what is paid for them, for each thread by itself.

    An answer from the response cache takes what it took when it was paid for, and is not paid again. A task
    that ends without an output may have been paid for all the same.
    """

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone
        self._of_thread = threading.local()

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
        """What this thread used since its last `take`."""
        used = self._used
        self._of_thread.used = Used()
        return used

    def _book(self, task: Task[Output], spend: Spend, paid: bool) -> None:
        if spend == Spend():
            return
        used = self._used
        by_role = added(used.paid, {task.role.value: spend}) if paid else used.paid
        self._of_thread.used = Used(spend=used.spend + spend, paid=by_role)

    @property
    def _used(self) -> Used:
        return getattr(self._of_thread, "used", None) or Used()
