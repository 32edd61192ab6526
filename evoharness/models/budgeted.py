"""A budget for backbones that do not keep one themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evoharness.models.backbone import Backbone, BackboneError, Reply
from evoharness.models.budget import Budget
from evoharness.models.sizes import CHARACTERS_A_TOKEN, characters_of, frames_of
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend

ROOM = 2.0
"""How much more than its limit of tokens an answer may take where nobody counts while it is written."""


class BudgetedBackbone:
    """A backbone whose calls are reserved before they are made and settled afterwards."""

    def __init__(self, backbone: Backbone, budget: Budget, free: bool) -> None:
        """`free`: its calls cost no money; else their price is not known beforehand."""
        self._backbone = backbone
        self._budget = budget
        self._price = 0.0 if free else None

    @property
    def id(self) -> str:
        """See `Backbone`."""
        return self._backbone.id

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`; raises `CannotPay` as well, before the call."""
        with self._reserved(task) as paid:
            reply = self._backbone.run(task)
            paid.append(reply.paid)
        return reply

    @contextmanager
    def _reserved(self, task: Task[Any]) -> Iterator[list[Spend]]:
        """Room for the call; what is put into the list is settled, and an empty one is refunded."""
        reservation = self._budget.reserve(at_most(task).model_copy(update={"cost_usd": self._price}))
        paid: list[Spend] = []
        try:
            yield paid
        except BackboneError as error:
            paid.append(error.paid)
            raise
        finally:
            spend = sum(paid, Spend())
            if spend == Spend():
                self._budget.refund(reservation)
            else:
                self._budget.settle(reservation, spend)


def at_most(task: Task[Any]) -> Spend:
    """The most that one call for a task may take, its price aside."""
    frames = frames_of(task)
    return Spend(
        calls=1,
        input_tokens=sum(frame.tokens for frame in frames) + characters_of(task) // CHARACTERS_A_TOKEN + 1,
        output_tokens=int(ROOM * task.max_output_tokens),
        frames=len(frames),
    )
