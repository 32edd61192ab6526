"""What goes wrong on the wire: passing faults cost time, lasting ones end in one line with a way out."""

import email.utils
import random
import re
import time
import traceback
from collections.abc import Callable

import pytest

from evoharness.errors import UserError
from evoharness.models.backbone import (
    BackboneError,
    BackboneUnavailable,
    MissingKey,
    Refused,
    UnknownModel,
    Unreachable,
)
from evoharness.models.budget import CannotPay
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.faults_of import failed_call
from evoharness.models.hosted.retrying import RetryPolicy, asked_wait
from evoharness.models.reasoning_tasks import Reason
from evoharness.models.settings import Rates
from tests.models.hosted.conftest import KEY, MODEL, Waits
from tests.models.hosted.server import (
    Action,
    ScriptedServer,
    answers,
    completion,
    fails,
    resets,
    resets_mid_body,
    sends,
    stalls,
)

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
Make = Callable[..., LiteLLMBackbone]
TASK = Reason(prompt="Sum up.", evidence=())
GOOD = answers({"text": "x"})
PASSING: dict[str, Action] = {
    "429": fails(429, "slow down"),
    "429 that asks to wait": fails(429, "slow down", {"retry-after": "7"}),
    "500": fails(500),
    "502": fails(502),
    "503": fails(503),
    "504": fails(504),
    "529": fails(529, "Overloaded"),
    "408": fails(408),
    "stall": stalls(0.6),
    "reset": resets,
    "reset in the body": resets_mid_body,
    "HTML": sends(200, b"<html>gateway</html>", content_type="text/html"),
    "HTML that says JSON": sends(200, b"<html>gateway</html>"),
    "cut JSON": sends(200, b'{"id": "x", "choices": [{"ind'),
    "nothing": sends(200, b""),
    "a list": sends(200, []),
    "no choices": sends(200, {"id": "x"}),
    "null choices": sends(200, {**completion("x"), "choices": None}),
    "an error inside a 200": sends(200, {"error": {"message": "boom", "code": 500}}),
    "404 of a gateway": fails(404, "upstream restarting"),
    "429 with a hint": fails(429, "Rate limit reached; see the billing page for higher limits"),
    "a list of choices without messages": sends(200, {**completion("x"), "choices": [{"index": 0}]}),
    "no message": sends(200, {**completion("x"), "choices": [{"index": 0, "message": None}]}),
    "a page of the gateway": sends(502, b"<html>bad gateway</html>", content_type="text/html"),
}


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_costs_time_and_no_result(
    server: ScriptedServer, make: Make, waits: Waits, fault: str
) -> None:
    server.will(PASSING[fault], PASSING[fault], GOOD)
    reply = make(rates=Rates(timeout_s=0.3 if fault == "stall" else 5.0)).run(TASK)
    assert reply.output.text == "x"
    assert reply.spend.calls == 1
    assert len(server.requests) == 3
    assert len(waits.slept) >= 2


@pytest.mark.parametrize("fault", ["500", "429", "reset in the body", "HTML"])
def test_a_fault_that_lasts_is_the_fault_of_the_apparatus(
    server: ScriptedServer, make: Make, fault: str
) -> None:
    server.will(PASSING[fault])
    with pytest.raises(BackboneUnavailable, match="after 4 attempts") as error:
        make().run(TASK)
    assert len(server.requests) == 4
    said = str(error.value)
    assert said.startswith(f"{MODEL} at {server.address} gave no answer")
    assert "\n" not in said
    assert not isinstance(error.value, UserError)


def test_as_long_as_the_server_asks_and_a_little_longer_is_waited(
    server: ScriptedServer, make: Make, waits: Waits
) -> None:
    server.will(fails(429, headers={"retry-after": "7"}), fails(503, headers={"retry-after": "3"}), GOOD)
    make().run(TASK)
    # While one call waits, no other begins: the second wait was asked of this call alone.
    assert 7.0 <= waits.slept[0] <= 8.0
    assert any(3.0 <= slept <= 4.0 for slept in waits.slept[1:])


def test_a_wait_beyond_all_patience_is_not_begun(server: ScriptedServer, make: Make, waits: Waits) -> None:
    server.will(fails(429, "come back tomorrow", {"retry-after": "86400"}))
    with pytest.raises(BackboneUnavailable, match="come back tomorrow"):
        make().run(TASK)
    assert len(server.requests) == 1
    assert waits.slept == []


def test_others_wait_too_while_a_server_asks_for_a_pause(
    server: ScriptedServer, make: Make, waits: Waits
) -> None:
    backbone = make(retries=RetryPolicy(attempts=1))
    server.will(fails(429, headers={"retry-after": "30"}), GOOD)
    with pytest.raises(BackboneUnavailable):
        backbone.run(TASK)
    assert waits.slept == []
    backbone = make(retries=RetryPolicy(attempts=2))
    server.will(fails(429, headers={"retry-after": "30"}), GOOD, GOOD)
    backbone.run(TASK)
    begun = waits.time
    backbone.run(TASK.model_copy(update={"prompt": "Later."}))
    assert waits.time == begun


def test_waits_grow_with_jitter_from_a_seed() -> None:
    policy = RetryPolicy(attempts=8, first_wait_s=1.0, longest_wait_s=20.0)
    failure = CallFailed(Fault.SERVER, "500")

    def waits(seed: int) -> list[float | None]:
        chance = random.Random(seed)
        return [policy.wait(failure, attempt, True, chance) for attempt in range(1, 9)]

    assert waits(1) == waits(1) != waits(2)
    for given, most in zip(waits(3), (1, 2, 4, 8, 16, 20, 20), strict=False):
        assert given is not None
        assert most / 2 <= given <= most
    assert waits(3)[-1] is None


def test_how_long_to_wait_is_read_in_every_way_it_is_said() -> None:
    now = 1_700_000_000.0
    date = email.utils.formatdate(now + 12, usegmt=True)
    assert asked_wait({"Retry-After": "2"}, "", now) == 2.0
    assert asked_wait({"retry-after": "1.5"}, "", now) == 1.5
    assert asked_wait({"retry-after-ms": "250", "retry-after": "9"}, "", now) == 0.25
    assert asked_wait({"retry-after": date}, "", now) == 12.0
    assert asked_wait({"retry-after": email.utils.formatdate(now - 12)}, "", now) == 0.0
    assert asked_wait({"retry-after": "soon"}, "", now) is None
    assert asked_wait({}, 'RetryInfo", "retryDelay": "31s"', now) == 31.0
    assert asked_wait({}, "Please retry in 850.5ms.", now) == 0.8505
    assert asked_wait({}, "Rate limit reached. Please try again in 1.2s.", now) == 1.2
    assert asked_wait({}, "no idea", now) is None


LASTING: dict[str, tuple[Action, type[BackboneError], str]] = {
    "401": (
        fails(
            401, f"Incorrect API key provided: {KEY}.", type="invalid_request_error", code="invalid_api_key"
        ),
        MissingKey,
        "OPENAI_API_KEY",
    ),
    "403": (fails(403, "Project has no access"), MissingKey, "OPENAI_API_KEY"),
    "404": (
        fails(404, "The model `scripted` does not exist", code="model_not_found"),
        UnknownModel,
        MODEL,
    ),
    "404 of another path": (
        sends(404, b"<html>no</html>", content_type="text/html"),
        UnknownModel,
        "127.0.0.1",
    ),
    "400": (fails(400, "messages: bad role", type="invalid_request_error"), BackboneUnavailable, "bad role"),
    "quota": (
        fails(429, "You exceeded your current quota", code="insufficient_quota"),
        CannotPay,
        "current quota",
    ),
    "quota that names a wait": (
        fails(429, "Slow down", {"retry-after": "5"}, code="insufficient_quota"),
        CannotPay,
        "Slow down",
    ),
    "no image": (
        fails(400, "Not a valid image; see our content policy", type="invalid_request_error"),
        BackboneUnavailable,
        "Not a valid image",
    ),
    "no credit": (fails(400, "Your credit balance is too low"), CannotPay, "credit balance"),
    "402": (fails(402, "Payment required"), CannotPay, "Payment required"),
    "policy": (
        fails(
            400,
            "Your request was rejected as a result of our safety system.",
            code="content_policy_violation",
        ),
        Refused,
        "declines Reason",
    ),
    "inspection": (fails(400, "data_inspection_failed: inappropriate content"), Refused, "declines Reason"),
    "context": (
        fails(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded"),
        Refused,
        "larger than",
    ),
    "413": (fails(413, "Payload Too Large"), Refused, "larger than"),
}


@pytest.mark.parametrize("fault", LASTING)
def test_what_stays_wrong_is_not_tried_again(
    server: ScriptedServer, make: Make, waits: Waits, fault: str
) -> None:
    action, kind, said = LASTING[fault]
    server.will(action)
    with pytest.raises(kind, match=said) as error:
        make().run(TASK)
    assert type(error.value) is kind
    assert len(server.requests) == 1
    assert waits.slept == []
    assert "\n" not in str(error.value)
    assert MODEL in str(error.value)
    assert KEY not in "".join(traceback.format_exception(error.value))


def test_a_refused_parameter_is_left_out_once_and_for_all(server: ScriptedServer, make: Make) -> None:
    refused = fails(
        400,
        "Unsupported value: 'temperature' does not support 0.1 with this model.",
        type="invalid_request_error",
        param="temperature",
        code="unsupported_value",
    )
    server.will(refused, GOOD)
    backbone = make()
    reply = backbone.run(TASK)
    assert "temperature" in server.bodies[0]
    assert "temperature" not in server.bodies[1]
    assert reply.notes == (f"{MODEL} does not accept temperature: it is left out",)
    again = backbone.run(TASK)
    assert "temperature" not in server.bodies[2]
    assert (again.notes, len(server.requests)) == ((), 3)


def test_a_parameter_under_a_new_name_is_sent_under_it(server: ScriptedServer, make: Make) -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    server.will(fails(400, said, param="max_tokens", code="unsupported_parameter"), GOOD)
    backbone = make()
    backbone.run(TASK)
    backbone.run(TASK)
    assert [body.get("max_tokens") for body in server.bodies] == [2048, None, None]
    assert [body.get("max_completion_tokens") for body in server.bodies] == [None, 2048, 2048]


def test_a_server_without_json_schema_is_asked_for_json_and_then_for_nothing(
    server: ScriptedServer, make: Make
) -> None:
    refused = fails(400, "response_format of this type is not supported", param="response_format.type")
    server.will(refused, refused, GOOD)
    backbone = make()
    backbone.run(TASK)
    assert [body.get("response_format", {}).get("type") for body in server.bodies] == [
        "json_schema",
        "json_object",
        None,
    ]
    backbone.run(TASK)
    assert "response_format" not in server.bodies[-1]


def test_what_litellm_itself_refuses_is_left_out_too(
    server: ScriptedServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.will(GOOD)
    reply = make("openai/o3").run(TASK)
    assert reply.notes == ("openai/o3 does not accept temperature: it is left out",)
    assert "temperature" not in server.bodies[0]


def test_a_missing_key_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    begun = time.monotonic()
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        LiteLLMBackbone({"default": "openai/gpt-5.5"}).run(TASK)
    assert time.monotonic() - begun < 2.0


def test_a_server_of_ones_own_needs_no_key(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.will(GOOD)
    LiteLLMBackbone({"default": MODEL}, api_base=server.address).run(TASK)
    assert KEY not in server.requests[0].headers["authorization"]


def test_nobody_at_an_address_is_told_within_seconds(make: Make) -> None:
    waits = Waits()
    with pytest.raises(Unreachable, match=r"http://127.0.0.1:9/v1 \(connection refused\)"):
        make(api_base="http://127.0.0.1:9/v1", clock=waits.clock).run(TASK)
    assert sum(waits.slept) < 3.0
    with pytest.raises(Unreachable, match="no such host"):
        make(api_base="http://no-such-host.invalid/v1", clock=waits.clock).run(TASK)


def test_a_server_that_was_there_before_is_waited_for(
    server: ScriptedServer, make: Make, waits: Waits
) -> None:
    server.will(GOOD)
    backbone = make(retries=RetryPolicy(attempts=6))
    backbone.run(TASK)
    server.close()
    with pytest.raises(BackboneUnavailable, match="after 6 attempts: connection refused") as error:
        backbone.run(TASK.model_copy(update={"prompt": "Again."}))
    assert not isinstance(error.value, UserError)
    assert sum(waits.slept) > 10.0


def test_an_unknown_provider_is_told_in_one_line(make: Make) -> None:
    with pytest.raises(UnknownModel, match="nosuch/thing") as error:
        make("nosuch/thing", api_base=None).run(TASK)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("At most 2 image(s) may be provided in one prompt.", 2),
        ("Too many images: 251. A maximum of 250 images is allowed.", 250),
        ("The number of images exceeds the limit of 250.", 250),
        ("messages.0: too many images and documents: 101 + 0 > 100", 100),
        ("image input is not supported - hint: you may need an mmproj", 0),
        ("This model does not support image input", 0),
        ("This model's maximum context length is 4096 tokens, limit is 8192.", None),
        ("Request payload size exceeds the limit: 20971520 bytes.", None),
    ],
)
def test_how_many_pictures_a_server_takes_is_read_from_its_words(said: str, most: int | None) -> None:
    error = Exception(said)
    error.status_code = 400  # type: ignore[attr-defined]
    failure = failed_call(error, (), (), 0.0)
    assert failure.fault is Fault.TOO_LARGE
    assert failure.most_images == most


@pytest.mark.parametrize("fault", ["a list", "no message", "HTML", "cut JSON", "nothing"])
def test_what_is_no_reply_is_told_without_a_trace(server: ScriptedServer, make: Make, fault: str) -> None:
    server.will(PASSING[fault])
    for model in (MODEL, "hosted_vllm/scripted"):
        with pytest.raises(BackboneUnavailable) as error:
            make(model, retries=RetryPolicy(attempts=1)).run(TASK)
        said = str(error.value)
        assert re.search("is no JSON|has not the form of a completion|invalid response|no 'choices'", said)
        assert not re.search(r"Traceback|File|\.py|validation error", said)


def test_a_reply_of_any_size_is_looked_at_in_no_time() -> None:
    for piece in (
        "context length ",
        "image " * 9,
        "maximum ",
        "api key ",
        "<html>" + " " * 40,
        "\n\t model ",
    ):
        error = Exception("litellm.APIError: " + piece * (8_000_000 // len(piece)))
        error.status_code = 400  # type: ignore[attr-defined]
        begun = time.monotonic()
        failure = failed_call(error, {"max_tokens": 5}, ("planted-key",), 0.0)
        assert time.monotonic() - begun < 0.5
        assert len(str(failure)) < 400
