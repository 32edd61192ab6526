"""One task, one call: what is sent, what is read, what it costs."""

import math
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.models.backbone import Refused, Unparsed, UnsupportedTask
from evoharness.models.budget import Budget, BudgetExceeded, Caps
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.profiles import Profile
from evoharness.models.hosted.seats import Seat
from evoharness.models.perception_tasks import DescribeFrame, InspectFrames
from evoharness.models.reasoning_tasks import AnswerQuestion, Reason
from evoharness.models.response_cache import CachedResponse, ResponseCache
from evoharness.models.settings import Price, Rates
from evoharness.providers import Endpoint
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend
from tests.models.hosted.conftest import KEY, MODEL, drawn
from tests.models.hosted.server import (
    Connection,
    Request,
    ScriptedServer,
    answers,
    completion,
    fails,
    says,
    scripted_server,
    sends,
)

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
Make = Callable[..., LiteLLMBackbone]
CHOICE = {"reason": "seen", "choice": "A", "scores": [], "guessed": False}
TASK = Reason(prompt="Sum up.", evidence=(Evidence(source="look", text="a red ball"),))


def test_a_task_is_one_call_with_its_prompt_its_schema_and_its_sampling(
    server: ScriptedServer, make: Make
) -> None:
    server.will(answers({"text": "a ball"}))
    reply = make().run(TASK)
    assert reply.output.text == "a ball"
    assert reply.spend == Spend(calls=1, input_tokens=11, output_tokens=7, cost_usd=None)
    assert (reply.cached, reply.notes, reply.wasted) == (False, (), Spend())
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "scripted"
    assert request.body["temperature"] == TASK.temperature
    assert request.body["max_tokens"] == TASK.max_output_tokens
    shape = request.body["response_format"]
    assert shape["type"] == "json_schema"
    assert shape["json_schema"]["strict"] is True
    assert shape["json_schema"]["schema"]["additionalProperties"] is False
    system, user = request.body["messages"]
    assert system["role"] == "system"
    assert "a red ball" in user["content"]
    assert "a red ball" not in system["content"]


def test_roles_may_have_models_addresses_and_parameters_of_their_own(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.will(answers({"text": "x"}))
    backbone = LiteLLMBackbone(
        {"default": "openai/one", "solver": "openai/two"},
        api_base=server.address,
        parameters={"top_p": 0.9, "solver": {"seed": 7}, "judge": {"seed": 8}},
    )
    backbone.run(TASK)
    (body,) = server.bodies
    assert (body["model"], body["top_p"], body["seed"]) == ("two", 0.9, 7)
    assert "openai/one" in backbone.id
    assert "openai/two" in backbone.id
    with pytest.raises(UserError, match="solver"):
        LiteLLMBackbone({"judge": MODEL}, api_base=server.address).run(TASK)


def test_the_id_names_what_answers_depend_on_and_nothing_else(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert make().id == make(rates=Rates(concurrency=3)).id
    others = {
        make(api_base="http://127.0.0.1:1").id,
        make(api_base="http://127.0.0.1:2").id,
        make("openai/other").id,
        make(parameters={"top_p": 0.5}).id,
        make(profiles={"openai": {"max_images": 3}}).id,
        make(image_format="png").id,
    }
    assert len(others | {make().id}) == 7
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    providers_own = make(api_base=None).id
    assert make(api_base="https://api.openai.com/v1").id == providers_own
    monkeypatch.setenv("OPENAI_BASE_URL", "http://somebody:secret@127.0.0.1:1/v1")
    assert make(api_base=None).id != providers_own
    assert "secret" not in make(api_base=None).id
    with pytest.raises(UserError, match="max_pictures"):
        make(profiles={"openai": {"max_pictures": 3}})


def test_another_server_of_ones_own_is_asked_itself(
    server: ScriptedServer, make: Make, tmp_path: Path
) -> None:
    cache = ResponseCache(tmp_path / "responses.sqlite")
    server.will(answers({"text": "one"}))
    assert make(cache=cache).run(TASK).output.text == "one"
    with scripted_server() as other:
        other.will(answers({"text": "two"}))
        reply = make(cache=cache, api_base=other.address).run(TASK)
    assert (reply.output.text, reply.cached) == ("two", False)


def test_a_price_that_was_given_counts_and_an_unknown_one_is_no_zero(
    server: ScriptedServer, make: Make
) -> None:
    server.will(says('{"text": "x"}', prompt_tokens=1_000_000, completion_tokens=500_000))
    assert make().run(TASK).spend.cost_usd is None
    priced = make(prices={MODEL: Price(input=2.0, output=4.0)}).run(TASK)
    assert priced.spend.cost_usd is not None
    assert math.isclose(priced.spend.cost_usd, 4.0)
    # A server of one's own is not paid what the provider of a model of that name asks for.
    assert make("openai/gpt-4o-mini").run(TASK).spend.cost_usd is None


def test_an_answer_that_cannot_be_read_is_shown_to_the_model_once(server: ScriptedServer, make: Make) -> None:
    server.will(says("It is a ball."), answers({"text": "a ball"}))
    reply = make().run(TASK)
    assert reply.output.text == "a ball"
    first, second = server.bodies
    *before, said, error = second["messages"]
    assert before == first["messages"]
    assert said == {"role": "assistant", "content": "It is a ball."}
    assert "no JSON object" in error["content"]


def test_a_fault_that_passed_is_paid_for_and_changes_nothing_else(server: ScriptedServer, make: Make) -> None:
    good = says('{"text": "x"}', prompt_tokens=1000, completion_tokens=5)
    server.will(good)
    prices = {MODEL: Price(input=1.0, output=2.0)}
    plain = make(prices=prices).run(TASK)
    server.will(
        says("", prompt_tokens=1000, completion_tokens=0),
        says("odd", prompt_tokens=1000, completion_tokens=70),
        says('{"text": "x"}', prompt_tokens=1200, completion_tokens=5),
    )
    reply = make(prices=prices).run(TASK)
    assert reply.spend == plain.spend == plain.paid
    assert (reply.paid.calls, reply.paid.input_tokens, reply.paid.output_tokens) == (3, 3200, 75)
    assert reply.paid.cost_usd == pytest.approx((3200 + 150) / 1e6)


def test_an_answer_that_stays_unreadable_is_a_typed_failure_with_its_price(
    server: ScriptedServer, make: Make
) -> None:
    server.will(says('{"text": '))
    with pytest.raises(Unparsed, match="openai/scripted on Reason: ") as error:
        make().run(TASK)
    assert len(server.requests) == 2
    assert error.value.spend.calls == 2
    assert error.value.spend.input_tokens == 22


def test_what_does_not_fit_the_task_is_told_as_well(server: ScriptedServer, make: Make) -> None:
    task = AnswerQuestion(text="Which?", options=("red", "blue"))
    server.will(answers({**CHOICE, "choice": "Z"}), says("no"))
    with pytest.raises(Unparsed):
        make().run(task)
    assert '"Z" is none of "A", "B"' in server.bodies[1]["messages"][-1]["content"]


def test_a_model_that_came_to_its_limit_is_given_more_room(server: ScriptedServer, make: Make) -> None:
    server.will(says("", finish_reason="length"), answers({"text": "x"}))
    reply = make().run(TASK)
    assert [body["max_tokens"] for body in server.bodies] == [2048, 6144]
    assert reply.wasted.calls == 1
    server.will(says('{"text": "a bal', finish_reason="length"), answers({"text": "a ball"}))
    assert make().run(TASK).output.text == "a ball"
    assert server.bodies[-1]["max_tokens"] == 6144
    server.will(says("", finish_reason="length"))
    with pytest.raises(Unparsed, match="all tokens were used"):
        make().run(TASK)


@pytest.mark.parametrize(
    "refusal",
    [
        says(None, refusal="I can't help with that."),
        says("", finish_reason="content_filter"),
        says("I will not", finish_reason="stop", refusal="no"),
    ],
)
def test_a_refusal_is_no_crash_and_not_asked_again(
    server: ScriptedServer, make: Make, refusal: object
) -> None:
    server.will(refusal)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="openai/scripted declines Reason") as error:
        make().run(TASK)
    assert len(server.requests) == 1
    assert error.value.spend.calls == 1


@pytest.mark.parametrize(
    "empty", [says(None), says(""), says(" \n"), sends(200, {**completion(""), "choices": []})]
)
def test_an_empty_answer_is_asked_for_again_once(server: ScriptedServer, make: Make, empty: object) -> None:
    server.will(empty, answers({"text": "x"}))  # type: ignore[arg-type]
    reply = make().run(TASK)
    assert reply.wasted.calls == reply.spend.calls == 1
    assert reply.wasted.input_tokens == 11
    server.will(empty)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="empty answer") as error:
        make().run(TASK)
    assert error.value.spend.calls == 2


def test_a_kept_answer_is_not_asked_for_again(server: ScriptedServer, make: Make, tmp_path: Path) -> None:
    server.will(answers({"text": "x \ud83d"}))
    cache = ResponseCache(tmp_path / "responses.sqlite")
    first = make(cache=cache).run(TASK)
    server.close()
    second = make(cache=cache).run(TASK)
    assert (second.output, second.spend) == (first.output, first.spend)
    assert (first.cached, second.cached) == (False, True)
    assert second.paid == Spend()
    assert len(server.requests) == 1


def test_what_had_to_be_done_for_an_answer_is_kept_with_it(
    server: ScriptedServer, make: Make, tmp_path: Path
) -> None:
    task = AnswerQuestion(text="Which?", options=("red", "blue"), frames=drawn(4))
    server.will(fails(400, "At most 2 image(s) may be provided"), answers(CHOICE))
    cache = ResponseCache(tmp_path / "responses.sqlite")
    first = make(cache=cache).run(task)
    assert first.notes == ("2 of 4 frames are shown: openai/scripted takes no more at once",)
    again = make(cache=ResponseCache(cache.path)).run(task)
    assert (again.cached, again.notes, again.spend) == (True, first.notes, first.spend)


def test_a_response_that_was_kept_without_notes_has_none(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "responses.sqlite")
    plain = CachedResponse(answer="{}", spend=Spend(calls=1, cost_usd=None))
    noted = plain.model_copy(update={"notes": ("a note", "another")})
    cache.put("plain", plain)
    cache.put("noted", noted)
    assert (cache.get("plain"), cache.get("noted")) == (plain, noted)
    with closing(sqlite3.connect(cache.path)) as file:
        written = file.execute("SELECT spend FROM responses WHERE key = 'plain'").fetchone()[0]
    assert written == plain.spend.model_dump_json(), "as earlier versions wrote it"


def test_another_sample_prompt_model_or_frame_is_another_question(
    server: ScriptedServer, make: Make, tmp_path: Path
) -> None:
    server.will(answers(CHOICE))
    cache = ResponseCache(tmp_path / "responses.sqlite")
    task = AnswerQuestion(text="Which?", options=("red", "blue"), frames=drawn(1))
    questions = [
        (MODEL, task),
        (MODEL, task.model_copy(update={"sample": 1})),
        (MODEL, task.model_copy(update={"text": "Which one?"})),
        (MODEL, task.model_copy(update={"frames": drawn(2)})),
        ("openai/other", task),
    ]
    for model, question in questions * 2:
        make(model, cache=cache).run(question)
    assert len(server.requests) == len(questions)


def test_nothing_is_asked_that_the_budget_does_not_cover(
    server: ScriptedServer, make: Make, tmp_path: Path
) -> None:
    server.will(says("no JSON"), answers({"text": "x"}), answers({"text": "y"}))
    budget = Budget(tmp_path / "budget.sqlite", Caps(calls=3))
    backbone = make(budget=budget)
    backbone.run(TASK)
    assert (budget.used().calls, budget.in_flight()) == (2, 0)
    backbone.run(TASK.model_copy(update={"prompt": "Again."}))
    with pytest.raises(BudgetExceeded):
        backbone.run(TASK)
    assert (budget.used().calls, budget.in_flight(), len(server.requests)) == (3, 0, 3)
    assert budget.used().input_tokens == 33


def test_what_is_reserved_is_more_than_what_is_used(
    server: ScriptedServer, make: Make, tmp_path: Path
) -> None:
    budget = Budget(tmp_path / "budget.sqlite", Caps(usd=5.0))
    held: list[int] = []

    def act(request: Request, connection: Connection) -> None:
        held.append(budget.in_flight())
        answers({"text": "x"})(request, connection)

    server.will(act)
    make(budget=budget, prices={MODEL: Price(input=1.0, output=1.0)}).run(TASK)
    assert held == [1]
    used = budget.used().cost_usd
    assert used is not None
    assert math.isclose(used, 18e-6)


def test_a_model_that_cannot_see_is_told_apart_from_one_that_need_not(
    server: ScriptedServer, make: Make
) -> None:
    blind = {"profiles": {"default": {"max_images": 0}}}
    with pytest.raises(UnsupportedTask, match="video_expert"):
        make(**blind).run(InspectFrames(frames=drawn(3), span=Interval(start=0, end=2), prompt=""))
    with pytest.raises(UnsupportedTask, match="DescribeFrame"):
        make(**blind).run(DescribeFrame(frame=drawn(1)[0], prompt=""))
    assert not server.requests


def test_half_a_letter_in_an_answer_breaks_nothing(server: ScriptedServer, make: Make) -> None:
    server.will(says("half \ud83d a letter"), says('{"text": "whole \ud83d\ude00, half \ud83d"}'))
    assert make().run(TASK).output.text == "whole \U0001f600, half \ufffd"
    assert server.bodies[1]["messages"][2]["content"] == "half \ufffd a letter"


def test_an_option_that_is_none_is_told_in_one_line(make: Make) -> None:
    for options, said in (
        ({"retries": {"tries": 3}}, "tries"),
        ({"retries": {"attempts": "many"}}, "retries.attempts=many"),
        ({"retries": {"first_wait_s": math.nan}}, "first_wait_s"),
        ({"image_format": "gif"}, "gif"),
        ({"profiles": {"openai": {"max_images": "few"}}}, "max_images"),
    ):
        with pytest.raises(UserError, match=said):
            make(**options)


def test_what_litellm_knows_the_price_of_is_estimated_by_it() -> None:
    for model in ("openai/gpt-5.5", "dashscope/qwen3.7-plus", "gemini/gemini-3.8-flash"):
        endpoint = Endpoint(model=model)
        seat = Seat(endpoint, Profile(), {}, None, Rates(), None, Clock())
        told = seat.estimated_cost(1000, 1000)
        assert told is not None
        assert told > 0
        assert seat.cost(1000, 1000, told) == told
    unknown = Seat(Endpoint(model="openai/none-such"), Profile(), {}, None, Rates(), None, Clock())
    assert unknown.estimated_cost(1000, 1000) is None
    assert unknown.cost(1000, 1000, 0.0) is None


def test_nothing_heavy_is_imported_before_it_is_needed(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.profiles import Profile
from evoharness.models.hosted.seats import Seat
heavy = {"litellm", "openai", "av", "cv2", "numpy", "jinja2", "httpx"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
from evoharness.models.reasoning_tasks import Reason
from evoharness.models.response_cache import CachedResponse, ResponseCache
from evoharness.records.spend import Spend

class Kept(ResponseCache):
    def get(self, key):
        return CachedResponse(answer='{"text": "kept"}', spend=Spend(calls=1))

cache = Kept(Path(sys.argv[1]) / "responses.sqlite")
backbone = LiteLLMBackbone({"default": "openai/gpt-5.5"}, cache=cache)
assert backbone.run(Reason(prompt="Sum up.", evidence=())).output.text == "kept"
assert "litellm" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env={"PATH": "/usr/bin"})
