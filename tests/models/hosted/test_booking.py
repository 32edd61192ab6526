"""What is booked when a server does not say what a call took: the most it may be; and how calls end."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.models.backbone import BackboneUnavailable, Unparsed
from evoharness.models.budget import Budget, BudgetExceeded, Caps
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.deadline import within
from evoharness.models.hosted.output_limit import OutputLimit, output_limit
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.reasoning_tasks import Reason
from evoharness.models.settings import Price, Rates
from evoharness.records.spend import Spend
from tests.models.hosted.conftest import MODEL
from tests.models.hosted.server import (
    Connection,
    Request,
    ScriptedServer,
    answers,
    completion,
    drips,
    fails,
    says,
    sends,
)

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
Make = Callable[..., LiteLLMBackbone]
TASK = Reason(prompt="Sum up.", evidence=())
PRICES = {MODEL: Price(input=1.0, output=1.0)}
WITHOUT = completion('{"text": "x"}')
USAGES: dict[str, Any] = {
    "missing": None,
    "nothing": {},
    "zero": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "negative": {"prompt_tokens": -50_000, "completion_tokens": -7, "total_tokens": -12},
    "one negative": {"prompt_tokens": 11, "completion_tokens": -7, "total_tokens": 4},
    "huge": {"prompt_tokens": 10**12, "completion_tokens": 10**12, "total_tokens": 1},
    "zero for a text": {"prompt_tokens": 11, "completion_tokens": 0, "total_tokens": 11},
}


@pytest.mark.parametrize("usage", USAGES)
def test_the_most_is_booked_where_a_server_does_not_say_what_a_call_took(
    server: ScriptedServer, make: Make, usage: str
) -> None:
    server.will(sends(200, {**WITHOUT, "usage": USAGES[usage]}))
    budget = Budget(None, Caps(tokens=9_000, usd=0.05))
    backbone = make(budget=budget, prices=PRICES)
    reply = backbone.run(TASK)
    assert reply.notes == (f"{MODEL} does not say what a call took: the most that it may take is booked",)
    assert reply.spend.output_tokens == TASK.max_output_tokens
    assert reply.spend.input_tokens > 0
    assert reply.spend.cost_usd == pytest.approx(reply.spend.tokens / 1e6)
    with pytest.raises(BudgetExceeded):
        [backbone.run(TASK) for _ in range(9)]
    used = budget.used()
    assert used.tokens <= 9_000
    assert used.calls == len(server.requests) < 9


def test_a_full_count_is_taken_as_it_is(server: ScriptedServer, make: Make) -> None:
    server.will(answers({"text": "x"}))
    reply = make(prices=PRICES).run(TASK)
    assert (reply.spend.input_tokens, reply.spend.output_tokens, reply.notes) == (11, 7, ())


def test_an_attempt_that_was_turned_away_is_not_booked(server: ScriptedServer, make: Make) -> None:
    budget = Budget(None, Caps(calls=1))
    server.will(fails(500), fails(429), fails(503), answers({"text": "x"}))
    reply = make(budget=budget).run(TASK)
    assert reply.wasted == Spend()
    assert budget.used().calls == 1
    server.will(fails(400, "no"))
    with pytest.raises(BackboneUnavailable):
        make(budget=Budget(None, Caps(calls=1))).run(TASK)


def test_a_server_that_drips_is_given_up_when_its_time_is_over(server: ScriptedServer, make: Make) -> None:
    server.will(drips(0.2, 60))
    begun = time.monotonic()
    with pytest.raises(BackboneUnavailable, match="no answer in time"):
        make(rates=Rates(timeout_s=1.0), retries=RetryPolicy(attempts=1)).run(TASK)
    assert time.monotonic() - begun < 3.0
    patience = time.monotonic() + 5.0
    while server._open and time.monotonic() < patience:
        time.sleep(0.05)
    assert server._open == 0, "the connection is closed soon after"


def test_a_server_that_drips_for_less_than_its_time_is_heard(server: ScriptedServer, make: Make) -> None:
    server.will(drips(0.05, 10))
    assert make(rates=Rates(timeout_s=5.0)).run(TASK).output.text == "x"


def test_what_a_call_raises_or_gives_within_its_time_is_passed_on() -> None:
    assert within(5.0, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        within(5.0, lambda: 1 // 0)
    with pytest.raises(TimeoutError):
        within(0.0, lambda: time.sleep(1.0))


@pytest.mark.parametrize("model", [MODEL, "hosted_vllm/scripted"])
def test_an_answer_in_an_odd_place_is_found(server: ScriptedServer, make: Make, model: str) -> None:
    written = '{"text": "x"}'
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": written}}
    parts: Any = [{"type": "text", "text": written[:6]}, {"type": "text", "text": written[6:]}]
    for odd in (
        says(None, tool_calls=[call], finish_reason="tool_calls"),
        says("", reasoning_content=written),
        says(" ", reasoning_content=f"I think so.\n{written}"),
        says(parts),
        says({"text": "x"}),  # type: ignore[arg-type]
    ):
        server.requests.clear()
        server.will(odd)
        assert make(model).run(TASK).output.text == "x"
        assert len(server.requests) == 1


def test_an_empty_answer_with_something_beside_it_cannot_be_read(server: ScriptedServer, make: Make) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    for odd in (says(None, tool_calls=[call]), says(None, reasoning_content="I wonder.")):
        server.will(odd)
        with pytest.raises(Unparsed, match="the answer is empty") as error:
            make().run(TASK)
        assert error.value.spend.calls == 2
    server.will(says(None, reasoning_content='{"text": "a draft"', finish_reason="length"))
    with pytest.raises(Unparsed, match="all tokens were used"):
        make().run(TASK)


LIMITS = {
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]": 8192,
    "Range of max_tokens should be [1, 8192]": 8192,
    "max_tokens is too large: 9999. This model supports at most 4,096 completion tokens.": 4096,
    "max_tokens: 9999 > 8192, which is the maximum allowed number of output tokens for claude": 8192,
    "`max_tokens` must be less than or equal to `8192`, the maximum value for this model": 8192,
    "max_tokens must be between 1 and 4096": 4096,
    "maxOutputTokens: the supported range is from 1 (inclusive) to 8193 (exclusive)": 8192,
    "max_tokens is too large": 9999 // 2,
}


@pytest.mark.parametrize("said", LIMITS)
def test_how_many_tokens_a_model_gives_is_read_from_its_words(said: str) -> None:
    limit = output_limit(said, 9999)
    assert limit is not None
    assert limit.tokens == LIMITS[said]


def test_what_a_context_leaves_is_read_too_and_other_refusals_are_not() -> None:
    said = (
        "'max_tokens' or 'max_completion_tokens' is too large: 6144. This model's maximum context length is "
        "4096 tokens and your request has 900 input tokens (6144 > 4096 - 900)."
    )
    assert output_limit(said, 6144) == OutputLimit(3196, lasting=False)
    said = (
        "This model's maximum context length is 4096 tokens. However, you requested 7044 tokens "
        "(900 in the messages, 6144 in the completion)."
    )
    assert output_limit(said, 6144) == OutputLimit(3196, lasting=False)
    for other in (
        "This model's maximum context length is 4096 tokens, your messages have 5000",
        "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        "images must be at most 100",
        "This model's maximum context length is 4096 tokens. However, you requested 6200 tokens "
        "(4090 in the messages, 2048 in the completion).",
    ):
        assert output_limit(other, 2048) is None


@given(st.text() | st.text("max_tokens []0123456789,<>=atmost context length is in the messages"))
def test_any_refusal_leads_to_fewer_tokens_or_is_about_something_else(said: str) -> None:
    limit = output_limit(f"max_tokens too large {said}", 4096)
    assert limit is None or 0 < limit.tokens < 4096


def test_a_model_that_gives_fewer_tokens_is_asked_for_fewer_from_then_on(
    server: ScriptedServer, make: Make
) -> None:
    server.will(fails(400, "the valid range of max_tokens is [1, 1000]"), answers({"text": "x"}))
    backbone = make()
    assert backbone.run(TASK).notes == (f"{MODEL} gives at most 1000 tokens: no more are asked for",)
    assert backbone.run(TASK).notes == ()
    assert [body["max_tokens"] for body in server.bodies] == [2048, 1000, 1000]


def test_the_limit_of_tokens_is_never_left_out(server: ScriptedServer, make: Make) -> None:
    server.will(fails(400, "Unknown parameter: 'max_tokens'", param="max_tokens"), answers({"text": "x"}))
    make().run(TASK)
    assert server.bodies[-1]["max_completion_tokens"] == 2048
    server.will(
        fails(400, "Unknown parameter: 'max_tokens'", param="max_tokens"),
        fails(400, "Unknown parameter: 'max_completion_tokens'", param="max_completion_tokens"),
    )
    with pytest.raises(BackboneUnavailable, match="max_completion_tokens"):
        make().run(TASK)
    for body in server.bodies:
        assert body.keys() & {"max_tokens", "max_completion_tokens"}


@pytest.mark.parametrize(
    "refusal",
    [
        "'max_tokens' is too large: 6144. This model's maximum context length is 4096 tokens and your "
        "request has 900 input tokens (6144 > 4096 - 900).",
        "the request exceeds the available context size, try increasing it",
    ],
)
def test_a_context_without_more_room_ends_as_an_answer_that_cannot_be_read(
    server: ScriptedServer, make: Make, refusal: str
) -> None:
    def small(request: Request, connection: Connection) -> None:
        large = request.body["max_tokens"] > 3196
        (fails(400, refusal) if large else says('{"te', finish_reason="length"))(request, connection)

    server.will(small)
    with pytest.raises(Unparsed):
        make().run(TASK)
    asked = [body["max_tokens"] for body in server.bodies]
    assert asked[:2] == [2048, 6144]
    assert asked[2] in (2048, 3196)
    assert len(asked) == 3
