"""The server of tests itself: what it reads back, what it says, how it fails, what it counts."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from evoharness.models.embedded import EmbeddedBackbone
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.perception_tasks import DescribeFrame, DescribeSegment, InspectFrames, LocalizeEvent
from evoharness.models.reasoning_tasks import (
    AnswerQuestion,
    ChooseAction,
    Reason,
    SummarizeSegments,
    SummarizeVideo,
    ToolChoice,
    VerifyClaim,
)
from evoharness.models.task import Task
from evoharness.records.evidence import Evidence
from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
from evoharness.retrieval import WordLlamaEmbedder
from evoharness.video import Video
from tests.evolution.colour_world import write_video
from tests.server import ModelServer, model_server
from tests.server.faults import KINDS, LASTING, LOST, PASSING, WHOLE

pytestmark = pytest.mark.xdist_group("model_server")

SPAN = Interval(start=2.0, end=6.0)
EVIDENCE = (
    Evidence(source="look", text="a red ball rolls to the left", interval=Interval(start=1, end=3.5)),
    Evidence(source="summary", text='the text "<b>Stop</b>" is shown'),
)
TOOL = ToolChoice(name="look", purpose="look at a stretch", arguments={"start": "number", "end": "number"})
THINKING: tuple[Task[Any], ...] = (
    VerifyClaim(claim="A red ball rolls.", evidence=EVIDENCE),
    Reason(prompt="What rolls?", evidence=EVIDENCE),
    ChooseAction(question="What?", options=("a ball", "a cup"), duration=30.0, tools=(TOOL,)),
    SummarizeSegments(summaries=("A ball rolls.", "The ball rolls on.", "A text is shown.")),
    SummarizeVideo(super_events=("A ball rolls.", "A text is shown.")),
)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server(workers=1) as running:
        yield running


@pytest.fixture
def well(server: ModelServer) -> ModelServer:
    server.reset()
    return server


@pytest.fixture(scope="module")
def hosted(server: ModelServer) -> LiteLLMBackbone:
    return LiteLLMBackbone({"default": "hosted_vllm/embedded"}, api_base=server.address, image_format="png")


@pytest.fixture(scope="module")
def embedded() -> EmbeddedBackbone:
    return EmbeddedBackbone(WordLlamaEmbedder())


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> tuple[Frame, ...]:
    path = tmp_path_factory.mktemp("video") / "colours.mp4"
    write_video(path, [("grey", 3.0), ("red", 2.0), ("blue", 2.0)])
    return tuple(Video(path).frames([2.0, 3.0, 3.25, 4.0, 5.5], Detail.LARGE))


@pytest.mark.parametrize("task", THINKING, ids=lambda task: type(task).__name__)
def test_tasks_that_think_come_back_as_the_embedded_backbone_does_them(
    well: ModelServer, hosted: LiteLLMBackbone, embedded: EmbeddedBackbone, task: Task[Any]
) -> None:
    assert hosted.run(task).output == embedded.run(task).output
    assert well.counts().calls == 1


def test_so_do_tasks_that_look(
    well: ModelServer, hosted: LiteLLMBackbone, embedded: EmbeddedBackbone, frames: tuple[Frame, ...]
) -> None:
    tasks: tuple[Task[Any], ...] = (
        InspectFrames(frames=frames, span=SPAN, prompt="What colour is it?"),
        LocalizeEvent(frames=frames, span=SPAN, query="when is it blue?"),
        DescribeSegment(frames=frames, span=SPAN),
        DescribeFrame(frame=frames[0], prompt=""),
    )
    for task in tasks:
        assert hosted.run(task).output == embedded.run(task).output, type(task).__name__
    assert well.counts().tasks == {
        "inspect_frames": 1,
        "localize_event": 1,
        "describe_segment": 1,
        "describe_frame": 1,
    }


def test_a_choice_comes_back_with_its_scores(
    well: ModelServer, hosted: LiteLLMBackbone, embedded: EmbeddedBackbone
) -> None:
    task = AnswerQuestion(text="What rolls?", options=("a cup", "a red ball"), evidence=EVIDENCE)
    there, here = hosted.run(task).output, embedded.run(task).output
    assert (there.choice, there.text, there.guessed) == (here.choice, here.text, here.guessed)
    assert there.scores == pytest.approx(here.scores, abs=1e-5)
    assert well.counts().calls == 1


def body(number: int = 0) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return {
        "model": "embedded",
        "messages": [
            {"role": "system", "content": "You summarize."},
            {"role": "user", "content": f'<super_events>\n["event {number}"]\n</super_events>'},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "summarize_video", "schema": schema},
        },
    }


def post(server: ModelServer, content: Any, key: str = "") -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the reply to one request on a connection of its own."""
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=20)
    connection.request(
        "POST", "/v1/chat/completions", json.dumps(content), {"authorization": f"Bearer {key}"}
    )
    try:
        reply = connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
    finally:
        connection.close()


def test_what_is_said_is_counted_as_a_provider_does(well: ModelServer) -> None:
    status, _, data = post(well, body())
    assert status == 200
    reply = json.loads(data)
    assert json.loads(reply["choices"][0]["message"]["content"]) == {"text": "event 0"}
    counts = well.counts()
    assert (counts.calls, counts.requests) == (1, 1)
    assert reply["usage"]["prompt_tokens"] == counts.prompt_tokens > 0
    assert reply["usage"]["completion_tokens"] == counts.completion_tokens > 0


@pytest.mark.parametrize(
    ("kind", "status"),
    [("busy", 429), ("busy_until", 429), ("error_500", 500), ("error_503", 503), ("blocked", 400)],
)
def test_errors_come_as_such(well: ModelServer, kind: str, status: int) -> None:
    well.script(kind)
    came, headers, data = post(well, body())
    assert came == status
    assert "message" in json.loads(data)["error"]
    assert ("retry-after" in headers) == (kind == "busy_until")
    assert post(well, body())[0] == 200
    counts = well.counts()
    assert (counts.calls, counts.requests, counts.faults) == (1, 2, {kind: 1})


@pytest.mark.parametrize("kind", ["stall", "reset", "reset_mid_body", "truncated_body"])
def test_connections_break(well: ModelServer, kind: str) -> None:
    well.script(kind)
    began = time.monotonic()
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        post(well, body())
    assert (time.monotonic() - began > 0.4) == (kind == "stall")
    assert well.counts().calls == 1, "it was worked out, and is paid for"


def test_replies_are_damaged(well: ModelServer) -> None:
    well.script("malformed_body", "wrong_type", "malformed_answer", "truncated_answer", "empty_choices")
    status, _, data = post(well, body())
    with pytest.raises(ValueError, match=r"Unterminated|delimiter|Expecting"):
        json.loads(data)
    status, headers, _ = post(well, body())
    assert (status, headers["content-type"]) == (200, "text/html")
    for finish in ("stop", "length"):
        choice = json.loads(post(well, body())[2])["choices"][0]
        assert choice["finish_reason"] == finish
        with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
            json.loads(choice["message"]["content"])
    assert json.loads(post(well, body())[2])["choices"] == []
    assert well.counts().calls == 5, "whatever arrived of them"


def test_a_share_of_first_attempts_fails_by_what_is_asked(well: ModelServer) -> None:
    well.fail(0.2, kinds=["error_500"])
    first = [post(well, body(number))[0] for number in range(60)]
    assert 4 <= first.count(500) <= 24
    assert [post(well, body(number))[0] for number in range(60)] == [200] * 60
    well.reset()
    well.fail(0.2, kinds=["error_500"])
    assert [post(well, body(number))[0] for number in range(60)] == first, "the same ones again"


def test_every_fault_is_one_that_can_be_asked_for() -> None:
    assert not set(PASSING) & set(LASTING)
    assert not set(WHOLE) & set(LOST)
    assert {*PASSING, *LASTING, *WHOLE, *LOST} <= set(KINDS)


def test_what_cannot_be_read_is_refused_with_a_reason(well: ModelServer) -> None:
    unknown = {**body(), "response_format": None}
    status, _, data = post(well, unknown)
    assert status == 400
    assert "is not asked for here" in json.loads(data)["error"]["message"]
    assert post(well, {**body(), "model": "another"})[0] == 404
    assert post(well, body())[0] == 200


def test_a_key_and_models_of_its_own() -> None:
    with model_server(key="right", models=["one", "two"], latency_s=0.0) as server:
        assert post(server, body(), key="wrong")[0] == 401
        assert post(server, body(), key="right")[0] == 404
        assert post(server, {**body(), "model": "two"}, key="right")[0] == 200


def test_many_wait_together_and_get_the_least_that_fits() -> None:
    with model_server(latency_s=0.2) as server:
        replies: list[bytes] = []
        threads = [
            threading.Thread(target=lambda n=n: replies.append(post(server, body(n))[2])) for n in range(32)
        ]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < 3.0
        answers = {json.loads(reply)["choices"][0]["message"]["content"] for reply in replies}
        assert answers == {'{"text": "something"}'}
        assert server.counts().most_open > 8


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    assert tmp_path
    with model_server(latency_s=0.0) as server:
        place = urlsplit(server.address)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((place.hostname, place.port), timeout=2)
