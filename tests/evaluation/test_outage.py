"""A provider that answers nobody: waited for, then given up; and one that stumbles over a single call."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from evoharness.evaluation import ProviderLost, outage
from evoharness.evaluation.meter import MeteredBackbone
from evoharness.models.backbone import BackboneUnavailable, MissingKey, Refused, Reply, Unreachable
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend

ONE = Spend(calls=1)


class Provider:
    """Fails as long as it is down, and those calls whose text is bad."""

    id = "provider"

    def __init__(self, down: Exception | None = None) -> None:
        self.down = down
        self.asked: list[str] = []

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        assert isinstance(task, AnswerQuestion)
        self.asked.append(task.text)
        if self.down is not None and task.text != "cached":
            raise self.down
        if task.text == "bad":
            time.sleep(0.05)
            raise BackboneUnavailable("500")
        if task.text in ("refused", "good"):
            time.sleep(0.15)
        if task.text == "refused":
            raise Refused("no")
        output: Any = ChosenAnswer(choice=0)
        return Reply(output, ONE, cached=task.text == "cached")


def question(text: str) -> AnswerQuestion:
    return AnswerQuestion(text=text, options=("a", "b"))


def side_by_side(work: Callable[[str], Any], texts: list[str]) -> list[Any]:
    """What each call gave, or the error that it raised."""

    def one(text: str) -> Any:
        try:
            return work(text)
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(texts)) as pool:
        return list(pool.map(one, texts))


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "CONFIRM_S", 0.2)


def test_an_outage_costs_time_and_nothing_else() -> None:
    provider = Provider(BackboneUnavailable("503"))
    told: list[str] = []
    backbone = MeteredBackbone(provider, 20.0, told.append)
    threading.Timer(0.8, lambda: setattr(provider, "down", None)).start()
    replies = side_by_side(lambda text: backbone.run(question(text)), [f"question {n}" for n in range(8)])
    assert [reply.output.choice for reply in replies] == [0] * 8
    assert told == [
        "503: waiting for it, for 20 s at most (executor.outage_s= sets how long)",
        "the provider answers again",
    ]
    assert len(provider.asked) < 8 * 4, "one at a time tries while nobody is answered"


def test_after_its_patience_everybody_ends_with_the_same_line() -> None:
    backbone = MeteredBackbone(Provider(BackboneUnavailable("503")), 0.8)
    began = time.monotonic()
    errors = side_by_side(lambda text: backbone.run(question(text)), [f"question {n}" for n in range(8)])
    assert 0.7 < time.monotonic() - began < 5
    assert all(isinstance(error, ProviderLost) for error in errors)
    assert {str(error) for error in errors} == {"503; it was waited for 1 s"}
    with pytest.raises(ProviderLost):
        backbone.run(question("another"))


def test_a_call_that_fails_among_others_is_its_own_affair() -> None:
    provider = Provider()
    told: list[str] = []
    backbone = MeteredBackbone(provider, 20.0, told.append)
    errors = side_by_side(lambda text: backbone.run(question(text)), ["bad", "good", "fine"])
    assert isinstance(errors[0], BackboneUnavailable)
    assert not any(isinstance(each, Exception) for each in errors[1:])
    assert provider.asked.count("bad") == outage.TRIES
    assert told == []


def test_one_call_over_and_over_is_no_outage() -> None:
    backbone = MeteredBackbone(Provider(), 0.6)
    took = []
    for _ in range(4):
        began = time.monotonic()
        with pytest.raises(BackboneUnavailable):
            backbone.run(question("bad"))
        took.append(time.monotonic() - began)
    assert took[0] > 0.5, "alone, it may as well be an outage"
    assert max(took[1:]) < 0.5, "it is waited for once"
    assert backbone.run(question("good")).output.choice == 0


def test_a_single_call_is_waited_for_when_nothing_else_is_asked() -> None:
    provider = Provider(BackboneUnavailable("503"))
    backbone = MeteredBackbone(provider, 20.0)
    threading.Timer(0.8, lambda: setattr(provider, "down", None)).start()
    assert backbone.run(question("only")).output.choice == 0


def test_a_provider_is_given_up_after_two_single_calls_in_vain() -> None:
    backbone = MeteredBackbone(Provider(BackboneUnavailable("503")), 0.5)
    with pytest.raises(BackboneUnavailable):
        backbone.run(question("first"))
    with pytest.raises(ProviderLost):
        backbone.run(question("second"))


def test_calls_that_are_turned_down_for_good_are_not_waited_for() -> None:
    down = BackboneUnavailable("400")
    down.lasting = True
    backbone = MeteredBackbone(Provider(down), 20.0)
    began = time.monotonic()
    for n in range(outage.MANY_LASTING - 1):
        with pytest.raises(BackboneUnavailable):
            backbone.run(question(f"question {n}"))
    with pytest.raises(ProviderLost, match="8 calls in a row were turned down: 400"):
        backbone.run(question("another"))
    assert time.monotonic() - began < 1


def test_a_refusal_is_an_answer_and_the_cache_is_none() -> None:
    backbone = MeteredBackbone(Provider(BackboneUnavailable("503")), 0.6)
    *lost, kept = side_by_side(lambda text: backbone.run(question(text)), ["1", "2", "3", "4", "cached"])
    assert all(isinstance(error, ProviderLost) for error in lost)
    assert kept.cached
    backbone = MeteredBackbone(Provider(), 20.0)
    errors = side_by_side(lambda text: backbone.run(question(text)), ["bad", "refused"])
    assert [type(error) for error in errors] == [BackboneUnavailable, Refused]


@pytest.mark.parametrize("patience_s", [None, 60.0])
def test_who_is_turned_away_does_not_wait(patience_s: float | None) -> None:
    backbone = MeteredBackbone(Provider(MissingKey("THE_KEY is not accepted")), patience_s)
    with pytest.raises(ProviderLost, match="THE_KEY is not accepted"):
        backbone.run(question("any"))


def test_an_address_where_nothing_answers_is_waited_for_at_once() -> None:
    backbone = MeteredBackbone(Provider(Unreachable("nobody at http://x")), 0.3)
    with pytest.raises(ProviderLost, match="nobody at http://x; it was waited for"):
        backbone.run(question("any"))
    assert backbone.waited_s > 0.2


def test_without_patience_a_failure_is_left_to_the_caller() -> None:
    backbone = MeteredBackbone(Provider(BackboneUnavailable("503")))
    for n in range(5):
        with pytest.raises(BackboneUnavailable):
            backbone.run(question(f"question {n}"))
