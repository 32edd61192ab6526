"""What other providers are sent: the same tasks in their own words, through the same code."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evoharness.models.backbone import BackboneUnavailable, MissingKey, Refused
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.perception_tasks import InspectFrames
from evoharness.models.reasoning_tasks import Reason
from evoharness.records.interval import Interval
from tests.models.hosted.conftest import Waits, drawn
from tests.models.hosted.server import Action, ScriptedServer, completion, sends

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
KEYS = {
    "GEMINI_API_KEY": "AIzaSyPlanted0123456789",
    "ANTHROPIC_API_KEY": "sk-ant-planted0123456",
    "DASHSCOPE_API_KEY": "sk-planted-dashscope",
    "DEEPSEEK_API_KEY": "sk-planted-deepseek",
}
SEEN: dict[str, list[Any]] = {"observations": [], "candidates": []}
TASK = Reason(prompt="Sum up.", evidence=())


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)


@pytest.fixture
def ask(server: ScriptedServer, waits: Waits) -> Callable[..., LiteLLMBackbone]:
    def make(model: str, path: str = "", **options: Any) -> LiteLLMBackbone:
        base = server.address.removesuffix("/v1") + path
        options.setdefault("retries", RetryPolicy(attempts=3))
        return LiteLLMBackbone({"default": model}, api_base=base, clock=waits.clock, **options)

    return make


Ask = Callable[..., LiteLLMBackbone]


def look(count: int) -> InspectFrames:
    return InspectFrames(frames=drawn(count), span=Interval(start=0, end=60), prompt="a ball")


def gemini(value: Any, finish: str = "STOP", **fields: Any) -> Action:
    parts = [] if value is None else [{"text": json.dumps(value)}]
    return sends(
        200,
        {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11},
            **fields,
        },
    )


def anthropic(value: Any) -> Action:
    return sends(
        200,
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [{"type": "text", "text": json.dumps(value)}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 6},
        },
    )


def test_gemini_gets_pictures_and_a_schema(server: ScriptedServer, ask: Ask) -> None:
    server.will(gemini(SEEN))
    reply = ask("gemini/gemini-3.5-flash", "/v1beta").run(look(3))
    assert (reply.spend.input_tokens, reply.spend.output_tokens, reply.spend.frames) == (5, 6, 3)
    (request,) = server.requests
    assert request.path == "/v1beta/models/gemini-3.5-flash:generateContent"
    assert request.headers["x-goog-api-key"] == KEYS["GEMINI_API_KEY"]
    assert KEYS["GEMINI_API_KEY"] not in request.path
    config = request.body["generationConfig"]
    assert config["response_mime_type"] == "application/json"
    assert config["response_json_schema"]["type"] == "object"
    kinds = [next(iter(part)) for part in request.body["contents"][0]["parts"]]
    assert kinds.count("inline_data") == 3


def test_gemini_gets_many_frames_as_a_video_with_its_rate(server: ScriptedServer, ask: Ask) -> None:
    server.will(gemini(SEEN))
    reply = ask("gemini/gemini-3.5-flash").run(look(40))
    assert reply.spend.frames == 40
    video, *texts = server.bodies[0]["contents"][0]["parts"]
    assert video["inline_data"]["mime_type"] == "video/mp4"
    assert video["video_metadata"] == {"fps": 2.0, "startOffset": "0s", "endOffset": "20s"}
    told = "\n".join(text["text"] for text in texts)
    assert "one video, sampled 2 times a second" in told
    assert told.count("frame at") == 40
    server.will(gemini(SEEN))
    ask("gemini/gemini-3.5-flash", profiles={"gemini": {"video": False}}).run(look(40))
    assert len([part for part in server.bodies[1]["contents"][0]["parts"] if "inline_data" in part]) == 40


@pytest.mark.parametrize(
    "blocked",
    [
        gemini(None, "SAFETY"),
        sends(200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}),
    ],
)
def test_gemini_that_blocks_with_a_200_refuses(server: ScriptedServer, ask: Ask, blocked: Action) -> None:
    server.will(blocked)
    with pytest.raises(Refused):
        ask("gemini/gemini-3.5-flash").run(TASK)


def test_gemini_that_is_busy_is_waited_for_as_long_as_it_says(
    server: ScriptedServer, ask: Ask, waits: Waits
) -> None:
    busy = {
        "error": {
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan and billing details. "
            "Please retry in 31.5s.",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"}],
        }
    }
    server.will(sends(429, busy), gemini({"text": "x"}))
    assert ask("gemini/gemini-3.5-flash").run(TASK).output.text == "x"
    assert 31.0 <= waits.slept[0] <= 32.6


def test_a_key_that_gemini_does_not_take_is_named_not_shown(server: ScriptedServer, ask: Ask) -> None:
    said = f"API key not valid. Please pass a valid API key: {KEYS['GEMINI_API_KEY']}"
    server.will(sends(400, {"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}))
    with pytest.raises(MissingKey, match="GEMINI_API_KEY") as error:
        ask("gemini/gemini-3.5-flash").run(TASK)
    assert KEYS["GEMINI_API_KEY"] not in str(error.value)


def test_anthropic_gets_pictures_and_a_schema(server: ScriptedServer, ask: Ask) -> None:
    server.will(anthropic(SEEN))
    reply = ask("anthropic/claude-opus-4-8").run(look(2))
    assert (reply.spend.input_tokens, reply.spend.output_tokens) == (5, 6)
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert [part["type"] for part in request.body["messages"][0]["content"]].count("image") == 2
    assert request.body["output_format"]["schema"]["type"] == "object"


def test_anthropic_that_is_overloaded_is_tried_again(server: ScriptedServer, ask: Ask) -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.will(sends(529, overloaded), anthropic({"text": "x"}))
    assert ask("anthropic/claude-opus-4-8").run(TASK).output.text == "x"
    server.will(sends(529, overloaded))
    with pytest.raises(BackboneUnavailable, match="after 3 attempts"):
        ask("anthropic/claude-opus-4-8").run(TASK)


def test_ollama_gets_the_schema_and_texts_that_do_not_run_together(server: ScriptedServer, ask: Ask) -> None:
    server.will(
        sends(
            200,
            {
                "model": "llava",
                "created_at": "2024-01-01T00:00:00Z",
                "message": {"role": "assistant", "content": json.dumps(SEEN)},
                "done": True,
                "done_reason": "stop",
                "prompt_eval_count": 5,
                "eval_count": 6,
            },
        )
    )
    reply = ask("ollama_chat/llava").run(look(2))
    assert reply.spend.cost_usd is None
    chats = [request for request in server.requests if request.path == "/api/chat"]
    (request,) = chats
    user = request.body["messages"][1]
    assert len(user["images"]) == 2
    assert "frame at 0 s\n" in user["content"]
    assert request.body["format"]["type"] == "object"


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("dashscope/qwen3.7-plus", "json_schema"),
        ("deepseek/deepseek-v4-flash", "json_object"),
        ("hosted_vllm/qwen", "json_schema"),
    ],
)
def test_those_that_speak_like_openai_get_what_they_take(
    server: ScriptedServer, ask: Ask, model: str, form: str
) -> None:
    server.will(sends(200, completion(json.dumps(SEEN))))
    ask(model, "/v1").run(look(2))
    (request,) = server.requests
    assert request.body["response_format"]["type"] == form
    assert request.body["model"] == model.partition("/")[2]
