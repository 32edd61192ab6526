"""Questions cannot be answered without watching."""

import random
import re
from collections.abc import Callable

import pytest

from evoharness.records.question import Question
from evoharness.samples.timeline import Timeline


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold())) - {"the", "a", "it", "is", "to"}


def number(option: str) -> float:
    return float("".join(re.findall(r"\d", option)) or "nan")


Guess = Callable[[Question], str]
GUESSES: dict[str, Guess] = {
    "the longest": lambda q: max(q.options, key=len),
    "the shortest": lambda q: min(q.options, key=len),
    "most like the question": lambda q: max(q.options, key=lambda o: len(words(o) & words(q.text))),
    "least like the question": lambda q: min(q.options, key=lambda o: len(words(o) & words(q.text))),
    "most like the others": lambda q: max(
        q.options, key=lambda o: sum(len(words(o) & words(p)) for p in q.options)
    ),
    "least like the others": lambda q: min(
        q.options, key=lambda o: sum(len(words(o) & words(p)) for p in q.options)
    ),
    "second in alphabet": lambda q: sorted(q.options)[1],
    "second smallest number": lambda q: sorted(q.options, key=number)[1],
    "largest number": lambda q: sorted(q.options, key=number)[3],
    "smallest number": lambda q: sorted(q.options, key=number)[0],
}


@pytest.mark.parametrize("name", GUESSES)
def test_a_guess_without_watching_is_right_one_time_in_four(
    name: str, asked: list[tuple[Timeline, Question]]
) -> None:
    questions = [q for _, q in asked]
    # shuffled, so that a tie does not fall to a position
    rng = random.Random(1)
    shuffled = [q.model_copy(update={"options": tuple(rng.sample(q.options, 4))}) for q in questions]
    right = sum(GUESSES[name](q) == q.reference_text for q in shuffled)
    assert abs(right / len(questions) - 0.25) < 0.07
