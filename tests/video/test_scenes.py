"""Segments follow each other over the whole video and last 30 to 300 seconds."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evoharness.records.interval import Interval
from evoharness.video import SceneSettings, Video, scenes
from evoharness.video.scenes import cut
from tests.video.recordings import record

SETTINGS = SceneSettings()


def sampled(duration: float) -> list[float]:
    return [4.0 * n for n in range(1, int(duration // 4) + 1) if 4.0 * n < duration]


def check(segments: list[Interval], duration: float) -> None:
    assert segments[0].start == 0
    assert segments[-1].end == pytest.approx(duration)
    for before, after in pairwise(segments):
        assert before.end == after.start
    assert all(segment.duration <= 300.001 for segment in segments)
    if len(segments) > 1:
        assert all(segment.duration >= 29.999 for segment in segments)


@settings(deadline=None)
@given(st.floats(0.1, 4000), st.sampled_from(["black", "uniform", "noise", "one cut", "slides"]))
def test_bounds_hold_on_any_video(duration: float, kind: str) -> None:
    times = sampled(duration)
    rng = np.random.default_rng(len(times))
    scores = {
        "black": [0.0] * len(times),
        "uniform": [5.0] * len(times),
        "noise": list(rng.random(len(times)) * 10),
        "one cut": [50.0 if n == len(times) // 2 else 0.1 for n in range(len(times))],
        "slides": [40.0 if n % 9 == 0 else 0.0 for n in range(len(times))],
    }[kind]
    check(cut(times, scores, duration, SETTINGS), duration)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.1, 40), st.floats(0, 600)), max_size=300),
    st.floats(0.01, 300),
    st.floats(0.1, 60),
    st.floats(2, 20),
)
def test_bounds_hold_for_any_differences(
    series: list[tuple[float, float]], rest: float, minimum: float, ratio: float
) -> None:
    times = [float(time) for time in np.cumsum([gap for gap, _ in series])]
    duration = (times[-1] if times else 0.0) + rest
    chosen = SceneSettings(minimum_s=minimum, maximum_s=minimum * ratio)
    segments = cut(times, [score for _, score in series], duration, chosen)
    assert segments[0].start == 0
    assert segments[-1].end == pytest.approx(duration)
    assert all(before.end == after.start for before, after in pairwise(segments))
    assert all(segment.duration <= chosen.maximum_s * 1.001 for segment in segments)
    if len(segments) > 1:
        assert all(segment.duration >= chosen.minimum_s * 0.999 for segment in segments)


@pytest.mark.parametrize("kind", ["black", "noise", "one cut", "no cut", "slides"])
def test_bounds_hold_on_recordings_of_forty_minutes(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ground = rng.integers(0, 256, (96, 160, 3), dtype=np.uint8)

    def picture(number: int) -> NDArray[np.uint8]:
        if kind == "black":
            return np.zeros_like(ground)
        if kind == "noise":
            return rng.integers(0, 256, ground.shape, dtype=np.uint8)
        if kind == "slides":
            return np.full_like(ground, 40 + 67 * (number // 23) % 200)
        return np.asarray(255 - ground if kind == "one cut" and number >= 277 else ground)

    times = [4.0 * number for number in range(600)]
    segments = scenes(Video(record(tmp_path / "long.mp4", map(picture, range(600)), times, gop=2)))
    check(segments, segments[-1].end)
    assert segments[-1].end == pytest.approx(2400, abs=5)
    assert len(segments) <= 40
    if kind == "one cut":
        assert any(1108 <= segment.start <= 1116 for segment in segments)  # the next key frame


@pytest.mark.parametrize("score", [0.0, 5.0])
def test_uniform_differences_are_no_cuts(score: float) -> None:
    segments = cut(sampled(1000), [score] * len(sampled(1000)), 1000, SETTINGS)
    assert [segment.duration for segment in segments] == [200.0] * 5


def test_clear_changes_become_bounds() -> None:
    times = sampled(900)
    scores = [60.0 if time in (160, 320, 480, 640, 800) else 1.0 for time in times]
    bounds = [segment.start for segment in cut(times, scores, 900, SETTINGS)]
    assert bounds == [0, 160, 320, 480, 640, 800]


def test_a_real_recording_is_cut_where_its_picture_changes(tmp_path: Path) -> None:
    colours = [(200, 40, 40), (40, 200, 40), (40, 40, 200)]
    pictures = (np.full((96, 160, 3), colours[n // 40], dtype=np.uint8) for n in range(120))
    video = Video(record(tmp_path / "three.mp4", pictures, [4 * n for n in range(120)]))
    segments = scenes(video)
    check(segments, 480)
    assert [segment.start for segment in segments] == [0, 160, 320]


def test_a_short_video_is_one_segment(plain: Path) -> None:
    assert scenes(Video(plain)) == [Interval(start=0, end=10)]
