"""What is booked for a call whose reply was lost: what the same request took when it was answered, else the
most that it may have taken."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from evoharness.models.backbone import BackboneUnavailable, Refused, Reply
from evoharness.models.budget import Budget, BudgetExceeded, Caps, paying_for
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.reasoning_tasks import AnswerQuestion, Reason, SummarizeVideo
from evoharness.models.response_cache import ResponseCache
from evoharness.models.settings import Price, Rates
from evoharness.models.task import Task
from evoharness.records.spend import Spend
from tests.models.hosted.conftest import MODEL, drawn
from tests.models.hosted.server import (
    Action,
    ScriptedServer,
    answers,
    completion,
    drips,
    fails,
    resets,
    resets_mid_body,
    says,
    sends,
    stalls,
)
from tests.server import Counts, ModelServer, model_server
from tests.server.faults import LOST, PASSING

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
Make = Callable[..., LiteLLMBackbone]
TASK = Reason(prompt="Sum up.", evidence=())
PRICES = {MODEL: Price(input=1.0, output=1.0)}
ON_THE_WAY: dict[str, Action] = {
    "late": stalls(2.0),
    "drips": drips(0.1, 40),
    "broken off before": resets,
    "broken off": resets_mid_body,
    "unreadable": sends(200, b"<html>"),
    "another type": sends(200, b"<html>", content_type="text/html"),
    "no completion": sends(200, {**completion("x"), "choices": [{"index": 0, "message": None}]}),
}
TOOK = Spend(calls=1, input_tokens=11, output_tokens=7, cost_usd=18e-6)
"""What the scripted server says that an answer took."""


@pytest.fixture(scope="module")
def provider() -> Iterator[ModelServer]:
    """A server that counts what it works out."""
    with model_server(latency_s=0.0) as running:
        yield running


@pytest.fixture
def books(tmp_path: Path) -> Budget:
    """The books of a run, in a file as worker processes share it."""
    return Budget(tmp_path / "budget.sqlite", Caps())


def through(provider: ModelServer, make: Make, **options: object) -> LiteLLMBackbone:
    provider.reset()
    return make("hosted_vllm/embedded", api_base=provider.address, **options)


def served(counts: Counts) -> Spend:
    return Spend(
        calls=counts.calls, input_tokens=counts.prompt_tokens, output_tokens=counts.completion_tokens
    )


def booked(spend: Spend) -> Spend:
    return spend.model_copy(update={"frames": 0, "cost_usd": 0.0})


@pytest.mark.parametrize("fault", PASSING)
def test_what_is_booked_is_what_the_provider_counted(
    provider: ModelServer, make: Make, books: Budget, fault: str
) -> None:
    backbone = through(provider, make, budget=books)
    provider.script(fault)
    with paying_for("solver"):
        reply = backbone.run(TASK)
    counts = provider.counts()
    assert counts.faults == {fault: 1}
    assert counts.requests == 2
    turned_away = fault in ("busy", "busy_until", "error_500", "error_503")
    assert counts.calls == (1 if turned_away else 2)
    assert booked(reply.paid) == booked(books.used()) == served(counts)
    assert {role: booked(spend) for role, spend in books.used_by_role().items()} == {"solver": served(counts)}
    assert reply.spend.calls == 1
    assert (books.lost(), books.in_flight()) == (Spend(), 0)


def test_so_it_is_for_each_role_when_many_ask_at_once(
    provider: ModelServer, make: Make, books: Budget, tmp_path: Path
) -> None:
    cache = ResponseCache(tmp_path / "responses.sqlite")
    backbone = through(provider, make, budget=books, cache=cache, rates=Rates(concurrency=8, timeout_s=5.0))
    by_role: dict[str, Sequence[Task[Any]]] = {
        "solver": [Reason(prompt=f"{n % 30}", evidence=()) for n in range(60)],
        "video_expert": [
            AnswerQuestion(text=f"{n}?", options=("a", "b"), frames=drawn(2)) for n in range(30)
        ],
        "describer": [SummarizeVideo(super_events=(f"{n}",)) for n in range(30)],
    }
    for role, tasks in by_role.items():
        provider.reset()
        provider.fail(1.0, seed=1)

        def ask(task: Task[Any], role: str = role) -> Reply[Any]:
            with paying_for(role):
                return backbone.run(task)

        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(ask, tasks))
        counts = provider.counts()
        assert sum(counts.faults.values()) == 30
        assert len(counts.faults) >= 8
        assert booked(sum((reply.paid for reply in replies), Spend())) == served(counts)
        assert booked(books.used_by_role()[role]) == served(counts)
    assert books.lost() == Spend()


def test_a_client_that_gives_up_is_served_all_the_same(
    provider: ModelServer, make: Make, books: Budget
) -> None:
    backbone = through(provider, make, budget=books, rates=Rates(timeout_s=0.2))
    provider.script("stall")
    assert booked(backbone.run(TASK).paid) == booked(books.used()) == served(provider.counts())
    assert books.used().calls == 2


@pytest.mark.parametrize("lost", ON_THE_WAY)
def test_a_lost_reply_counts_at_the_most_until_the_same_is_answered(
    server: ScriptedServer, make: Make, lost: str
) -> None:
    rates = Rates(timeout_s=0.3 if lost in ("late", "drips") else 5.0)
    budget = Budget(None, Caps(calls=3))
    backbone = make(budget=budget, prices=PRICES, rates=rates)
    server.will(ON_THE_WAY[lost], answers({"text": "x"}))
    reply = backbone.run(TASK)
    assert reply.spend == reply.wasted == TOOK
    assert (budget.used(), budget.lost(), budget.in_flight()) == (reply.paid, Spend(), 0)
    server.will(ON_THE_WAY[lost])
    with pytest.raises(BudgetExceeded) as error:  # the third call was the last
        backbone.run(TASK)
    most = error.value.paid
    assert error.value.spend == Spend(), "a fault on the way is no part of what a task takes"
    assert (most.calls, most.output_tokens) == (1, TASK.max_output_tokens)
    assert most.cost_usd == pytest.approx(most.tokens / 1e6)
    assert (budget.lost(), budget.in_flight(), len(server.requests)) == (most, 0, 3)
    assert budget.used() == TOOK + TOOK + most


@pytest.mark.parametrize("caps", [Caps(tokens=6000), Caps(usd=0.006), Caps(calls=2)])
def test_no_cap_is_passed_by_what_may_have_been_served(
    server: ScriptedServer, make: Make, tmp_path: Path, caps: Caps
) -> None:
    budget = Budget(tmp_path / "budget.sqlite", caps)
    server.will(resets_mid_body)
    with pytest.raises(BudgetExceeded):
        make(budget=budget, prices=PRICES).run(TASK)
    assert len(server.requests) == budget.used().calls == 2


def test_a_correction_makes_room(server: ScriptedServer, make: Make, tmp_path: Path) -> None:
    budget = Budget(tmp_path / "budget.sqlite", Caps(tokens=6000))
    backbone = make(budget=budget)
    for prompt in ("a", "b", "c"):
        server.will(resets_mid_body, answers({"text": "x"}))
        assert backbone.run(Reason(prompt=prompt, evidence=())).paid.tokens == 36
    assert budget.used().tokens == 3 * 36


def test_what_is_never_answered_stays_booked_at_the_most_and_the_books_say_so(
    provider: ModelServer, make: Make, books: Budget
) -> None:
    backbone = through(provider, make, budget=books, retries=RetryPolicy(attempts=3))
    provider.always("reset")
    with paying_for("solver"), pytest.raises(BackboneUnavailable):
        backbone.run(TASK)
    lost = books.lost()
    assert lost.calls == provider.counts().calls == 3
    assert lost.output_tokens == 3 * TASK.max_output_tokens
    assert books.used() == lost
    assert books.used(lost=False) == Spend()
    assert books.used_by_role() == {"solver": lost}
    books.conclude()
    assert (books.lost(), books.used(lost=False)) == (Spend(), lost)
    assert books.used_by_role(lost=False) == {"solver": lost}


def test_another_task_of_another_process_corrects_it(
    provider: ModelServer, make: Make, books: Budget
) -> None:
    backbone = through(provider, make, budget=books, retries=RetryPolicy(attempts=2))
    provider.always("truncated_body")
    with paying_for("solver"), pytest.raises(BackboneUnavailable):
        backbone.run(TASK)
    provider.fail(0.0)
    other = make("hosted_vllm/embedded", api_base=provider.address, budget=Budget(books.path, Caps()))
    with paying_for("solver"):
        other.run(TASK.model_copy(update={"prompt": "Something else."}))
    assert books.lost().calls == 2
    with paying_for("solver"):
        assert other.run(TASK).paid.calls == 1, "what others lost is theirs to tell"
    assert books.lost() == Spend()
    assert booked(books.used()) == booked(books.used_by_role()["solver"]) == served(provider.counts())
    assert books.used().calls == 4


def test_only_the_same_request_tells_what_a_lost_one_took(
    server: ScriptedServer, make: Make, books: Budget
) -> None:
    refused = fails(400, "Unknown parameter: 'temperature'", param="temperature")
    server.will(resets_mid_body, refused, answers({"text": "x"}))
    reply = make(budget=books, prices=PRICES).run(TASK)
    assert reply.paid == TOOK, "the rest is left to the books"
    assert books.lost().calls == 1
    assert books.lost().output_tokens == TASK.max_output_tokens
    alone = make(prices=PRICES)
    server.will(resets_mid_body, refused, answers({"text": "x"}))
    assert alone.run(TASK).paid == TOOK + books.lost(), "without books the reply tells it"


def test_an_empty_reply_does_not_tell_what_a_lost_one_said(
    server: ScriptedServer, make: Make, books: Budget
) -> None:
    server.will(resets_mid_body, says("", completion_tokens=0))
    with pytest.raises(Refused) as error:
        make(budget=books, prices=PRICES).run(TASK)
    assert error.value.paid == error.value.spend
    assert error.value.spend.calls == 2
    assert books.lost().output_tokens == TASK.max_output_tokens
    server.will(resets_mid_body, says("", completion_tokens=0), answers({"text": "x"}))
    make(budget=books, prices=PRICES).run(Reason(prompt="Another.", evidence=()))
    assert books.lost().calls == 1


def test_a_refusal_takes_the_same_with_a_fault_before_it_and_without(
    server: ScriptedServer, make: Make, books: Budget
) -> None:
    for before in ((), (resets_mid_body,)):
        server.will(*before, says(None, refusal="no"))
        with pytest.raises(Refused) as error:
            make(budget=books, prices=PRICES).run(TASK)
        assert error.value.spend == TOOK
        assert error.value.wasted == (TOOK if before else Spend())
    assert books.used() == TOOK + TOOK + TOOK


def ask_and_hang(address: str, path: Path) -> None:
    """Ask a server that does not answer, in a process that is going to be killed."""
    os.environ["OPENAI_API_KEY"] = "sk-none"
    backbone = LiteLLMBackbone(
        {"default": "hosted_vllm/embedded"}, api_base=address, budget=Budget(path, Caps())
    )
    with paying_for("solver"):
        backbone.run(TASK)


@pytest.mark.parametrize("way", ["killed", "interrupted"])
def test_a_call_in_flight_of_a_process_that_ends_is_lost_and_corrected(
    provider: ModelServer, make: Make, books: Budget, way: str
) -> None:
    backbone = through(provider, make, budget=books)
    provider.pace(2.0)
    process = get_context("spawn").Process(target=ask_and_hang, args=(provider.address, books.path))
    process.start()
    patience = time.monotonic() + 60
    while not provider.counts().requests:
        assert time.monotonic() < patience
        time.sleep(0.02)
    assert books.in_flight() == 1
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL if way == "killed" else signal.SIGINT)
    process.join(30)
    assert books.lost().calls == 1
    assert books.used() == books.used_by_role()["solver"] == books.lost()
    assert books.lost().output_tokens == TASK.max_output_tokens
    assert books.in_flight() == 0
    provider.pace(0.0)
    while provider.counts().open:
        time.sleep(0.02)
    with paying_for("solver"):
        backbone.run(TASK)
    assert books.lost() == Spend()
    assert booked(books.used()) == booked(books.used_by_role()["solver"]) == served(provider.counts())
    assert books.used().calls == 2


def test_what_the_server_counts_as_worked_out_may_be_lost() -> None:
    assert set(LOST) < set(PASSING)
