"""How good a set of questions is: J_Q with all its terms (section 3.2 and appendix A.2)."""

from collections import Counter
from collections.abc import Iterable, Mapping

from evoharness.questioner.filters import FilterReport
from evoharness.questioner.policy import QuestionerSettings
from evoharness.records.base import Record
from evoharness.records.outcome import APPARATUS, Outcome
from evoharness.records.question import Question, QuestionKind


class Quality(Record):
    """J_Q = −w_b L_b + w_o A_o − w_c C + w_d D − w_r R, and what each term was computed from."""

    J: float | None
    """The whole; None when no question was left to judge (𝒢 is empty)."""
    blind: float | None
    """b, the share of 𝒢 that is answered right without evidence."""
    blind_penalty: float | None
    """L_b = max(0, (b − 1/K) / (1 − 1/K))."""
    oracle: float | None
    """A_o, the share of 𝒢 that is answered right from the supporting records."""
    coverage: float
    """C, the total variation distance of the kinds in 𝒟 from the target proportions; 1 when 𝒟 is empty."""
    difficulty: float
    """D, the share of 𝒟 whose kind has a Solver accuracy inside the interval, bounds included."""
    removed: float
    """1 − |𝒟| / |𝒢|; 0 when 𝒢 is empty."""
    removal_penalty: float
    """R = max(0, removed − 1/K)."""
    considered: int
    """|𝒢|, after the form and duplicate filters."""
    retained: int
    """|𝒟|, after all filters."""
    options: int
    """K."""
    proportions: dict[QuestionKind, float]
    """Shares of the kinds in 𝒟."""
    accuracy_by_kind: dict[QuestionKind, float]
    """Solver accuracies that D was computed from."""


def quality(
    report: FilterReport,
    accuracy_by_kind: Mapping[QuestionKind, float],
    targets: Mapping[QuestionKind, float],
    settings: QuestionerSettings,
    options: int | None = None,
) -> Quality:
    """J_Q of one round's questions (equation of section 3.2; terms of appendix A.2).

    `accuracy_by_kind` comes from the evolution set (`accuracies`); kinds that are missing there count as
    outside the interval. `targets` are the configured proportions, a distribution. `options` is the K of the
    policy that made the questions; None: that of the settings.
    """
    count = options or settings.options
    chance = 1 / count
    considered, retained = report.considered, report.retained
    weights = settings.weights
    kinds = Counter(q.kind for q in retained)
    proportions = {kind: n / len(retained) for kind, n in kinds.items()}
    coverage = total_variation(proportions, targets) if retained else 1.0
    inside = {
        kind
        for kind, accuracy in accuracy_by_kind.items()
        if settings.accuracy_low <= accuracy <= settings.accuracy_high
    }
    difficulty = sum(share for kind, share in proportions.items() if kind in inside)
    removed = 1 - len(retained) / len(considered) if considered else 0.0
    removal_penalty = max(0.0, removed - chance)
    blind = _share(c.without_evidence for c in considered)
    oracle = _share(c.from_records for c in considered)
    blind_penalty = None if blind is None else max(0.0, (blind - chance) / (1 - chance))
    total = None
    if blind_penalty is not None and oracle is not None:
        total = (
            -weights.blind * blind_penalty
            + weights.oracle * oracle
            - weights.coverage * coverage
            + weights.difficulty * difficulty
            - weights.removal * removal_penalty
        )
    return Quality(
        J=total,
        blind=blind,
        blind_penalty=blind_penalty,
        oracle=oracle,
        coverage=coverage,
        difficulty=difficulty,
        removed=removed,
        removal_penalty=removal_penalty,
        considered=len(considered),
        retained=len(retained),
        options=count,
        proportions=proportions,
        accuracy_by_kind=dict(accuracy_by_kind),
    )


def _share(values: Iterable[bool | None]) -> float | None:
    """Share of True among the values that are known; None when none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def total_variation(a: Mapping[QuestionKind, float], b: Mapping[QuestionKind, float]) -> float:
    """Total variation distance of two distributions over kinds: half the sum of absolute differences."""
    return sum(abs(a.get(kind, 0.0) - b.get(kind, 0.0)) for kind in sorted({*a, *b})) / 2


class Accuracy(Record):
    """How often the Solver was right on some questions."""

    right: int
    asked: int

    @property
    def share(self) -> float:
        """From 0 to 1; 0 when nothing was asked."""
        return self.right / self.asked if self.asked else 0.0


def accuracies(
    questions: Iterable[Question], outcomes: Iterable[Outcome]
) -> tuple[dict[QuestionKind, Accuracy], dict[str, Accuracy]]:
    """Solver accuracy by kind and by form, on the questions that have an outcome; `apparatus` is left out."""
    by_id = {q.id: q for q in questions}
    kinds: dict[QuestionKind, list[bool]] = {}
    forms: dict[str, list[bool]] = {}
    for outcome in outcomes:
        question = by_id.get(outcome.question)
        if question is None or outcome.status == APPARATUS or outcome.reward is None:
            continue
        kinds.setdefault(question.kind, []).append(outcome.correct)
        forms.setdefault(question.form, []).append(outcome.correct)
    return (
        {kind: Accuracy(right=sum(r), asked=len(r)) for kind, r in kinds.items()},
        {form: Accuracy(right=sum(r), asked=len(r)) for form, r in forms.items()},
    )
