"""Pictures are the same but for the noise of an encoder; whatever is small or faint and changes, is seen."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evoharness.records.frame import Detail
from evoharness.video import Video
from evoharness.video.likeness import nearly_same
from tests.video.recordings import record

Picture = NDArray[np.uint8]


def slide() -> Picture:
    """A page of dark text on a light ground."""
    picture = np.full((352, 640, 3), 240, np.uint8)
    for line in range(6):
        text, at = f"The quick brown fox jumps {line}", (20, 50 + 40 * line)
        cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.8, (20, 20, 60), 2, cv2.LINE_AA)
    return picture


def texture() -> Picture:
    """Grass, or the like."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(60, 180, (44, 80, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (640, 352), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


SCENES = pytest.mark.parametrize("scene", [slide, texture])


@SCENES
def test_a_still_recording_is_one_picture(scene: Callable[[], Picture], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noisy = [np.clip(scene() + rng.normal(0, 2, (352, 640, 3)), 0, 255).astype(np.uint8) for _ in range(12)]
    video = Video(record(tmp_path / "still.mp4", (noisy[n % 12] for n in range(80))))
    pictures = list(video.pixels(video.frames(range(8), Detail.LARGE)))
    assert all(nearly_same(pictures[0], picture) for picture in pictures[1:])


def dot(picture: Picture, step: int) -> None:
    cv2.circle(picture, (300 + 4 * step, 320), 3, (250, 0, 0), -1)


def faint_dot(picture: Picture, step: int) -> None:
    lower = picture.astype(int)
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.circle(mask, (300 + 8 * step, 320), 6, 1, -1)
    picture[:] = np.clip(lower - 40 * mask[..., None], 0, 255)


def digit(picture: Picture, step: int) -> None:
    text = f"12:0{3 + 5 * step}"
    cv2.putText(picture, text, (500, 340), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA)


def caption(picture: Picture, step: int) -> None:
    if step:
        ink = tuple(int(value) - 50 for value in picture[330, 60])
        cv2.putText(picture, "so it is", (60, 340), cv2.FONT_HERSHEY_SIMPLEX, 0.6, ink, 2, cv2.LINE_AA)


def pan(picture: Picture, step: int) -> None:
    picture[:] = np.roll(picture, 2 * step, axis=1)


def dusk(picture: Picture, step: int) -> None:
    picture[:] = np.clip(picture.astype(int) - 10 * step, 0, 255)


@SCENES
@pytest.mark.parametrize("change", [dot, faint_dot, digit, caption, pan, dusk])
def test_what_changes_is_seen(scene: Callable[[], Picture], change: Callable[[Picture, int], None]) -> None:
    before, after = scene(), scene()
    change(before, 0)
    change(after, 1)
    assert not nearly_same(before, after)
    assert nearly_same(before, before.copy())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 630), st.integers(0, 342), st.integers(0, 2**32 - 1))
def test_a_small_thing_is_seen_wherever_it_appears(left: int, top: int, seed: int) -> None:
    colour = np.random.default_rng(seed).integers(0, 256, 3)
    for scene in (slide(), texture()):
        with_thing = scene.copy()
        with_thing[top : top + 10, left : left + 10] = colour
        there = np.abs(scene[top : top + 10, left : left + 10].astype(int) - colour)
        if there.mean() > 100:  # it stands out
            assert not nearly_same(scene, with_thing)


def test_sizes_that_differ_differ() -> None:
    assert not nearly_same(np.zeros((10, 10, 3), np.uint8), np.zeros((10, 12, 3), np.uint8))
