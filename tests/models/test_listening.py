"""Sound is heard by a model at a real endpoint: what is sent, what comes back, and what is not paid twice."""

import wave
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from evoharness.models.backbone import BackboneUnavailable, Refused, UnknownModel, UnsupportedTask
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.hosting import HostedBackbone
from evoharness.models.perception_tasks import Transcribe
from evoharness.models.settings import HostedSettings
from evoharness.records.interval import Interval
from tests.providers.scripted_server import Received, Said, ScriptedServer, refusal
from tests.video.recordings import record_talk

WHISPERED = {
    "task": "transcribe",
    "text": "First we open the box. Thank you.",
    "duration": 4.0,
    "segments": [
        {"id": 0, "start": 0.5, "end": 2.0, "text": " First we open the box."},
        {"id": 1, "start": 3.0, "end": 99.0, "text": " Then we wait."},
        {"id": 2, "start": 3.5, "end": 4.0, "text": "you", "no_speech_prob": 0.9, "avg_logprob": -1.4},
        {"id": 3, "start": 3.5, "end": 4.0, "text": "  "},
    ],
}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds; a beep in every odd second."""
    return record_talk(tmp_path_factory.mktemp("talk") / "talk.mp4", seconds=12)


def backbone(server: ScriptedServer, cache_dir: Path | None = None, **options: Any) -> HostedBackbone:
    settings = HostedSettings(
        models={"default": "openai/a", "transcriber": "openai/whisper-1"},
        api_base=f"{server.address}/v1",
        prices={"transcriber": {"input": 0, "output": 0}},
        **options,
    )
    return HostedBackbone(settings, cache_dir)


def listen(path: Path, start: float = 2, end: float = 6, **more: Any) -> Transcribe:
    return Transcribe(path=path, key="talk", span=Interval(start=start, end=end), **more)


def sent_sound(request: Received) -> tuple[int, int, int]:
    """Rate, channels and samples of the WAV file among the parts of a form."""
    start = request.raw.index(b"RIFF")
    with wave.open(BytesIO(request.raw[start:])) as sound:
        return sound.getframerate(), sound.getnchannels(), sound.getnframes()


def test_lines_have_the_times_of_the_video_and_stay_in_their_span(talk: Path) -> None:
    with ScriptedServer(lambda _: Said(WHISPERED)) as server:
        reply = backbone(server).run(listen(talk, language="en", words=("valve", "gauge")))
        (request,) = server.received
    assert [(line.interval.start, line.interval.end, line.text) for line in reply.output.lines] == [
        (2.5, 4.0, "First we open the box."),
        (5.0, 6.0, "Then we wait."),
    ]
    assert reply.spend.calls == 1
    assert reply.spend.cost_usd == 0
    assert request.path == "/v1/audio/transcriptions"
    assert sent_sound(request) == (16_000, 1, 64_000)
    for part in (b'name="model"\r\n\r\nwhisper-1', b'"language"\r\n\r\nen', b"valve, gauge", b"verbose_json"):
        assert part in request.raw


def test_sentences_without_times_are_spread_by_their_length(talk: Path) -> None:
    with ScriptedServer(lambda _: Said({"text": " Turn it on now. Wait! Then close it all.."})) as server:
        lines = backbone(server).run(listen(talk)).output.lines
    assert [line.text for line in lines] == ["Turn it on now.", "Wait!", "Then close it all.."]
    assert [line.interval.start for line in lines] == pytest.approx([2, 3.54, 4.05], abs=0.01)
    assert lines[-1].interval.end == 6


def test_a_model_that_refuses_to_give_times_is_asked_for_text_alone(talk: Path) -> None:
    def text_only(request: Received) -> Said:
        if b"verbose_json" in request.raw:
            return refusal(400, "response_format 'verbose_json' is not compatible with model")
        return Said({"text": "Hello."})

    with ScriptedServer(text_only) as server:
        listener = backbone(server)
        assert [line.text for line in listener.run(listen(talk)).output.lines] == ["Hello."]
        listener.run(listen(talk, start=3))
        assert len(server.received) == 3


def test_a_sound_that_is_refused_says_nothing_of_the_others(talk: Path) -> None:
    replies = iter([refusal(400, "the audio is too short"), refusal(400, "the audio is too short")])
    with ScriptedServer(lambda _: next(replies, Said(WHISPERED))) as server:
        listener = backbone(server)
        with pytest.raises(Refused, match="too short"):
            listener.run(listen(talk))
        lines = listener.run(listen(talk, start=3)).output.lines
        assert [b"verbose_json" in request.raw for request in server.received] == [True, False, True]
    assert lines[0].interval.start == 3.5


def test_nothing_said_is_an_answer(talk: Path) -> None:
    with ScriptedServer(lambda _: Said({"text": ""})) as server:
        assert backbone(server).run(listen(talk)).output.lines == ()


def test_odd_counts_and_times_break_nothing(talk: Path) -> None:
    odd = {
        "text": "x",
        "segments": [
            {"start": 1e400, "end": 1, "text": "never"},
            {"start": 1, "end": -1e400, "text": "now"},
        ],
        "usage": {"type": "tokens", "input_tokens": -5, "output_tokens": -7, "total_tokens": -12},
    }
    with ScriptedServer(lambda _: Said(odd)) as server:
        reply = backbone(server).run(listen(talk))
    assert [line.text for line in reply.output.lines] == ["now"]
    assert (reply.spend.input_tokens, reply.spend.output_tokens) == (0, 0)


def _says(said: Said, _: Received) -> Said:
    return said


def test_another_server_of_ones_own_is_asked_itself(talk: Path, tmp_path: Path) -> None:
    for said in (Said({"text": "one"}), Said({"text": "two"})):
        with ScriptedServer(partial(_says, said)) as server:
            reply = backbone(server, tmp_path).run(listen(talk))
        assert (reply.output.lines[0].text, reply.cached) == (said.content["text"], False)


def test_who_listens_where_and_to_what_is_part_of_the_identity() -> None:
    def made(**options: Any) -> str:
        models = {"default": "openai/a", "transcriber": "openai/whisper-1"}
        return HostedBackbone(HostedSettings(models=models, **options), None).id

    assert made().endswith(":openai/whisper-1")
    asked: tuple[dict[str, Any], ...] = (
        {},
        {"api_bases": {"transcriber": "http://one/v1"}},
        {"api_bases": {"transcriber": "http://two/v1"}},
        {"parameters": {"transcriber": {"temperature": 0.2}}},
    )
    assert len({made(**options) for options in asked}) == len(asked)


def test_a_call_whose_reply_was_lost_is_paid_for(talk: Path) -> None:
    replies = iter([Said(drop=True), Said({"text": "heard"})])
    with ScriptedServer(lambda _: next(replies)) as server:
        reply = backbone(server).run(listen(talk))
    assert (reply.spend.calls, reply.wasted.calls) == (1, 1)


def test_silence_is_not_sent(talk: Path) -> None:
    with ScriptedServer(lambda _: Said(WHISPERED)) as server:
        reply = backbone(server).run(listen(talk, start=20, end=24))
        assert server.received == []
    assert reply.output.lines == ()
    assert reply.spend.calls == 0


def test_what_was_heard_is_not_paid_twice(talk: Path, tmp_path: Path) -> None:
    with ScriptedServer(lambda _: Said(WHISPERED)) as server:
        first = backbone(server, tmp_path).run(listen(talk))
        again = backbone(server, tmp_path).run(listen(talk))
        assert len(server.received) == 1
        backbone(server, tmp_path).run(listen(talk, start=3))
        assert len(server.received) == 2
    assert again.output == first.output
    assert (first.cached, again.cached) == (False, True)


def test_passing_faults_cost_time_only(talk: Path) -> None:
    with ScriptedServer(lambda _: Said(WHISPERED)) as server:
        script = [refusal(429, "slow", **{"Retry-After": "0"}), refusal(500, "oops"), Said(drop=True)]
        server.answering = lambda _: script.pop(0) if script else Said(WHISPERED)
        listener = backbone(server)
        listener._listener._retries = RetryPolicy(first_wait_s=0.01)
        assert len(listener.run(listen(talk)).output.lines) == 2
        assert len(server.received) == 4


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (refusal(404, "The model does not exist"), UnknownModel),
        (refusal(400, "this sound cannot be processed"), Refused),
    ],
)
def test_what_cannot_help_is_not_tried_again(talk: Path, said: Said, error: type[Exception]) -> None:
    with ScriptedServer(lambda _: said) as server:
        with pytest.raises(error):
            backbone(server).run(listen(talk))
        assert len(server.received) <= 2  # with times, and without


def test_a_server_that_stays_down_is_the_apparatus(talk: Path) -> None:
    with ScriptedServer(lambda _: refusal(503, "down")) as server:
        with pytest.raises(BackboneUnavailable, match="2 attempts"):
            backbone(server, rates={"attempts": 2}).run(listen(talk))
        assert len(server.received) == 2


def test_a_key_that_is_echoed_is_not_repeated(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-0123456789")
    with (
        ScriptedServer(lambda r: refusal(401, f"bad key: {r.headers['authorization']}")) as server,
        pytest.raises(BackboneUnavailable, match="OPENAI_API_KEY") as told,
    ):
        backbone(server).run(listen(talk))
    assert "planted" not in str(told.value)


def test_without_a_model_that_listens_the_setting_is_named() -> None:
    silent = HostedBackbone(HostedSettings(models={"default": "openai/a"}), None)
    with pytest.raises(UnsupportedTask, match=r"backbone\.models\.transcriber"):
        silent.run(listen(Path("nothing.mp4")))


@pytest.mark.parametrize(
    ("model", "a_minute"),
    [
        ("openai/whisper-1", 0.006),
        ("gemini/gemini-3.5-transcribe", 60 * (32 * 2e-6 + 8 * 1.2e-5)),
        ("openai/nobody-knows", None),
    ],
)
def test_a_known_price_is_by_the_second_or_by_tokens(model: str, a_minute: float | None) -> None:
    settings = HostedSettings(models={"default": "openai/a", "transcriber": model})
    listener = HostedBackbone(settings, None)._listener
    assert listener._most(60) == (None if a_minute is None else pytest.approx(a_minute))
