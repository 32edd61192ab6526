"""What an answer is worth: 0 or 1 with options, 1 to 5 from a judge without."""

from typing import Protocol

from evoharness.errors import UserError
from evoharness.records.outcome import APPARATUS, OK, Answered
from evoharness.records.question import Question

LOWEST_OPEN = 1.0
HIGHEST_OPEN = 5.0


class Judge(Protocol):
    """Rates an open answer against the reference."""

    def __call__(self, question: Question, answer: str) -> float:
        """The mean of the judge's four dimensions, from 1 to 5."""
        ...


def reward_of(question: Question, answered: Answered, judge: Judge | None = None) -> float | None:
    """The reward of an answer; None for `apparatus`, and the lowest for all that did not end `ok`."""
    if answered.status == APPARATUS:
        return None
    if question.options:
        return float(answered.status == OK and answered.choice == question.answer)
    if answered.status != OK:
        return LOWEST_OPEN
    if judge is None:
        raise UserError(f"question {question.id} has no options and no judge is configured")
    return judge(question, answered.text)


def as_fraction(reward: float, question: Question) -> float:
    """A reward on the scale from 0 to 1, whatever the question: differences are then d = (r' - r)/4."""
    return reward if question.options else (reward - LOWEST_OPEN) / (HIGHEST_OPEN - LOWEST_OPEN)
