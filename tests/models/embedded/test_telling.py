"""What a sequence of frames shows, in words: from the frames handed over, and from nothing else."""

from PIL import Image

from evoharness.models.embedded.describing import Scene, describe
from evoharness.models.embedded.perceiver import Perceiver
from evoharness.models.embedded.percepts import Percept, Reading
from evoharness.models.embedded.store import PerceptStore
from evoharness.models.embedded.tracking import same_text, track_texts
from evoharness.records.interval import Interval
from tests.models.embedded.drawing import Recording, shape, words


def scene(recording: Recording, every: int = 1, first: int = 0) -> Scene:
    frames = recording.frames(every=every, first=first)
    percepts = Perceiver(PerceptStore(None)).perceive(frames)
    span = Interval(start=0, end=frames[-1].time + 1)
    return describe(percepts, [frame.time for frame in frames], span)


def told(recording: Recording, every: int = 1, first: int = 0) -> list[str]:
    return [remark.text for remark in scene(recording, every, first).remarks]


def crossing(picture: Image.Image, time: float) -> None:
    """A circle comes in from the left, crosses, and goes out to the right; a square stays."""
    shape(picture, "circle", "red", -120 + 80 * time, 100)
    shape(picture, "square", "blue", 320, 280, 50)


def test_entering_moving_and_leaving_are_told_with_their_sides() -> None:
    lines = told(Recording.drawn(crossing, 12))
    assert "a red circle enters from the left" in lines
    assert "the red circle moves right, from the top left to the top right" in lines
    assert "the red circle leaves to the right" in lines
    assert "a blue square is at the bottom" in lines
    assert not any("blue square" in line and ("moves" in line or "appears" in line) for line in lines)


def test_an_event_between_two_frames_is_not_known() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        shape(picture, "square", "blue", 320, 280, 50)
        if 3.4 < time < 3.9:
            shape(picture, "star", "yellow", 100, 100, 80)

    recording = Recording.drawn(draw, 8, fps=4)
    assert "a yellow star is briefly at the top left" in told(recording, every=2)
    assert not any("star" in line for line in told(recording, every=4))


def test_a_change_of_colour_is_a_change_and_not_another_thing() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        shape(picture, "triangle", "green" if time < 4 else "yellow", 300, 150)

    lines = told(Recording.drawn(draw, 8))
    assert "the green triangle turns yellow" in lines
    assert not any("appears" in line or "disappears" in line for line in lines)


def test_a_change_of_size_is_told() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        shape(picture, "diamond", "orange", 300, 150, 40 if time < 3 else 90)

    assert "the orange diamond grows larger" in told(Recording.drawn(draw, 6))


def test_a_touch_is_told_with_the_change_at_that_moment() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        shape(picture, "circle", "red", 80 + 60 * min(time, 4), 150)
        shape(picture, "square", "blue" if time < 4 else "green", 384, 150)

    lines = told(Recording.drawn(draw, 8))
    assert "the red circle touches the blue square" in lines
    assert "the blue square turns green when the red circle touches it" in lines


def test_things_of_one_kind_are_counted() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        for index in range(2 if time < 3 else 4):
            shape(picture, "circle", "red", 100 + 120 * index, 120)
        shape(picture, "circle", "blue", 300, 280)

    found = scene(Recording.drawn(draw, 6)).remarks
    counts = {remark.text: remark.interval for remark in found if remark.kind == "count"}
    assert counts["2 red circles are visible"] == Interval(start=0, end=2.5)
    assert counts["4 red circles are visible"] == Interval(start=2.5, end=6)
    assert counts["5 circles are visible: 1 blue, 4 red"] == Interval(start=2.5, end=6)


def test_what_comes_back_is_counted() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        if int(time) % 3 == 1:
            shape(picture, "heart", "pink", 300, 150)

    assert "a pink heart is seen 3 times" in told(Recording.drawn(draw, 9))


def test_texts_have_their_place_and_time_and_labels_their_owner() -> None:
    def draw(picture: Image.Image, time: float) -> None:
        if time < 3:
            words(picture, "How to fill a tank", 320, 176, 48)
            return
        shape(picture, "triangle", "red", 160, 140, 70)
        words(picture, "Tank 38", 160, 195, 16)
        words(picture, "Open the valve" if time < 6 else "Close the valve", 320, 325, 24)

    found = {remark.text: remark.interval for remark in scene(Recording.drawn(draw, 9)).remarks}
    assert found['the title text "How to fill a tank" is shown in the center'] == Interval(start=0, end=2.5)
    assert found['the caption text "Open the valve" is shown at the bottom'] == Interval(start=2.5, end=5.5)
    assert found['the caption text "Close the valve" is shown at the bottom'] == Interval(start=5.5, end=9)
    assert any(line.startswith('the label text "Tank 38" is shown below the red triangle') for line in found)


def test_how_things_lie_to_each_other_is_told() -> None:
    def draw(picture: Image.Image, _: float) -> None:
        shape(picture, "circle", "red", 100, 170)
        shape(picture, "square", "blue", 500, 170)
        shape(picture, "star", "green", 500, 60)

    lines = told(Recording.drawn(draw, 3))
    assert "the red circle is to the left of the blue square" in lines or (
        "the blue square is to the right of the red circle" in lines
    )
    assert any("green star" in line and "above the blue square" in line for line in lines) or any(
        "blue square" in line and "below the green star" in line for line in lines
    )


def reading(text: str, score: float) -> Reading:
    return Reading(text, (0.3, 0.8, 0.7, 0.86), score)


def test_misreadings_are_outvoted() -> None:
    good, bad = reading("Close the valve", 0.98), reading("Close the valvc", 0.75)
    tracks = track_texts([Percept((one,)) for one in (good, bad, good)])
    assert [track.text for track in tracks] == ["Close the valve"]


def test_texts_that_differ_surely_or_in_a_digit_stay_apart() -> None:
    assert not same_text(reading("Step 0: close the valve", 0.8), reading("Step 3: close the valve", 0.8))
    assert not same_text(reading("Heat the pan", 0.99), reading("Beat the pan", 0.99))
    assert not same_text(reading("Open the valve", 0.8), reading("Close the valve", 0.8))
    assert same_text(reading("Close the valve", 0.99), reading("close thevalve", 0.99))


def test_no_frames_show_nothing() -> None:
    assert describe([], [], Interval(start=0, end=0)).remarks == ()
