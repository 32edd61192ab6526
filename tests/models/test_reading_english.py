"""What the reading engine understands of questions, options and times."""

import pytest

from evoharness.models.embedded.clock import leading_time, read_times
from evoharness.models.embedded.english import content_terms, read_words
from evoharness.models.embedded.option_reading import (
    number_in,
    numbers_in,
    parts_of_whole,
    sequence_in,
    times_in,
)
from evoharness.models.embedded.place_reading import agreement, place_of, places_in, places_of
from evoharness.models.embedded.question_reading import Asked, Relation, labelled_items, read_question
from evoharness.models.embedded.spelling import spelling_closeness, string_closeness
from evoharness.models.embedded.statements import Statement, read_statements, within_budget
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How many people enter the room?", Asked.COUNT),
        ("How often does the bell ring?", Asked.COUNT),
        ("How long does the speech last?", Asked.DURATION),
        ("When does the train leave?", Asked.TIME),
        ("The bell rings only once. At what time?", Asked.TIME),
        ("In which part of the film does it rain?", Asked.TIME),
        ("In which part of the picture is the clock?", Asked.PHRASE),
        ("When the bell rings, who enters?", Asked.PHRASE),
        ("In what order are these shown?", Asked.ORDER),
        ("Which of these statements is true?", Asked.TRUTH),
        ("What is the video mainly about?", Asked.TOPIC),
        ("Why does the man run?", Asked.REASON),
        ("Which colour is the door?", Asked.PHRASE),
    ],
)
def test_what_is_asked(question: str, asked: Asked) -> None:
    assert read_question(question).asked is asked


@pytest.mark.parametrize(
    ("question", "relation", "anchors"),
    [
        ("What happens right after the bell rings?", Relation.AFTER, ("the bell rings",)),
        ("After the bell rings, who enters?", Relation.AFTER, ("the bell rings",)),
        ('What is shown before "Stop, then wait"?', Relation.BEFORE, ('"Stop, then wait"',)),
        ("What does she do while the tea brews?", Relation.DURING, ("the tea brews",)),
        ("What is seen between the flood and the fire?", Relation.BETWEEN, ("the flood", "the fire")),
        ("Which of the following is shown?", None, ()),
        ("What does the dog do after it has eaten?", Relation.AFTER, ("the dog has eaten",)),
        ("During which chapter does the storm begin?", Relation.DURING, ("the storm begin",)),
        ("Which lamp is lit first?", Relation.FIRST, ()),
    ],
)
def test_the_relation_of_time_and_its_anchors(
    question: str, relation: Relation | None, anchors: tuple[str, ...]
) -> None:
    reading = read_question(question)
    assert reading.relation is relation
    assert reading.anchors == anchors


def test_negation_ordinals_occurrences_and_brevity() -> None:
    assert read_question("Which of these is never shown?").negated
    assert not read_question("What is wrong with the pump?").negated
    assert not read_question('What follows "Do not touch"?').negated
    assert read_question("What is the third step?").ordinal == 3
    assert read_question("What does the bell do the second time?").occurrence == 2
    assert read_question("What is seen for a second or less?").ordinal is None
    assert read_question("What is seen for a second or less?").brief
    assert read_question("One cup in the row does not belong. Which one?").odd_one


@pytest.mark.parametrize(
    ("question", "brief"),
    [
        ("Which bird shows itself for barely a second?", True),
        ("What makes a very short appearance?", True),
        ("Which sign is gone again almost at once?", True),
        ("What happens a short time after the bell?", False),
        ("What happens almost immediately after the crash?", False),
        ("What is seen for a long time?", False),
    ],
)
def test_shortness_is_not_nearness(question: str, brief: bool) -> None:
    assert read_question(question).brief is brief


def test_items_that_a_question_lists() -> None:
    assert labelled_items("Put in order: (a) he sits (b) he stands") == {"a": "he sits", "b": "he stands"}


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("1:05", [(65, 65)]),
        ("about 65 seconds", [(65, 65)]),
        ("1 min 5 s", [(65, 65)]),
        ("1:02:03", [(3723, 3723)]),
        ("from 10 to 20 s", [(10, 20)]),
        ("0:10-0:20", [(10, 20)]),
        ("2 minutes", [(120, 120)]),
        ("B7 and 12", []),
    ],
)
def test_times(text: str, times: list[tuple[float, float]]) -> None:
    assert [(time.start, time.end) for time in read_times(text)] == times


def test_a_line_may_open_with_its_time() -> None:
    time, rest = leading_time("[12.0-15.5] a bird sings")
    assert time is not None
    assert (time.start, time.end, rest) == (12.0, 15.5, "a bird sings")
    assert leading_time("3 birds sing") == (None, "3 birds sing")
    assert leading_time("2: the answer")[0] is None


def test_options_that_are_numbers_times_or_orders() -> None:
    assert numbers_in(["two cats", "3 cats", "one cat"]) == [2, 3, 1]
    assert numbers_in(["two cats", "3 dogs"]) is None
    assert number_in("between 2 and 4") is None
    assert times_in(["0:10", "about 20 s"]) is not None
    assert times_in(["Timer 20 min", "Timer 30 min"]) is None
    assert sequence_in("First the egg, then the hen, and finally the cook") == (
        "the egg",
        "the hen",
        "the cook",
    )
    assert sequence_in("the egg after the hen") == ("the hen", "the egg")
    assert sequence_in('"Stop, now" → "Go"') == ('"Stop, now"', '"Go"')
    assert sequence_in("a hen") == ()
    assert parts_of_whole("near the end") == pytest.approx(0.85)
    assert parts_of_whole("in the first third") == pytest.approx(1 / 6)


def test_places() -> None:
    assert place_of("a red cup") is None
    assert places_of(["middle left", "bottom centre", "top right"]) is not None
    assert places_of(["from left to right", "from right to left"]) is None
    left, corner = place_of("on the left"), place_of("bottom left")
    middle = place_of("middle left")
    assert left is not None
    assert corner is not None
    assert middle is not None
    assert agreement(left, middle) > agreement(left, corner) > 0.3
    said = places_in("the ball moves right, from the top left to the bottom")
    assert [place.preposition for place in said] == ["", "from", "to"]


def test_inflections_numbers_and_phrases_share_their_terms() -> None:
    assert content_terms("the valve was closed") == content_terms("The valve closes")
    assert content_terms("three boxes") == content_terms("3 box")
    assert content_terms("the tram has left") == content_terms("the tram leaves")
    assert content_terms("the fox comes into view") == content_terms("the fox enters")
    assert read_words('the sign "Keep out" hangs').quotes == ("Keep out",)


def test_misread_words_are_alike_but_numbers_are_not() -> None:
    assert spelling_closeness("filter", "fiiter") > 0.6
    assert spelling_closeness("17", "71") == 0
    assert string_closeness("Close the valve 2", "C1ose thevalve 2") > 0.9
    assert string_closeness("Close the valve 2", "Close the valve 3") == 0


def test_statements_are_sentences_and_repeated_looks_are_one() -> None:
    def seen(start: float, end: float, text: str) -> Evidence:
        return Evidence(source="look", interval=Interval(start=start, end=end), text=text)

    evidence = [
        seen(0, 10, "A bird sings. The sun rises."),
        seen(9, 20, "A bird sings."),
        seen(30, 31, "A bird sings."),
        Evidence(source="search", text="[0:40-0:50] a fox runs"),
    ]
    assert read_statements(evidence) == [
        Statement("The sun rises.", 0, 10),
        Statement("A bird sings.", 0, 20),
        Statement("A bird sings.", 30, 31),
        Statement("a fox runs", 40, 50),
    ]


def test_the_budget_keeps_the_most_relevant_in_order_of_time() -> None:
    statements = [Statement(letter * 10, at, at + 1) for at, letter in enumerate("abcd")]
    assert within_budget(statements, [0.1, 0.9, 0.2, 0.8], 22) == [statements[1], statements[3]]
