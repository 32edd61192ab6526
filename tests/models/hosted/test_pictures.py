"""Frames on the way to a model: within its pixels and bytes, thinned evenly, as a video where that helps."""

import io
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import av
import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evoharness.models.backbone import Refused, UnsupportedTask
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.clip import make_clip, suits
from evoharness.models.hosted.pictures import Encoder, Picture, encode, thinned
from evoharness.models.hosted.profiles import MB, Profile, profile_of
from evoharness.models.perception_tasks import DescribeFrame, InspectFrames
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from tests.models.hosted.conftest import Drawn, drawn
from tests.models.hosted.server import ScriptedServer, answers, fails

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
Make = Callable[..., LiteLLMBackbone]
SEEN = answers({"observations": [], "candidates": []})


def decoded(picture: Picture) -> NDArray[np.uint8]:
    image: Any = cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8)


def look(frames: Sequence[Frame]) -> InspectFrames:
    return InspectFrames(frames=tuple(frames), span=Interval(start=0, end=60), prompt="a ball")


def images_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [part["image_url"] for part in body["messages"][1]["content"] if part["type"] == "image_url"]


def test_frames_are_sent_in_order_each_after_its_time(server: ScriptedServer, make: Make) -> None:
    server.will(SEEN)
    reply = make().run(look(drawn(3)))
    assert reply.spend.frames == 3
    content = server.bodies[0]["messages"][1]["content"]
    at = [number for number, part in enumerate(content) if part["type"] == "image_url"]
    assert [content[number - 1]["text"] for number in at] == [
        "frame at 0 s",
        "frame at 0.5 s",
        "frame at 1 s",
    ]
    assert all(content[number]["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/") for number in at)
    assert content[-1]["type"] == "text"


def test_a_picture_keeps_its_size_and_its_colours() -> None:
    (frame,) = drawn(1, 96, 64)
    original = next(Drawn().pixels([frame]))
    exact = decoded(encode(original, "png", 4096))
    assert np.array_equal(exact, original)
    close = decoded(encode(original, "jpeg", 4096))
    assert close.shape == original.shape
    assert np.abs(close.astype(int) - original).mean() < 6
    assert decoded(encode(original, "png", 48)).shape == (32, 48, 3)


def test_a_picture_fits_the_bytes_of_one_picture() -> None:
    rng = np.random.default_rng(0)

    class Noise:
        def pixels(self, frames: Sequence[Frame]) -> Iterator[NDArray[np.uint8]]:
            for frame in frames:
                yield rng.integers(0, 256, (frame.height, frame.width, 3), dtype=np.uint8)

    (picture,) = Encoder().within([Frame("noise", 0, 640, 640, Noise())], Profile(max_image_bytes=60_000))  # type: ignore[misc]
    assert len(picture.data) <= 60_000


def test_too_many_pictures_are_thinned_evenly_and_it_is_said(server: ScriptedServer, make: Make) -> None:
    server.will(SEEN)
    reply = make(profiles={"openai": {"max_images": 4}}).run(look(drawn(10)))
    texts = [part["text"] for part in server.bodies[0]["messages"][1]["content"] if part["type"] == "text"]
    assert [text for text in texts if text.startswith("frame at")] == [
        f"frame at {time:g} s" for time in (0, 1.5, 3, 4.5)
    ]
    assert reply.notes == ("4 of 10 frames are shown: openai/scripted takes at most 4 pictures a request",)
    assert reply.spend.frames == 4


def test_too_many_bytes_are_first_encoded_more_coarsely_and_then_thinned(
    server: ScriptedServer, make: Make
) -> None:
    server.will(SEEN)
    frames = drawn(12, 320, 192)
    make().run(look(frames))
    whole = sum(len(image["url"]) for image in images_of(server.bodies[0]))
    coarser = make(profiles={"openai": {"max_request_bytes": int(whole * 0.85)}}).run(look(frames))
    assert coarser.notes == ()
    assert len(images_of(server.bodies[1])) == 12
    reply = make(profiles={"openai": {"max_request_bytes": int(whole * 0.3)}}).run(look(frames))
    kept = images_of(server.bodies[2])
    assert 3 <= len(kept) < 12
    assert sum(len(image["url"]) for image in kept) <= whole * 0.3 + 100 * len(kept)
    assert reply.notes[0].startswith(f"{len(kept)} of ")
    assert reply.spend.frames == len(kept)


def test_a_server_that_takes_fewer_pictures_is_believed_from_then_on(
    server: ScriptedServer, make: Make
) -> None:
    server.will(fails(400, "At most 2 image(s) may be provided in one prompt."), SEEN)
    backbone = make()
    reply = backbone.run(look(drawn(6)))
    backbone.run(look(drawn(5)))
    assert [len(images_of(body)) for body in server.bodies] == [6, 2, 2]
    assert reply.notes[0].startswith("2 of 6 frames are shown")


def test_a_server_that_turns_out_not_to_see_is_not_shown_anything_again(
    server: ScriptedServer, make: Make
) -> None:
    blind = fails(500, "image input is not supported - hint: if this is unexpected, you may need the mmproj")
    server.will(blind, answers({"reason": "", "choice": "A", "scores": [], "guessed": False}))
    backbone = make()
    with pytest.raises(UnsupportedTask, match="takes no pictures, and InspectFrames shows 3"):
        backbone.run(look(drawn(3)))
    task = AnswerQuestion(text="Which?", options=("red", "blue"), frames=drawn(3))
    assert backbone.run(task).notes == ("0 of 3 frames are shown: openai/scripted takes no pictures",)
    with pytest.raises(UnsupportedTask, match="frame_verifier"):
        backbone.run(DescribeFrame(frame=drawn(1)[0], prompt=""))
    assert len(server.requests) == 2


def test_a_request_that_is_too_large_is_halved_until_it_fits(server: ScriptedServer, make: Make) -> None:
    large = fails(413, "Request Entity Too Large")
    server.will(large, large, SEEN)
    make().run(look(drawn(9)))
    assert [len(images_of(body)) for body in server.bodies] == [9, 4, 2]
    server.will(large)
    with pytest.raises(Refused, match="larger than"):
        make().run(look(drawn(9)))
    assert len(images_of(server.bodies[-1])) == 1


def test_a_model_that_need_not_see_answers_without_its_frames(server: ScriptedServer, make: Make) -> None:
    server.will(answers({"reason": "", "choice": "A", "scores": [], "guessed": False}))
    task = AnswerQuestion(text="Which?", options=("red", "blue"), frames=drawn(3))
    reply = make(profiles={"default": {"max_images": 0}}).run(task)
    assert reply.notes[0].startswith("0 of 3 frames")
    assert isinstance(server.bodies[0]["messages"][1]["content"], str)


@given(st.integers(0, 60), st.integers(1, 60))
def test_thinning_keeps_the_ends_and_even_steps(count: int, most: int) -> None:
    kept = thinned(range(count), most)
    assert len(kept) == min(count, most)
    assert kept == sorted(set(kept))
    if len(kept) > 1:
        assert (kept[0], kept[-1]) == (0, count - 1)
        steps = [later - earlier for earlier, later in pairwise(kept)]
        assert max(steps) - min(steps) <= 1


def test_frames_that_are_looked_at_again_are_not_decoded_again() -> None:
    read: list[str] = []

    class Counted(Drawn):
        def pixels(self, frames: Sequence[Frame]) -> Iterator[NDArray[np.uint8]]:
            read.extend(frame.key for frame in frames)
            return super().pixels(frames)

    frames = [Frame(f"f{k}", k, 64, 32, Counted()) for k in range(8)]
    encoder = Encoder()
    first = encoder.within(frames, Profile())
    with ThreadPoolExecutor(8) as pool:
        assert all(done == first for done in pool.map(lambda _: encoder.within(frames, Profile()), range(16)))
    assert len(read) == 8
    forgetful = Encoder(kept_bytes=1)
    forgetful.within(frames[:2], Profile())
    forgetful.within(frames[:2], Profile())
    assert len(read) == 12


def test_frames_at_a_steady_rate_become_a_video_that_shows_each_at_its_time() -> None:
    profile = profile_of("gemini/gemini-3.5-flash")
    frames = drawn(30, 128, 64, gap=0.5)
    assert suits(frames, profile)
    clip = make_clip(frames, profile)
    assert clip is not None
    assert (clip.fps, clip.seconds) == (2.0, 15.0)
    with av.open(io.BytesIO(clip.video.data)) as container:
        shown = [
            (float(frame.pts * frame.time_base), frame.to_ndarray(format="rgb24"))
            for frame in container.decode(video=0)
        ]
    assert [time for time, _ in shown][:30] == pytest.approx([frame.time for frame in frames], abs=0.002)
    for frame, (_, image) in zip(frames, shown, strict=False):
        assert np.abs(image.astype(int) - next(Drawn().pixels([frame]))).mean() < 30
    assert make_clip(frames, profile.changed(max_video_bytes=1000)) is None


def test_only_frames_that_a_video_does_justice_to_become_one() -> None:
    gemini, openai = profile_of("gemini/gemini-3.5-flash"), profile_of("openai/gpt-5.5")
    many = drawn(30, 128, 64)
    assert suits(many, gemini)
    assert not suits(many, openai)
    assert not suits(many[:5], gemini)
    assert not suits(drawn(30, 1024, 1024), gemini)
    assert not suits([*many[:20], *drawn(30, 64, 32)[20:]], gemini)
    assert not suits(many[:10] + many[15:], gemini)
    assert not suits([*many[:29], many[28]], gemini)


def test_every_profile_is_one_and_says_more_than_nothing() -> None:
    assert profile_of("unknown/model") == Profile()
    assert profile_of("anthropic/claude-opus-4-8").max_images == 100
    assert profile_of("gemini/gemini-3.1-flash-lite").video
    assert not profile_of("openai/gpt-5.5", own_server=True).thinking_tokens
    assert profile_of("dashscope/qwen3.7-plus").max_request_bytes <= 15 * MB
    assert profile_of("x/y", changes={"judge": {"max_images": 1}}, role="judge").max_images == 1
    assert profile_of("x/y", changes={"judge": {"max_images": 1}}, role="solver") == Profile()
    assert Profile().version != Profile(max_images=1).version
    assert Profile().image_tokens(1, 1) < Profile().image_tokens(1024, 1024)


def test_one_frame_is_described_by_itself(server: ScriptedServer, make: Make) -> None:
    server.will(answers({"text": "a ball", "visible": True}))
    reply = make(image_format="png").run(DescribeFrame(frame=drawn(1)[0], prompt=""))
    assert reply.spend.frames == 1
    (image,) = images_of(server.bodies[0])
    assert image["url"].startswith("data:image/png;base64,")
