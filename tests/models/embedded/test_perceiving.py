"""What one frame shows: colours, shapes and texts, from its pixels alone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evoharness.models.embedded.perceiver import Perceiver
from evoharness.models.embedded.percepts import Percept
from evoharness.models.embedded.store import PerceptStore
from tests.models.embedded.drawing import COLOURS, DARK, LIGHT, SHAPES, Recording, blank, shape, words


def perceive(*pictures: Image.Image, scale: float = 1.0, ocr: bool = True) -> list[Percept]:
    recording = Recording(pictures)
    return Perceiver(PerceptStore(None), ocr).perceive(recording.frames(scale))


def names(percept: Percept) -> list[str]:
    return sorted(f"{thing.colour} {thing.shape}" for thing in percept.things)


def texts(percept: Percept) -> list[str]:
    return [reading.text for reading in percept.texts]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", [34, 80])
def test_a_shape_has_its_ordinary_name(name: str, size: int) -> None:
    picture = blank(slope=24)
    shape(picture, name, "blue", 300, 170, size)
    assert names(perceive(picture)[0]) == [f"blue {name}"]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_colour_has_its_ordinary_name_on_light_and_dark_grounds(colour: str) -> None:
    for ground in (LIGHT, DARK):
        if max(abs(a - b) for a, b in zip(COLOURS[colour], ground, strict=True)) < 45:
            continue
        picture = blank(ground=ground)
        shape(picture, "square", colour, 200, 100)
        assert names(perceive(picture)[0]) == [f"{colour} square"]


def test_light_texture_is_no_thing_and_hides_none() -> None:
    picture = blank()
    shape(picture, "star", "red", 200, 150, 70)
    noise = np.random.default_rng(5).normal(0, 4, (352, 640, 1))
    grainy = Image.fromarray(np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8))
    assert names(perceive(grainy)[0]) == ["red star"]


def test_a_card_is_background_and_what_lies_on_it_is_seen() -> None:
    picture = blank()
    picture.paste((170, 180, 200), (80, 60, 420, 260))
    shape(picture, "circle", "green", 200, 150, 50)
    assert names(perceive(picture)[0]) == ["green circle"]


def test_words_are_read_and_their_letters_are_no_things() -> None:
    picture = blank()
    words(picture, "Close the main valve", 320, 60, 44)
    picture.paste((20, 20, 20), (150, 300, 490, 336))
    words(picture, "Step 3: check 12 of 45", 320, 318, 22, (250, 250, 250))
    percept = perceive(picture)[0]
    assert texts(percept) == ["Close the main valve", "Step 3: check 12 of 45"]
    assert percept.things == ()


def test_a_digit_that_changes_in_place_is_read_anew() -> None:
    pictures = []
    for number in (0, 3, 8, 6):
        picture = blank()
        words(picture, f"Step {number}", 320, 170, 40)
        pictures.append(picture)
    assert [texts(percept) for percept in perceive(*pictures)] == [
        ["Step 0"],
        ["Step 3"],
        ["Step 8"],
        ["Step 6"],
    ]


def test_a_small_label_needs_enough_pixels() -> None:
    picture = blank(1280, 704)
    shape(picture, "triangle", "red", 400, 300, 90)
    words(picture, "Tank 38", 400, 365, 14)
    assert texts(perceive(picture)[0]) == ["Tank 38"]
    assert "Tank 38" not in texts(perceive(picture, scale=0.45)[0])
    assert names(perceive(picture, scale=0.45)[0]) == ["red triangle"]


def test_without_ocr_no_text_is_read_and_letters_are_still_no_things() -> None:
    picture = blank()
    words(picture, "Close the main valve", 320, 60, 44)
    shape(picture, "cross", "purple", 320, 200, 60)
    percept = perceive(picture, ocr=False)[0]
    assert percept.texts == ()
    assert names(percept) == ["purple cross"]


def test_places_are_where_things_were_drawn() -> None:
    picture = blank()
    shape(picture, "circle", "red", 160, 88, 64)
    thing = perceive(picture)[0].things[0]
    assert thing.box == pytest.approx((0.2, 56 / 352, 0.3, 120 / 352), abs=0.006)
    assert thing.area == pytest.approx(np.pi * 32**2 / (640 * 352), rel=0.05)
    assert not thing.cut


def test_looking_twice_needs_no_pixels_not_even_in_another_process(tmp_path: Path) -> None:
    recording = Recording.drawn(lambda picture, time: shape(picture, "star", "red", 100 + 50 * time, 100), 4)
    first = Perceiver(PerceptStore(tmp_path / "percepts.sqlite"))
    seen = first.perceive(recording.frames())
    assert recording.asked == 4
    assert first.perceive(recording.frames()) == seen
    assert Perceiver(PerceptStore(tmp_path / "percepts.sqlite")).perceive(recording.frames()) == seen
    assert recording.asked == 4
    first.perceive(recording.frames(scale=0.5)[:1])
    assert recording.asked == 5


def test_only_missing_frames_are_asked_for() -> None:
    recording = Recording.drawn(lambda picture, time: shape(picture, "star", "red", 100 + 50 * time, 100), 6)
    perceiver = Perceiver(PerceptStore(None))
    perceiver.perceive(recording.frames(every=2))
    perceiver.perceive(recording.frames())
    assert recording.asked == 6


def test_the_order_of_looking_changes_nothing_that_is_said() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        shape(picture, "heart", "pink", 80 + 60 * time, 120)
        words(picture, f"Part {time:.0f} of the plan", 320, 320)

    recording = Recording.drawn(draw, 6)
    forward = Perceiver(PerceptStore(None)).perceive(recording.frames())
    backward = Perceiver(PerceptStore(None))
    one_by_one = [backward.perceive([frame])[0] for frame in reversed(recording.frames())][::-1]
    assert [(names(p), texts(p)) for p in forward] == [(names(p), texts(p)) for p in one_by_one]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 400),
    st.integers(1, 300),
    st.sampled_from(["black", "white", "noise", "blocks", "stripes"]),
    st.integers(0, 9),
)
def test_no_picture_is_too_odd(width: int, height: int, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pixels = np.zeros((height, width, 3), np.uint8)
    if kind == "white":
        pixels[:] = 255
    elif kind == "noise":
        pixels[:] = rng.integers(0, 256, pixels.shape)
    elif kind == "blocks":
        coarse = rng.integers(0, 256, (height // 16 + 1, width // 16 + 1, 3))
        pixels[:] = coarse.repeat(16, 0).repeat(16, 1)[:height, :width]
    elif kind == "stripes":
        pixels[:, ::3] = 255
    percept = perceive(Image.fromarray(pixels))[0]
    assert Percept.loads(percept.dumps()) == percept
    for box in [reading.box for reading in percept.texts] + [thing.box for thing in percept.things]:
        assert -0.02 <= box[0] < box[2] <= 1.02
        assert -0.02 <= box[1] < box[3] <= 1.02
