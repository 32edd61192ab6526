"""The embedded backbone answers from the evidence it is given, and only from that."""

import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.models.embedded.reasoning import answer_question
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from evoharness.retrieval import WordLlamaEmbedder
from tests.models.reading_comprehension import Recording, recordings

EMBEDDER = WordLlamaEmbedder()
RECORDINGS = recordings()


def answer(text: str, options: Sequence[str], evidence: Sequence[Evidence], sample: int = 0) -> ChosenAnswer:
    task = AnswerQuestion(text=text, options=tuple(options), evidence=tuple(evidence), sample=sample)
    return answer_question(task, EMBEDDER)


def note(start: float, end: float, text: str) -> Evidence:
    return Evidence(source="look", interval=Interval(start=start, end=end), text=text)


def right(recording: Recording, evidence: Sequence[Evidence]) -> int:
    return sum(answer(q.text, q.options, evidence).choice == q.right for q in recording.questions)


def accuracy(evidence_for: Callable[[int, Recording], Sequence[Evidence]]) -> float:
    good = sum(right(recording, evidence_for(place, recording)) for place, recording in enumerate(RECORDINGS))
    return good / sum(len(recording.questions) for recording in RECORDINGS)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_most_questions_are_answered_from_notes_that_hold_the_answer(recording: Recording) -> None:
    assert right(recording, recording.evidence) >= 0.7 * len(recording.questions)


def test_nine_in_ten_are_answered_over_all_notes() -> None:
    assert accuracy(lambda _place, recording: recording.evidence) >= 0.9


def test_without_evidence_nothing_better_than_chance_is_reached() -> None:
    chance = sum(1 / len(q.options) for recording in RECORDINGS for q in recording.questions) / sum(
        len(recording.questions) for recording in RECORDINGS
    )
    assert accuracy(lambda _place, _recording: ()) == pytest.approx(chance, abs=0.07)
    others = [
        accuracy(lambda place, _recording, by=by: RECORDINGS[(place + by) % len(RECORDINGS)].evidence)  # type: ignore[misc]
        for by in range(1, len(RECORDINGS))
    ]
    assert sum(others) / len(others) == pytest.approx(chance, abs=0.05)


def test_a_guess_says_so_and_is_the_same_each_time() -> None:
    first = answer("What is shown?", ("a cup", "a plate", "a fork"), ())
    assert first.guessed
    assert first.scores == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert answer("What is shown?", ("a cup", "a plate", "a fork"), ()) == first


def test_guesses_are_spread_over_the_options() -> None:
    choices = [answer(f"Question {n}?", ("a", "b", "c", "d"), ()).choice for n in range(400)]
    assert all(70 <= choices.count(option) <= 130 for option in range(4))


def test_repeating_the_words_of_the_question_does_not_win() -> None:
    evidence = [
        note(0, 5, "a red lamp is lit"),
        note(6, 8, "a green lamp is lit"),
        note(9, 12, "a bell rings"),
    ]
    options = ("the green lamp is lit", "a bell rings", "the red lamp is lit")
    assert answer("What happens right after the green lamp is lit?", options, evidence).choice == 1


def test_digits_must_agree_where_letters_may_be_misread() -> None:
    evidence = [
        note(0, 4, 'the text "Tank 17: emp1y" is shown'),
        note(5, 9, 'the text "Tank 71: full" is shown'),
    ]
    assert answer("What is the state of tank 17?", ("full", "empty"), evidence).choice == 1
    assert answer("What is the state of tank 71?", ("full", "empty"), evidence).choice == 0


def test_only_the_most_relevant_six_thousand_characters_are_read() -> None:
    noise = [
        note(10 * n, 10 * n + 5, f"a van with number {n} drives past the gate slowly") for n in range(400)
    ]
    evidence = [*noise, note(4001, 4002, "a woman closes the wooden shutters of the bakery")]
    options = ("a man", "a woman", "a boy", "a girl")
    assert answer("Who closes the shutters of the bakery?", options, evidence).choice == 1


def test_samples_differ_only_where_the_evidence_hardly_decides() -> None:
    clear = [note(0, 5, "a blue kite flies over the beach")]
    options = ("blue", "red", "green")
    assert {answer("What colour is the kite?", options, clear, sample).choice for sample in range(8)} == {0}
    open_options = ("amber", "teal", "olive")
    drawn = {answer("What colour is the kite?", open_options, (), sample).choice for sample in range(12)}
    assert len(drawn) > 1


def test_labels_in_front_of_options_do_not_matter() -> None:
    evidence = [note(0, 5, "a blue kite flies over the beach")]
    assert answer("What colour is the kite?", ("A. red", "B. blue", "C. green"), evidence).choice == 1


def test_an_answer_over_150_statements_takes_about_ten_milliseconds() -> None:
    things = ("cup", "plate", "kettle", "spoon", "towel")
    evidence = [
        note(2 * n, 2 * n + 3, f"the {things[n % 5]} number {n} is put on shelf {n // 5}") for n in range(150)
    ]
    options = ("the cup", "the plate", "the kettle", "the towel")
    answer("warm up", options, evidence)
    started = time.perf_counter()
    for n in range(20):
        answer(f"What is put on the shelf right after the spoon number {5 * n + 3}?", options, evidence)
    assert (time.perf_counter() - started) / 20 < 0.05


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(max_size=120),
    options=st.lists(st.text(max_size=40), min_size=1, max_size=6),
    lines=st.lists(st.text(max_size=80), max_size=6),
)
def test_any_text_gets_an_answer(text: str, options: list[str], lines: list[str]) -> None:
    evidence = [note(number, number + 1, line) for number, line in enumerate(lines)]
    given_answer = answer(text, options, evidence)
    assert given_answer.choice in range(len(options))
    assert sum(given_answer.scores) == pytest.approx(1.0)


def test_the_odd_one_is_found_by_its_place_in_a_row() -> None:
    row = "a row from left to right: white cup, white cup, white jug, white cup"
    evidence = [note(3, 8, row), note(20, 25, "4 white cups are visible")]
    options = ("the first", "the second", "the third", "the fourth")
    left = "Counted from the left, which thing in the row of white cups is the odd one out?"
    assert answer(left, options, evidence).choice == 2
    assert answer(left.replace("left", "right"), options, evidence).choice == 1
