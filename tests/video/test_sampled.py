"""The pictures that a segment is described by: one pass, no repeats, nothing that changed left out."""

import gc
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
from evoharness.video import Video, sampled, scattered_times
from evoharness.video.sampled import MOST_THUMBNAILS, THUMBNAIL_WIDTH
from evoharness.video.spool import Spool
from tests.video.recordings import number_in, numbered, record

Pixels = NDArray[np.uint8]


class Counted(Video):
    """Counts the pictures that are decoded."""

    decoded = 0

    def pixels(self, frames: Sequence[Frame]) -> Iterator[Pixels]:
        self.decoded += len(frames)
        return super().pixels(frames)


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty seconds: a picture from 0 s, another from 10 s to 30 s, and then the first one again."""
    pictures = (numbered(2 if 100 <= n < 300 else 1) for n in range(400))
    return record(tmp_path_factory.mktemp("slides") / "slides.mp4", pictures)


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pictures in forty seconds: each stays until the next one."""
    path = tmp_path_factory.mktemp("still") / "still.mp4"
    return record(path, map(numbered, (1, 2, 3, 3)), [0, 12, 30, 40])


def test_frames_are_those_at_scattered_times(plain: Path) -> None:
    video, span = Video(plain), Interval(start=2, end=8)
    times = scattered_times(span, 2, 250, f"{video.info.content_hash} {span.start}")
    expected = video.frames(times, Detail.NORMAL)
    with sampled(video, span, fps=2, cap=250, detail=Detail.NORMAL) as pictures:
        assert [(f.key, f.time) for f in pictures.frames] == [(f.key, f.time) for f in expected]
        for ours, theirs in zip(pixels_of(pictures.frames), video.pixels(expected), strict=True):
            assert np.array_equal(ours, theirs)


def pixels_of(frames: Sequence[Frame]) -> list[Pixels]:
    return list(frames[0].source.pixels(frames))


def test_every_picture_is_decoded_once(plain: Path) -> None:
    video = Counted(plain)
    with sampled(video, Interval(start=0, end=10), fps=1, cap=250, detail=Detail.NORMAL) as pictures:
        assert video.decoded == 10
        for _ in range(3):
            assert len(pixels_of(pictures.frames)) == 10
        assert video.decoded == 10


def test_a_repeat_lengthens_the_picture_before_it(slides: Path) -> None:
    with sampled(Video(slides), Interval(start=0, end=40), fps=1, cap=None, detail=Detail.NORMAL) as pictures:
        assert [number_in(pixels) for pixels in pixels_of(pictures.frames)] == [1, 2, 1]
        first, second, third = pictures.frames
        assert first.until is not None
        assert first.until <= 10.1
        assert second.time >= 9.9
        assert second.until is not None
        assert 27.9 <= second.until <= 30.1
        assert third.until is not None
        assert third.until > 38
        assert pictures.repeats == 37


def test_one_picture_that_is_on_display_for_long_says_so(still: Path) -> None:
    with sampled(Video(still), Interval(start=0, end=40), fps=1, cap=None, detail=Detail.NORMAL) as pictures:
        assert [frame.time for frame in pictures.frames] == [0, 12, 30]
        assert [round(frame.until or 0) for frame in pictures.frames] == pytest.approx(
            [11.5, 29.5, 39.5], abs=1
        )


def test_a_small_thing_that_moves_is_no_repeat(tmp_path: Path) -> None:
    def moving(number: int) -> Pixels:
        picture = np.full((192, 320, 3), 200, np.uint8)
        return np.asarray(cv2.circle(picture, (20 + number, 100), 3, (200, 30, 30), -1), dtype=np.uint8)

    video = Video(record(tmp_path / "dot.mp4", map(moving, range(200))))
    with sampled(video, Interval(start=0, end=20), fps=1, cap=None, detail=Detail.NORMAL) as pictures:
        assert pictures.repeats == 0
        assert all(frame.until is None for frame in pictures.frames)


def test_a_short_span_is_looked_at_often_enough(plain: Path) -> None:
    span = Interval(start=0, end=2)
    with sampled(Video(plain), span, fps=0.5, cap=250, detail=Detail.NORMAL, least=4) as pictures:
        assert len(pictures.frames) == 4
    with sampled(Video(plain), span, fps=0.5, cap=2, detail=Detail.NORMAL, least=4) as pictures:
        assert len(pictures.frames) == 2


def test_thumbnails_are_few_and_small(plain: Path) -> None:
    with sampled(Video(plain), Interval(start=0, end=10), fps=5, cap=None, detail=Detail.LARGE) as pictures:
        assert len(pictures.thumbnails) == MOST_THUMBNAILS
        times = [thumbnail.time for thumbnail in pictures.thumbnails]
        assert times == sorted(times)
        for thumbnail in pictures.thumbnails:
            image = cv2.imdecode(np.frombuffer(thumbnail.jpeg, np.uint8), cv2.IMREAD_COLOR)
            assert image is not None
            assert image.shape == (96, THUMBNAIL_WIDTH, 3)


def test_pixels_outlive_the_spool(plain: Path) -> None:
    with sampled(Video(plain), Interval(start=0, end=10), fps=1, cap=None, detail=Detail.NORMAL) as pictures:
        before = pixels_of(pictures.frames)
    assert all(np.array_equal(a, b) for a, b in zip(before, pixels_of(pictures.frames), strict=True))


def test_frames_travel_to_another_process_as_frames_of_the_video(plain: Path) -> None:
    with sampled(Video(plain), Interval(start=0, end=10), fps=1, cap=None, detail=Detail.NORMAL) as pictures:
        frame = pictures.frames[3]
        arrived = pickle.loads(pickle.dumps(frame))
    assert arrived == frame
    assert isinstance(arrived.source, Video)


def test_pixels_may_be_asked_for_from_several_threads(plain: Path) -> None:
    with (
        sampled(Video(plain), Interval(start=0, end=10), fps=5, cap=None, detail=Detail.NORMAL) as pictures,
        ThreadPoolExecutor(4) as threads,
    ):
        expected = [number_in(pixels) for pixels in pixels_of(pictures.frames)]
        for _ in range(5):
            asked = [threads.submit(pixels_of, pictures.frames) for _ in range(4)]
            assert all([number_in(p) for p in each.result()] == expected for each in asked)


def test_nothing_is_left_on_disk(plain: Path, tmp_path: Path) -> None:
    span = Interval(start=0, end=10)
    with sampled(Video(plain), span, fps=1, cap=None, detail=Detail.NORMAL, folder=tmp_path):
        assert not list(tmp_path.iterdir())  # the file has no name: it is gone however the process ends
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("most_bytes", [0, 500_000])
def test_what_does_not_fit_is_decoded_again(plain: Path, most_bytes: int) -> None:
    video = Counted(plain)
    frames = video.frames(range(10), Detail.NORMAL)
    with Spool(video, most_bytes=most_bytes) as spool:
        kept = [spool.keep(frame, rgb) for frame, rgb in zip(frames, video.pixels(frames), strict=True)]
        video.decoded = 0
        assert [number_in(pixels) for pixels in spool.pixels(kept)] == [10 * n for n in range(10)]
        assert video.decoded == 10 - most_bytes // (320 * 192 * 3)


def test_a_folder_that_is_not_there_is_made(plain: Path, tmp_path: Path) -> None:
    video, folder = Counted(plain), tmp_path / "new" / "one"
    span = Interval(start=0, end=10)
    with sampled(video, span, fps=1, cap=None, detail=Detail.NORMAL, folder=folder) as pictures:
        assert folder.is_dir()
        assert len(pixels_of(pictures.frames)) == video.decoded == 10


def test_a_folder_that_cannot_be_written_costs_time_alone(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    video, folder = Counted(plain), tmp_path / "file" / "folder"
    span = Interval(start=0, end=10)
    with sampled(video, span, fps=1, cap=None, detail=Detail.NORMAL, folder=folder) as pictures:
        assert len(pixels_of(pictures.frames)) == 10
        assert video.decoded == 20


def test_nothing_stands_in_for_what_cannot_be_decoded(plain: Path, tmp_path: Path) -> None:
    data = bytearray(plain.read_bytes())
    middle = len(data) // 2
    for place in range(middle, middle + len(data) // 5, 31):
        data[place] ^= 0xFF
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(data)
    video = Video(broken)
    with sampled(video, Interval(start=0, end=10), fps=10, cap=None, detail=Detail.NORMAL) as pictures:
        lost = video.losses.pictures
        assert lost
        assert 0 < len(pictures.frames) <= len(video.index) - len(lost)
        for frame in pictures.frames:
            assert video.index.number_at(frame.time) not in lost
            assert frame.until is None or video.index.number_at(frame.until) not in lost


def test_no_picture_outlives_its_turn(plain: Path) -> None:
    def decoded_pictures() -> int:
        return sum(type(thing).__name__ == "VideoFrame" for thing in gc.get_objects())

    gc.collect()
    before = decoded_pictures()
    gc.disable()
    try:
        with sampled(Video(plain), Interval(start=0, end=10), fps=10, cap=None, detail=Detail.NORMAL) as seen:
            assert len(seen.frames) > 80
            assert decoded_pictures() <= before + 5
    finally:
        gc.enable()
