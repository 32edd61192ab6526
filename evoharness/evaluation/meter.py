"""What jobs use of the backbone, whoever calls it."""

import threading

from evoharness.models.backbone import Backbone, Reply
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend


class MeteredBackbone:
    """A backbone that adds up what its tasks cost; may be called from several threads."""

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone
        self._lock = threading.Lock()
        self._spend = Spend()

    @property
    def id(self) -> str:
        """See `Backbone`."""
        return self._backbone.id

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        reply = self._backbone.run(task)
        with self._lock:
            self._spend += reply.spend
        return reply

    def take(self) -> Spend:
        """What was used since the last `take`."""
        with self._lock:
            spend, self._spend = self._spend, Spend()
        return spend
