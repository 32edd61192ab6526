"""What the meter keeps of each call of a backbone."""

import pytest

from evoharness.models.backbone import BackboneUnavailable, Refused, Reply, Unparsed
from evoharness.models.reasoning_tasks import Reason, Reasoning
from evoharness.models.task import Output, Task
from evoharness.records.outcome import APPARATUS, REFUSED
from evoharness.records.spend import Spend
from evoharness.solver.bench import SolverLimits
from evoharness.solver.meter import Meter, Stop

ONE = Spend(calls=1, input_tokens=100, output_tokens=10, frames=3)
TASK = Reason(prompt="Sum up.", evidence=())


class Scripted:
    """A backbone that gives what it was told to give."""

    id = "scripted"

    def __init__(self, *outcomes: Reply[Reasoning] | Exception) -> None:
        self._outcomes = list(outcomes)

    def run(self, task: Task[Output]) -> Reply[Output]:  # noqa: ARG002
        """The next of them."""
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome  # type: ignore[return-value]


def told(*notes: str) -> Reply[Reasoning]:
    return Reply(Reasoning(text="x"), ONE, notes=notes, wasted=ONE)


def test_what_a_backbone_had_to_do_otherwise_stands_in_the_step_of_that_call() -> None:
    meter = Meter(
        Scripted(told("3 of 9 frames are shown"), told("3 of 9 frames are shown"), told()), SolverLimits()
    )
    meter.traced("look", {}, lambda: [meter.ask(TASK).text, meter.ask(TASK).text])
    meter.traced("reason", {}, lambda: meter.ask(TASK).text)
    assert [step.notes for step in meter.steps] == [("3 of 9 frames are shown",), ()]


def test_an_answer_takes_what_it_takes_without_the_attempts_in_vain() -> None:
    meter = Meter(Scripted(told(), told()), SolverLimits())
    meter.ask(TASK)
    meter.ask(TASK)
    assert meter.spend == ONE + ONE


def test_what_ends_without_an_answer_has_its_price_all_the_same() -> None:
    for error, status in ((Refused("no"), REFUSED), (BackboneUnavailable("down"), APPARATUS)):
        meter = Meter(Scripted(error.costing(ONE)), SolverLimits())
        with pytest.raises(Stop) as stop:
            meter.ask(TASK)
        assert stop.value.status == status
        assert meter.spend == (ONE if status == REFUSED else Spend())
    meter = Meter(Scripted(Unparsed("odd").costing(ONE)), SolverLimits())
    with pytest.raises(Unparsed):
        meter.ask(TASK)
    assert meter.spend == ONE
