"""A video is cut into segments, and their pictures are read, without decoding anything twice."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
from evoharness.video import SceneSettings, Survey, Video, scenes, surveyed
from evoharness.video.key_pictures import key_pictures, key_times, widest_gap
from evoharness.video.scenes import differences, keys_are_close
from tests.video.recordings import number_in, numbered, record

Pixels = NDArray[np.uint8]
SHADES = (30, 200, 90, 240)


class Counted(Video):
    """Counts the pictures that are asked for, and in how many passes."""

    decoded = 0
    passes = 0

    def pixels(self, frames: Sequence[Frame]) -> Iterator[Pixels]:
        self.decoded += len(frames)
        self.passes += bool(frames)
        return super().pixels(frames)


def shades(number: int) -> Pixels:
    """Says its number; another ground every 40 s, at 2 pictures a second."""
    picture = numbered(number, 160, 96)
    picture[: 96 // 2, 160 // 4 :] = SHADES[number // 80 % 4]
    return picture


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two minutes, a key frame every 4 s."""
    return record(tmp_path_factory.mktemp("near") / "near.mp4", map(shades, range(240)), fps=2, gop=8)


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a single key frame."""
    return record(tmp_path_factory.mktemp("far") / "far.mp4", map(shades, range(240)), fps=2, gop=10_000)


SETTINGS = SceneSettings(maximum_s=50)


def survey(video: Video, spans: Sequence[Interval] | None = None) -> AbstractContextManager[Survey]:
    return surveyed(video, SETTINGS, fps=1, cap=250, detail=Detail.NORMAL, spans=spans)


def numbers(frames: Sequence[Frame]) -> list[int]:
    return [number_in(pixels) for pixels in frames[0].source.pixels(frames)]


def test_scenes_are_found_by_key_frames_alone(near: Path) -> None:
    video = Counted(near)
    assert [span.start for span in scenes(video, SETTINGS)] == [0, 40, 80]
    assert video.decoded == 0


def test_scenes_are_the_same_where_all_has_to_be_decoded(near: Path, far: Path) -> None:
    assert scenes(Video(far), SETTINGS) == scenes(Video(near), SETTINGS)


def test_key_pictures_are_those_of_the_video(near: Path) -> None:
    video = Video(near)
    index = video.index
    keys = key_times(index, [0, 1, 5, 9, 9.5, 30])
    assert [(pts - index.pts[0]) * index.seconds_per_unit for pts in keys] == [0, 4, 8, 28]
    found = list(key_pictures(near, keys))
    assert [pts for pts, _ in found] == keys
    assert [number_in(pixels) for _, pixels in found] == [0, 8, 16, 56]


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("libx264", "a.ts"),
        ("libx264", "a.mkv"),
        ("libx264", "a.avi"),
        ("libx265", "a.mp4"),
        ("mpeg4", "a.avi"),
        ("mpeg4", "a.mp4"),
        ("libvpx-vp9", "a.webm"),
        ("libsvtav1", "a.mkv"),
    ],
)
def test_key_pictures_come_out_of_every_kind_of_file(codec: str, name: str, tmp_path: Path) -> None:
    try:
        path = record(tmp_path / name, map(shades, range(120)), fps=2, gop=8, codec=codec)
    except (av.error.FFmpegError, ValueError):
        pytest.skip(f"no encoder {codec}")
    video = Video(path)
    if not keys_are_close(video):
        assert video.index.counted  # without times, there is no telling which picture came
        return
    keys = key_times(video.index, [4.0 * n for n in range(15)])
    found = list(key_pictures(path, keys))
    assert [pts for pts, _ in found] == keys
    frames = video.frames(
        [(pts - video.index.pts[0]) * video.index.seconds_per_unit for pts in keys], Detail.SMALL
    )
    assert [number_in(pixels) for _, pixels in found] == [
        number_in(pixels) for pixels in video.pixels(frames)
    ]


def test_where_a_key_frame_does_not_come_all_is_compared(near: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scenes(Video(near), SETTINGS)
    module = sys.modules["evoharness.video.scenes"]  # the package names the function by the same name
    monkeypatch.setattr(module, "key_pictures", lambda *_: iter(()))
    assert scenes(Video(near), SETTINGS) == expected


def test_the_gap_between_key_frames(near: Path, far: Path) -> None:
    assert widest_gap(Video(near).index) == pytest.approx(4)
    assert widest_gap(Video(far).index) == pytest.approx(120)


def test_differences_lie_at_the_key_frame_before_each_sample(near: Path) -> None:
    times, scores = differences(Video(near), 0.25)
    assert times == pytest.approx([4.0 * n for n in range(1, 30)])
    assert sorted(sorted(range(29), key=lambda n: scores[n])[-2:]) == [9, 19]


def test_a_video_that_cannot_be_cut_is_not_looked_at(tmp_path: Path) -> None:
    video = Counted(record(tmp_path / "short.mp4", map(shades, range(60)), fps=2, gop=1000))
    assert scenes(video) == [Interval(start=0, end=30)]
    assert video.decoded == 0


def test_segments_of_a_video_with_near_key_frames_are_read_one_by_one(near: Path) -> None:
    video = Counted(near)
    with survey(video) as found:
        assert video.decoded == 0
        for span in reversed(found.spans):
            with found.pictures(span) as pictures:
                assert len(pictures.frames) == 40
                assert numbers(pictures.frames) == [round(2 * frame.time) for frame in pictures.frames]


def test_a_video_with_far_key_frames_is_read_in_one_pass(far: Path) -> None:
    video = Counted(far)
    with survey(video) as found:
        assert [span.start for span in found.spans] == [0, 40, 80]
        seen = []
        for span in found.spans:
            with found.pictures(span) as pictures:
                assert numbers(pictures.frames) == [round(2 * frame.time) for frame in pictures.frames]
                assert all(span.start - 0.5 <= frame.time <= span.end for frame in pictures.frames)
                seen += [frame.time for frame in pictures.frames]
        assert all(later > earlier for earlier, later in pairwise(seen))
        assert len(seen) == 120
        assert video.passes == 1


def test_a_build_that_goes_on_sees_the_same_pictures(far: Path) -> None:
    with survey(Video(far)) as found:
        spans = found.spans
        with found.pictures(spans[1]) as pictures:
            before = [(frame.key, frame.until) for frame in pictures.frames]
    video = Counted(far)
    with survey(video, spans) as again:
        assert again.spans == spans
        assert video.decoded == 0  # nothing is read before it is wanted
        with again.pictures(spans[1]) as pictures:
            assert [(frame.key, frame.until) for frame in pictures.frames] == before


@pytest.mark.parametrize("gop", [8, 10_000])
def test_what_stays_over_a_bound_is_there_on_both_sides(tmp_path: Path, gop: int) -> None:
    video = Video(record(tmp_path / "still.mp4", (numbered(7) for _ in range(240)), fps=2, gop=gop))
    spans = (Interval(start=0, end=60), Interval(start=60, end=120))
    with surveyed(video, fps=1, cap=250, detail=Detail.NORMAL, spans=spans) as found:
        for span in spans:
            with found.pictures(span) as pictures:
                (frame,) = pictures.frames
                assert frame.until is not None
                assert span.end - 2 <= frame.until <= span.end
                assert pictures.repeats == 59
                assert numbers(pictures.frames) == [7]


def test_what_began_before_a_bound_and_is_seen_once_behind_it_tells_until_when(tmp_path: Path) -> None:
    still = (numbered(7 if n < 122 else n) for n in range(240))  # until second 61
    video = Video(record(tmp_path / "still.mp4", still, fps=2, gop=10_000))
    spans = (Interval(start=0, end=60), Interval(start=60, end=120))
    with (
        surveyed(video, fps=1, cap=250, detail=Detail.NORMAL, spans=spans) as found,
        found.pictures(spans[1]) as pictures,
    ):
        first, second = pictures.frames[:2]
        assert first.time < 60 <= (first.until or 0) < 61 <= second.time


@pytest.mark.parametrize("cap", [5, 250])
def test_a_cap_holds_in_one_pass_too(far: Path, cap: int) -> None:
    with surveyed(Video(far), SETTINGS, fps=2, cap=cap, detail=Detail.SMALL, least=4) as found:
        for span in found.spans:
            with found.pictures(span) as pictures:
                assert len(pictures.frames) + pictures.repeats == min(cap, 80)


def test_damage_does_not_keep_a_video_from_being_surveyed(near: Path, tmp_path: Path) -> None:
    data = bytearray(near.read_bytes())
    for place in range(len(data) // 3, len(data) * 2 // 3, 97):
        data[place] ^= 0xFF
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(data)
    with survey(Video(damaged)) as found:
        for span in found.spans:
            with found.pictures(span) as pictures:
                assert len(list(pictures.frames[0].source.pixels(pictures.frames))) == len(pictures.frames)
