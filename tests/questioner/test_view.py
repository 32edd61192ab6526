"""How a memory is read: readings and reports merged, names judged, phrases made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.questioner import english
from evoharness.questioner.evidence import told
from evoharness.questioner.forms.attributes import without_colours
from evoharness.questioner.forms.spatial import Place, place_in
from evoharness.questioner.view import MemoryView, clause_of, readable
from evoharness.records.memory import Event, VisibleText
from tests.questioner.memories import Scribe, span, workshop


def test_close_readings_of_a_text_are_one_showing_and_far_ones_are_two() -> None:
    scribe = Scribe(100.0, (50.0,))
    scribe.text("Close the valve", 10, 14)
    scribe.text("Close the va1ve", 16, 18)
    scribe.text("Close the valve.", 70, 72)
    (item,) = MemoryView(scribe.memory()).texts
    assert item.intervals == (span(10, 18), span(70, 72))
    assert item.segments == ("s0000", "s0001")
    assert not item.once


def test_texts_that_differ_in_a_letter_or_a_number_are_not_merged() -> None:
    scribe = Scribe(100.0, ())
    for number, words in enumerate(("Alder section", "Elder section", "Step 1", "Step 2", "Step 12")):
        scribe.text(words, number * 15, number * 15 + 3)
    view = MemoryView(scribe.memory())
    assert [item.name for item in view.texts] == [
        "Alder section",
        "Elder section",
        "Step 1",
        "Step 2",
        "Step 12",
    ]
    assert {item.name for item in view.anchors} == {"Step 1", "Step 2", "Step 12"}


def test_a_name_that_could_mean_another_item_is_no_anchor() -> None:
    scribe = Scribe(100.0, ())
    scribe.event("circle", "enters from the left", 10, 12)
    scribe.event("red circle", "enters slowly from the left", 30, 32)
    scribe.event("black shape", "falls", 40, 41)
    scribe.event("black square", "falls", 60, 61)
    scribe.text("Open", 70, 72)
    scribe.text("Open the lid", 80, 82)
    names = {item.name for item in MemoryView(scribe.memory()).anchors}
    assert names == {"the red circle enters slowly from the left", "the black square falls", "Open the lid"}


def test_events_that_only_report_a_text_are_left_to_the_text() -> None:
    scribe = Scribe(100.0, ())
    scribe.text("Close the valve", 10, 14)
    scribe.event('the text "Close the valve"', "is shown at the bottom", 10, 14)
    scribe.event("man", "closes the door", 20, 24)
    assert [e.name for e in MemoryView(scribe.memory()).events] == ["the man closes the door"]


def test_states_are_not_happenings() -> None:
    scribe = Scribe(100.0, ())
    scribe.event("cups", "3 cups are visible", 10, 14)
    scribe.event("cup", "falls off the table", 20, 22)
    view = MemoryView(scribe.memory())
    assert [e.name for e in view.events] == ["the cup falls off the table"]
    assert [s.name for s in view.states] == ["3 cups are visible"]


def test_failed_segments_are_not_read() -> None:
    memory = workshop()
    failed = memory.model_copy(
        update={
            "segments": (memory.segments[0].model_copy(update={"status": "failed"}), *memory.segments[1:])
        }
    )
    assert "Batch 17" not in {t.name for t in MemoryView(failed).texts}


@pytest.mark.parametrize(
    ("subject", "action", "object_", "description", "clause"),
    [
        ("red circle", "moves from left to right", "", "", "the red circle moves from left to right"),
        ("a man", "picking up", "the cup", "", "the man is picking up the cup"),
        ("two men", "carry", "a box", "", "two men carry the box"),
        ("woman", "open", "door", "", "the woman opens the door"),
        ("Anna", "waves", "", "", "Anna waves"),
        ("dog", "The dog barks loudly.", "", "", "the dog barks loudly"),
        ("cups", "3 cups are visible", "cups", "", "3 cups are visible"),
        ("people", "walking", "", "", "people are walking"),
        ("she", "carry", "", "", "she carries"),
        ("", "", "", "A man sprays textured paint onto a plate.", "a man sprays textured paint onto a plate"),
        ("", "falls", "", "", ""),
        ("man", "", "", "", ""),
    ],
)
def test_clauses_from_records(subject: str, action: str, object_: str, description: str, clause: str) -> None:
    event = Event(
        id="s0000/e0000",
        kind="",
        interval=span(0, 1),
        subject=subject,
        object=object_,
        action=action,
        description=description,
    )
    assert " ".join(part for part in clause_of(event) if part) == clause


@pytest.mark.parametrize(
    ("a", "b", "close"),
    [
        ("Close the valve", "Close the va1ve", True),
        ("Step 1", "Step 2", False),
        ("Step O", "Step 0", True),
        ("Open", "Open the lid", True),
        ("the red circle falls", "the blue circle falls", False),
        ("moves from left to right", "moves from right to left", False),
        ("the black shape", "the black square", True),
        ("a man sprays the paint on a plate", "the man is spraying paint on a plate", True),
        ("the door opens", "the door closes", False),
    ],
)
def test_confusable_wordings(a: str, b: str, close: bool) -> None:
    assert english.confusable(a, b) is close
    assert english.confusable(b, a) is close


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("at the left", "on the left"),
        ("in the upper right corner", "at the top right"),
        ("bottom", "at the bottom"),
        ("in the middle of the table", None),
        ("center", "in the centre"),
        ("in the centre left", "on the left"),
        ("top center", "at the top"),
        ("from left to right", None),
        ("left and right", None),
        ("", None),
    ],
)
def test_places(words: str, name: str | None) -> None:
    place = place_in(words)
    assert (place.name if place else None) == name


def test_places_that_could_both_be_true_fit() -> None:
    assert Place("left", "").fits(Place("left", "top"))
    assert not Place("left", "").fits(Place("right", ""))
    assert Place("", "top").fits(Place("right", "top"))


def test_other_small_things() -> None:
    assert english.clock(59.9) == "0:59"
    assert english.clock(3725) == "1:02:05"
    assert without_colours("the red circle") == "the circle"
    assert readable("Straße 12")
    assert readable("关闭阀门")
    assert not readable("a b c")
    assert not readable("~~ -- ==")
    shown = VisibleText(id="x", text='Say "no"', interval=span(0, 1), description="a card at the top")
    assert told(shown) == "the text \"Say 'no'\" is shown (a card at the top)"


@given(st.text(max_size=60))
def test_cleaned_text_is_one_printable_line(text: str) -> None:
    cleaned = english.clean(text)
    assert cleaned.isprintable() or not cleaned
    assert '"' not in cleaned
    assert english.clean(cleaned) == cleaned
