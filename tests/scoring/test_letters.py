"""Reading a choice out of free text: the traps that popular scorers fall into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.scoring import choice_in

FOUR = ("a red car", "a blue boat", "a man in a hat", "no one")
SIX = (*FOUR, "a dog", "a cat")
NUMBERS = ("3", "1", "2", "4")


@pytest.mark.parametrize(
    "text",
    [
        "C",
        "c",
        "C.",
        "(C)",
        "**C**",
        "**C.** A man in a hat",
        "C) a man in a hat",
        "C: a man in a hat",
        "The answer is C. A man walks in.",
        "The answer is C because a man walks in.",
        "the answer is (C)",
        "The correct answer is: **C**",
        "Answer: C",
        "ANSWER: C",
        "Based on the evidence, the answer is C",
        "Based on A and B being absent, the answer is option C.",
        "<answer>C: A man</answer>",
        "<answer>C</answer>",
        "A man is seen first. <answer>\nC\n</answer>",
        "<think>The answer is A. Or B?</think> C",
        "The answer is A. No, wait: the answer is C.",
        r"So \boxed{C}",
        r"So \boxed{\text{C}}",
        '{"answer": "C", "why": "A man"}',
        "I choose C",
        "Option C",
        "The best choice is C - the man.",
        "a man in a hat",
        "A man in a hat.",
        "The answer is a man in a hat.",
        "It must be the one with the hat (C), not the car.",
        "答案是C",
        "答案：C",
    ],
)
def test_the_third_option_is_chosen(text: str) -> None:
    assert choice_in(text, FOUR) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A man walks in.",
        "A red car and a blue boat",
        "I think that nobody can tell.",
        "The answer is A or C.",
        "The answer is A man walking by",
        "The answer is E.",
        "Answer: none of them",
        "(A) or (C)",
        "E",
        "Z.",
        "<answer></answer>",
        "Because of B's colour",
        "The answer is not B.",
    ],
)
def test_no_choice_is_no_choice(text: str) -> None:
    assert choice_in(text, FOUR) is None


def test_the_number_of_options_counts() -> None:
    assert choice_in("The answer is E.", SIX) == 4
    assert choice_in("F", SIX) == 5
    assert choice_in("F", FOUR) is None


def test_options_that_are_numbers_are_read_by_their_text() -> None:
    assert choice_in("The answer is 3.", NUMBERS) == 0
    assert choice_in("2", NUMBERS) == 2
    assert choice_in("5", NUMBERS) is None


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=9), min_size=2, max_size=6, unique=True))
def test_any_text_gives_an_option_or_none(text: str, options: list[str]) -> None:
    choice = choice_in(text, options)
    assert choice is None or 0 <= choice < len(options)
    assert choice == choice_in(text, options), "the same text always means the same"
