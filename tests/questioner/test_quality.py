"""J_Q on examples worked out by hand (section 3.2, appendix A.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.questioner import (
    Checked,
    Filter,
    FilterReport,
    QuestionerSettings,
    accuracies,
    quality,
    target_proportions,
    total_variation,
)
from evoharness.records.outcome import Answered, Outcome, Trace
from evoharness.records.question import Question, QuestionKind

COUNTING, SPATIAL = QuestionKind.COUNTING, QuestionKind.SPATIAL
HALVES = {COUNTING: 0.5, SPATIAL: 0.5}
SETTINGS = QuestionerSettings()


def question(name: str, kind: QuestionKind) -> Question:
    return Question(
        id=name, video="v", kind=kind, form=f"form of {kind}", text="?", options=("a", "b"), answer=0
    )


def report(*rows: tuple[QuestionKind, Filter | None, bool | None, bool | None]) -> FilterReport:
    """Rows of (kind, removed by, right without evidence, right from records)."""
    checked = tuple(
        Checked(
            question=str(n),
            kind=kind,
            form=f"form of {kind}",
            removed_by=by,
            without_evidence=blind,
            from_records=records,
        )
        for n, (kind, by, blind, records) in enumerate(rows)
    )
    kept = tuple(question(c.question, c.kind) for c in checked if c.removed_by is None)
    return FilterReport(retained=kept, checked=checked)


def test_a_worked_example() -> None:
    # 𝒢: 8 questions (form and duplicate removals are not in it); 4 right without evidence, 6 from records;
    # 𝒟: 3 counting, 1 spatial; counting has accuracy 0.5, spatial 0.9.
    blind = (COUNTING, Filter.WITHOUT_EVIDENCE, True, True)
    kept = (COUNTING, None, False, True)
    judged = quality(
        report(
            *[blind] * 3,
            (SPATIAL, Filter.FRESH_LOOK, True, False),
            *[kept] * 3,
            (SPATIAL, None, False, False),
            (SPATIAL, Filter.FORM, None, None),
            (SPATIAL, Filter.DUPLICATE, None, None),
        ),
        {COUNTING: 0.5, SPATIAL: 0.9},
        HALVES,
        SETTINGS,
    )
    assert (judged.considered, judged.retained) == (8, 4)
    assert judged.blind == pytest.approx(4 / 8)
    assert judged.blind_penalty == pytest.approx((0.5 - 0.25) / 0.75)
    assert judged.oracle == pytest.approx(6 / 8)
    assert judged.coverage == pytest.approx(0.25)  # |3/4 − 1/2| + |1/4 − 1/2| over 2
    assert judged.difficulty == pytest.approx(3 / 4)
    assert judged.removed == pytest.approx(0.5)
    assert judged.removal_penalty == pytest.approx(0.25)
    by_hand = -2 / 3 + 0.75 - 0.25 + 0.75 - 0.5 * 0.25
    assert pytest.approx(by_hand) == judged.J


def test_chance_without_evidence_costs_nothing() -> None:
    rows = [(COUNTING, Filter.WITHOUT_EVIDENCE, True, True)] + [(COUNTING, None, False, True)] * 3
    judged = quality(report(*rows), {}, {COUNTING: 1.0}, SETTINGS)
    assert judged.blind_penalty == 0
    assert judged.removal_penalty == 0
    assert pytest.approx(1.0) == judged.J


@pytest.mark.parametrize(
    ("accuracy", "inside"), [(0.3, 1.0), (0.7, 1.0), (0.29999, 0.0), (0.70001, 0.0), (None, 0.0)]
)
def test_the_interval_includes_its_bounds(accuracy: float | None, inside: float) -> None:
    known = {} if accuracy is None else {COUNTING: accuracy}
    judged = quality(report((COUNTING, None, False, True)), known, HALVES, SETTINGS)
    assert judged.difficulty == inside


def test_with_another_number_of_options() -> None:
    rows = [(COUNTING, Filter.WITHOUT_EVIDENCE, True, True), (COUNTING, None, False, True)]
    judged = quality(report(*rows), {}, {COUNTING: 1.0}, SETTINGS, options=2)
    assert judged.blind_penalty == 0
    assert judged.removal_penalty == 0


def test_nothing_to_judge_has_no_value() -> None:
    judged = quality(report((COUNTING, Filter.FORM, None, None)), {}, HALVES, SETTINGS)
    assert judged.J is None
    assert judged.blind is None
    assert judged.coverage == 1


def test_apparatus_is_no_removal() -> None:
    judged = quality(
        report((COUNTING, None, False, True), (COUNTING, Filter.APPARATUS, None, None)),
        {},
        {COUNTING: 1.0},
        SETTINGS,
    )
    assert judged.considered == 1
    assert judged.removed == 0


KINDS = st.dictionaries(st.sampled_from(QuestionKind), st.floats(0.01, 1), min_size=1).map(
    lambda d: {k: v / sum(d.values()) for k, v in d.items()}
)


@given(KINDS, KINDS)
def test_total_variation_is_a_distance(a: dict[QuestionKind, float], b: dict[QuestionKind, float]) -> None:
    assert total_variation(a, a) == 0
    assert total_variation(a, b) == total_variation(b, a)
    assert -1e-9 <= total_variation(a, b) <= 1 + 1e-9


def test_default_targets_are_a_distribution_over_all_kinds() -> None:
    targets = target_proportions(SETTINGS)
    assert set(targets) == set(QuestionKind)
    assert sum(targets.values()) == pytest.approx(1)


def outcome(name: str, reward: float | None, status: str = "ok") -> Outcome:
    answered = Answered(question=name, status=status, trace=Trace(strategy="s"))
    return Outcome(harness="h", question=name, reward=reward, answered=answered)


def test_accuracies_leave_the_apparatus_out() -> None:
    asked = [question("1", COUNTING), question("2", COUNTING), question("3", SPATIAL)]
    by_kind, by_form = accuracies(
        asked,
        [outcome("1", 1.0), outcome("2", 0.0), outcome("3", None, "apparatus"), outcome("other", 1.0)],
    )
    assert set(by_kind) == {COUNTING}
    assert (by_kind[COUNTING].right, by_kind[COUNTING].asked) == (1, 2)
    assert by_form["form of counting"].share == 0.5
