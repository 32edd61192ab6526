"""What an answer is worth."""

import pytest

from evoharness.errors import UserError
from evoharness.records.outcome import Answered, Trace
from evoharness.records.question import Question, QuestionKind
from evoharness.scoring import as_fraction, reward_of

CHOICE = Question(
    id="q1", video="v", kind=QuestionKind.COUNTING, text="How many?", options=("1", "2", "3"), answer=1
)
OPEN = Question(id="q2", video="v", kind=QuestionKind.TOPIC, text="What about?", reference_text="Knots")


def by_length(question: Question, answer: str) -> float:
    assert question.reference_text
    return float(len(answer))


def answered(status: str = "ok", choice: int | None = None, text: str = "") -> Answered:
    return Answered(question="x", status=status, choice=choice, text=text, trace=Trace(strategy="overview"))


def test_options_are_right_or_wrong() -> None:
    assert reward_of(CHOICE, answered(choice=1)) == 1.0
    assert reward_of(CHOICE, answered(choice=0)) == 0.0
    assert reward_of(CHOICE, answered(choice=None)) == 0.0


@pytest.mark.parametrize("status", ["unparsed", "refused", "over_limit", "sandbox:policy_violation"])
def test_whatever_does_not_end_well_has_the_lowest_reward(status: str) -> None:
    assert reward_of(CHOICE, answered(status, choice=1)) == 0.0
    assert reward_of(OPEN, answered(status, text="Knots"), judge=by_length) == 1.0


def test_a_failure_of_the_apparatus_is_no_reward_at_all() -> None:
    assert reward_of(CHOICE, answered("apparatus")) is None
    assert reward_of(OPEN, answered("apparatus")) is None


def test_open_answers_are_judged() -> None:
    assert reward_of(OPEN, answered(text="Knots"), judge=by_length) == 5.0
    with pytest.raises(UserError, match="q2"):
        reward_of(OPEN, answered(text="Knots"))


def test_both_scales_meet_between_zero_and_one() -> None:
    assert as_fraction(1.0, CHOICE) == 1.0
    assert as_fraction(5.0, OPEN) == 1.0
    assert as_fraction(2.0, OPEN) == 0.25
