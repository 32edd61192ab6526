"""What is paid is booked by role, and apart from what the response cache answers."""

import threading
from typing import Any

import pytest

from evoharness.evaluation.meter import MeteredBackbone
from evoharness.models.backbone import Refused, Reply
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer, Reason, Reasoning
from evoharness.models.task import Output, Role, Task
from evoharness.records.spend import Spend, Used, added, beyond, total

ONE = Spend(calls=1, input_tokens=10, output_tokens=2, cost_usd=0.5)
TWICE = ONE + ONE


class Scripted:
    """Gives what its script says, whatever is asked."""

    id = "scripted"

    def __init__(self, *script: Any) -> None:
        self._script = list(script)

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        what = self._script.pop(0) if self._script else {"spend": ONE}
        if isinstance(what, Exception):
            raise what
        output: Any = Reasoning(text="") if isinstance(task, Reason) else ChosenAnswer(choice=0)
        return Reply(output, **what)


def question(role: Role = Role.SOLVER) -> AnswerQuestion:
    return AnswerQuestion(text="?", options=("a", "b"), answered_by=role)


def test_roles_have_books_of_their_own() -> None:
    metered = MeteredBackbone(Scripted())
    metered.run(question())
    metered.run(question(Role.BLIND_ANSWERER))
    metered.run(question())
    assert metered.take() == Used(paid={"blind_answerer": ONE, "solver": TWICE})
    assert metered.take() == Used()


def test_an_answer_from_the_cache_is_used_and_not_paid() -> None:
    metered = MeteredBackbone(Scripted({"spend": ONE, "cached": True}, {"spend": ONE}))
    metered.run(question())
    metered.run(question())
    used = metered.take()
    assert used == Used(paid={"solver": ONE}, cached=ONE)
    assert used.spend == TWICE


def test_what_was_wasted_was_paid() -> None:
    metered = MeteredBackbone(Scripted({"spend": ONE, "wasted": ONE}))
    metered.run(question())
    assert metered.take().paid == {"solver": TWICE}


def test_a_refusal_that_was_paid_for_is_booked() -> None:
    metered = MeteredBackbone(Scripted(Refused("no").costing(ONE), Refused("not even looked at")))
    for _ in range(2):
        with pytest.raises(Refused):
            metered.run(question())
    assert metered.take() == Used(paid={"solver": ONE})


def test_a_price_that_is_not_known_stays_unknown() -> None:
    metered = MeteredBackbone(Scripted({"spend": ONE}, {"spend": Spend(calls=1, cost_usd=None)}))
    metered.run(question())
    metered.run(Reason(prompt="?"))
    used = metered.take()
    assert total(used.paid).cost_usd is None
    assert used.spend.cost_usd is None


def test_each_thread_takes_what_it_used() -> None:
    metered = MeteredBackbone(Scripted())
    metered.run(question())
    taken: list[Used] = []

    def other() -> None:
        metered.run(Reason(prompt="?"))
        metered.run(Reason(prompt="?"))
        taken.append(metered.take())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert taken == [Used(paid={"solver": TWICE})]
    assert metered.take() == Used(paid={"solver": ONE})


def test_books_by_role_add_up_and_are_told_apart() -> None:
    before = {"solver": ONE, "judge": ONE}
    now = added(before, {"solver": ONE, "describer": TWICE})
    assert now == {"describer": TWICE, "judge": ONE, "solver": TWICE}
    assert beyond(now, before) == {"describer": TWICE, "solver": ONE}
    assert total(now) == TWICE + TWICE + ONE
