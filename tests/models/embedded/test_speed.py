"""Perceiving must stay cheap: thousands of frames are looked at in one round of evolution."""

import time

import pytest
from PIL import Image

from evoharness.models.embedded.ocr import line_reader
from evoharness.models.embedded.perceiver import Perceiver
from evoharness.models.embedded.store import PerceptStore
from tests.models.embedded.drawing import Recording, shape, words


def lesson(picture: Image.Image, time: float) -> None:
    """A caption every eight seconds, a heading, and three things of which one moves."""
    words(picture, "How to clean a pump", 320, 20, 18)
    words(picture, f"Step {int(time // 8)}: rinse part {int(time // 8 * 7 % 50)}", 320, 325, 24)
    shape(picture, "star", "red", 100, 120)
    shape(picture, "square", "blue", 520, 220)
    shape(picture, "circle", "green", 60 + 15 * (time % 32), 180, 50)


@pytest.mark.verify
def test_four_minutes_at_one_frame_a_second_take_a_few_seconds() -> None:
    recording = Recording.drawn(lesson, 240)
    line_reader()
    begun = time.process_time()
    percepts = Perceiver(PerceptStore(None)).perceive(recording.frames())
    assert time.process_time() - begun < 5.0
    assert sum(len(percept.texts) == 2 and len(percept.things) == 3 for percept in percepts) >= 235
