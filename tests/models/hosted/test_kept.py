"""No answer is paid for twice: neither by threads that ask at once, nor when it is no answer."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evoharness.evaluation.meter import MeteredBackbone
from evoharness.models.backbone import Refused, Unparsed
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.reasoning_tasks import AnswerQuestion, Reason
from evoharness.models.response_cache import ResponseCache
from evoharness.records.spend import Spend
from tests.models.hosted.conftest import drawn
from tests.models.hosted.server import Connection, Request, ScriptedServer, answers, fails, says, sends

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
Make = Callable[..., LiteLLMBackbone]
TASK = Reason(prompt="Sum up.", evidence=())
CHOICE = {"reason": "seen", "choice": "A", "scores": [], "guessed": False}


@pytest.fixture
def cache(tmp_path: Path) -> ResponseCache:
    return ResponseCache(tmp_path / "responses.sqlite")


def test_threads_with_one_question_make_one_call(
    server: ScriptedServer, make: Make, cache: ResponseCache
) -> None:
    server.will(answers({"text": "x"}))
    backbone = make(cache=cache)
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda _: backbone.run(TASK), range(24)))
    assert len(server.requests) == 1
    assert sum(reply.paid.calls for reply in replies) == 1
    assert {reply.output.text for reply in replies} == {"x"}
    assert {reply.spend for reply in replies} == {replies[0].spend}


def test_different_questions_do_not_wait_for_each_other(
    server: ScriptedServer, make: Make, cache: ResponseCache
) -> None:
    server.will(answers({"text": "x"}))
    backbone = make(cache=cache)
    with cache.flight("another"), ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: backbone.run(Reason(prompt=f"{n}", evidence=())), range(8)))
    assert len(server.requests) == 8


def test_without_a_cache_every_question_is_asked(server: ScriptedServer, make: Make, tmp_path: Path) -> None:
    server.will(answers({"text": "x"}))
    for cache in (
        None,
        ResponseCache(tmp_path / "r.sqlite", "off"),
        ResponseCache(tmp_path / "r.sqlite", "read"),
    ):
        backbone = make(cache=cache)
        before = len(server.requests)
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _, asked=backbone: asked.run(TASK), range(3)))
        assert len(server.requests) == before + 3


@pytest.mark.parametrize(
    ("said", "kind", "calls"),
    [
        (says("no JSON at all"), Unparsed, 2),
        (says(None, refusal="I can't help with that."), Refused, 1),
        (says(""), Refused, 2),
    ],
)
def test_what_gave_no_answer_is_not_paid_for_again_either(
    server: ScriptedServer,
    make: Make,
    cache: ResponseCache,
    said: object,
    kind: type[Unparsed | Refused],
    calls: int,
) -> None:
    server.will(said)  # type: ignore[arg-type]
    first, second = MeteredBackbone(make(cache=cache)), MeteredBackbone(make(cache=cache))
    with pytest.raises(kind) as fresh:
        first.run(TASK)
    with pytest.raises(kind) as kept:
        second.run(TASK)
    assert len(server.requests) == calls
    assert kept.value.spend == fresh.value.spend  # so that limits and gates see the same
    assert (fresh.value.cached, kept.value.cached) == (False, True)
    assert str(kept.value) == str(fresh.value)  # it goes into traces
    assert first.take().paid == {"solver": fresh.value.spend}
    again = second.take()
    assert again.paid == {}
    assert again.cached == fresh.value.spend


def test_another_prompt_sample_or_model_asks_again(
    server: ScriptedServer, make: Make, cache: ResponseCache
) -> None:
    server.will(says(None, refusal="no"))
    for model, task in (
        ("openai/scripted", TASK),
        ("openai/scripted", TASK.model_copy(update={"prompt": "Sum it up."})),
        ("openai/scripted", TASK.model_copy(update={"temperature": 0.5})),
        ("openai/other", TASK),
    ):
        before = len(server.requests)
        for _ in range(2):
            with pytest.raises(Refused):
                make(model, cache=cache).run(task)
        assert len(server.requests) == before + 1


def test_what_was_learned_of_a_server_makes_no_other_question(
    server: ScriptedServer, make: Make, cache: ResponseCache
) -> None:
    def few_pictures(request: Request, connection: Connection) -> None:
        shown = request.body["messages"][1]["content"]
        few = isinstance(shown, str) or sum(part["type"] == "image_url" for part in shown) <= 2
        (answers(CHOICE) if few else fails(400, "At most 2 image(s) may be provided"))(request, connection)

    server.will(few_pictures)
    tasks = [
        AnswerQuestion(text=f"Which is number {n}?", options=("red", "blue"), frames=drawn(4))
        for n in range(3)
    ]
    first, again = make(cache=cache), make(cache=cache)
    asked = [first.run(task) for task in tasks]
    assert len(server.requests) == 1 + len(tasks)
    kept = [again.run(task) for task in tasks]
    assert len(server.requests) == 1 + len(tasks)
    assert all(reply.cached for reply in kept)
    assert [reply.notes for reply in kept] == [reply.notes for reply in asked]


def test_a_refusal_that_cost_nothing_is_asked_about_again(
    server: ScriptedServer, make: Make, cache: ResponseCache
) -> None:
    blocked = {"error": {"message": "blocked by our content policy", "code": "content_policy_violation"}}
    server.will(sends(400, blocked))
    for asked in (1, 2):
        with pytest.raises(Refused) as error:
            make(cache=cache).run(TASK)
        assert error.value.spend == Spend()
        assert len(server.requests) == asked
