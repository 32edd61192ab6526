"""A budget around a backbone that does not keep one."""

from pathlib import Path
from typing import Any

import pytest

from evoharness.models.backbone import Refused, Reply
from evoharness.models.budget import Budget, BudgetExceeded, Caps, PriceUnknown
from evoharness.models.budgeted import BudgetedBackbone, at_most
from evoharness.models.reasoning_tasks import Reason, Reasoning
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend

ONE = Spend(calls=1, input_tokens=5, output_tokens=7)
TASK = Reason(prompt="x" * 40)


class Scripted:
    """Gives what its script says, and remembers how often it was asked."""

    id = "scripted"

    def __init__(self, *script: Any) -> None:
        self._script = list(script)
        self.asked = 0

    def run(self, task: Task[Output]) -> Reply[Output]:  # noqa: ARG002
        """See `Backbone`."""
        self.asked += 1
        what = self._script.pop(0) if self._script else {"spend": ONE}
        if isinstance(what, Exception):
            raise what
        output: Any = Reasoning(text="")
        return Reply(output, **what)


def test_calls_are_settled_at_what_they_took() -> None:
    budget = Budget(None, Caps(calls=2))
    backbone = BudgetedBackbone(Scripted(), budget, free=True)
    assert backbone.id == "scripted"
    for _ in range(2):
        assert backbone.run(TASK).spend == ONE
    with pytest.raises(BudgetExceeded):
        backbone.run(TASK)
    assert budget.used() == ONE + ONE


def test_what_was_not_paid_is_given_back() -> None:
    script = [{"spend": ONE, "cached": True}, Refused("no"), RuntimeError("a defect")]
    budget = Budget(None, Caps(calls=1))
    backbone = BudgetedBackbone(Scripted(*script), budget, free=True)
    backbone.run(TASK)
    for error in (Refused, RuntimeError):
        with pytest.raises(error):
            backbone.run(TASK)
    assert budget.used() == Spend()
    assert budget.in_flight() == 0


def test_a_refusal_that_cost_something_is_settled() -> None:
    budget = Budget(None, Caps(calls=1))
    with pytest.raises(Refused):
        BudgetedBackbone(Scripted(Refused("no").costing(ONE)), budget, free=True).run(TASK)
    assert budget.used() == ONE


def test_no_call_is_made_when_its_price_is_not_known(tmp_path: Path) -> None:
    inner = Scripted()
    with pytest.raises(PriceUnknown):
        BudgetedBackbone(inner, Budget(tmp_path / "b.sqlite", Caps(usd=1)), free=False).run(TASK)
    assert inner.asked == 0


def test_the_most_that_a_call_may_take_has_room_for_its_answer() -> None:
    most = at_most(TASK)
    assert most.calls == 1
    assert most.input_tokens == 11
    assert most.output_tokens >= TASK.max_output_tokens
