"""What a list of outcomes amounts to."""

from collections import Counter
from collections.abc import Sequence

from evoharness.records.base import Record
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question
from evoharness.records.spend import Spend
from evoharness.scoring import as_fraction


class Measure(Record):
    """Accuracy and what it took. Failures of the apparatus are counted apart and enter no mean."""

    questions: int
    """Outcomes with a reward."""
    accuracy: float | None
    """Mean reward as a fraction from 0 to 1; None without outcomes."""
    frames: float
    """Frames a question, on average."""
    tokens: float
    """Tokens a question, on average, in both directions."""
    spend: Spend
    """All of it, failures included."""
    dropped: int
    """Outcomes lost to the apparatus."""
    statuses: dict[str, int]
    """How often each status occurred."""
    by_kind: dict[str, float]
    """Accuracy by kind of question."""


def measure(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> Measure:
    """Sum up outcomes, given in the order of their questions."""
    scored = [
        (question, outcome, as_fraction(outcome.reward, question))
        for question, outcome in zip(questions, outcomes, strict=True)
        if outcome.reward is not None
    ]
    n = len(scored)
    kinds: dict[str, list[float]] = {}
    for question, _, fraction in scored:
        kinds.setdefault(question.kind.value, []).append(fraction)
    return Measure(
        questions=n,
        accuracy=sum(fraction for _, _, fraction in scored) / n if n else None,
        frames=sum(outcome.answered.spend.frames for _, outcome, _ in scored) / max(1, n),
        tokens=sum(outcome.answered.spend.tokens for _, outcome, _ in scored) / max(1, n),
        spend=sum((outcome.answered.spend for outcome in outcomes), Spend()),
        dropped=len(outcomes) - n,
        statuses=dict(sorted(Counter(outcome.status for outcome in outcomes).items())),
        by_kind={kind: sum(values) / len(values) for kind, values in sorted(kinds.items())},
    )
