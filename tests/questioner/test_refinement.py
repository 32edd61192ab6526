"""How the rules revise the policy: why, how far, and never beyond their bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.questioner import (
    Accuracy,
    Checked,
    DistractorMode,
    Filter,
    FilterReport,
    Findings,
    Policy,
    QuestionerSettings,
    RuleRefiner,
    initial_policy,
    quality,
    target_proportions,
)
from evoharness.questioner.refinement import bounded_distribution
from evoharness.records.question import QuestionKind

SETTINGS = QuestionerSettings()
TARGETS = target_proportions(SETTINGS)
POLICY = initial_policy(SETTINGS)
ORDER, COUNTING = QuestionKind.TEMPORAL_ORDER, QuestionKind.COUNTING


def findings(
    checked: list[Checked] | None = None,
    by_kind: dict[QuestionKind, Accuracy] | None = None,
    by_form: dict[str, Accuracy] | None = None,
    too_narrow: dict[str, int] | None = None,
) -> Findings:
    report = FilterReport(retained=(), checked=tuple(checked or ()))
    judged = quality(report, {}, TARGETS, SETTINGS)
    return Findings(judged, report, by_kind or {}, by_form or {}, TARGETS, too_narrow or {})


def made(form: str, kind: QuestionKind, count: int, by: Filter | None, look: bool | None) -> list[Checked]:
    return [
        Checked(
            question=f"{form}{by}{n}",
            kind=kind,
            form=form,
            removed_by=by,
            without_evidence=by is Filter.WITHOUT_EVIDENCE,
            fresh_look=look,
        )
        for n in range(count)
    ]


def test_nothing_known_changes_nothing() -> None:
    refined = RuleRefiner().refine(POLICY, findings())
    assert refined.policy is POLICY
    assert refined.reasons == ()


def test_kinds_in_the_interval_gain_and_others_lose() -> None:
    refined = RuleRefiner().refine(
        POLICY,
        findings(by_kind={ORDER: Accuracy(right=5, asked=10), COUNTING: Accuracy(right=10, asked=10)}),
    )
    old, new = POLICY.proportions, refined.policy.proportions
    assert new[ORDER] > old[ORDER]
    assert new[COUNTING] < old[COUNTING]
    assert sum(new.values()) == pytest.approx(1)
    assert any("temporal_order" in reason and "interval" in reason for reason in refined.reasons)


def test_forms_that_are_guessed_or_contradicted_lose_weight() -> None:
    checked = [
        *made("next_text", ORDER, 6, Filter.WITHOUT_EVIDENCE, None),
        *made("next_text", ORDER, 4, None, True),
        *made("repeats", COUNTING, 8, Filter.FRESH_LOOK, False),
        *made("texts_shown", COUNTING, 10, None, True),
    ]
    refined = RuleRefiner().refine(POLICY, findings(checked))
    assert refined.policy.weight("next_text") < 1
    assert refined.policy.weight("repeats") < 1
    assert refined.policy.weight("texts_shown") == 1
    assert any("60% answered without evidence" in reason for reason in refined.reasons)


def test_a_kind_answered_without_evidence_gets_harder_options_and_more_relations() -> None:
    checked = made("next_text", ORDER, 6, Filter.WITHOUT_EVIDENCE, None) + made(
        "next_text", ORDER, 4, None, True
    )
    refined = RuleRefiner().refine(POLICY, findings(checked)).policy
    assert refined.mode(ORDER) is DistractorMode.NEIGHBOURING
    assert refined.relating(ORDER) > POLICY.relating(ORDER)
    assert refined.mode(COUNTING) is POLICY.mode(COUNTING)


def test_a_mastered_kind_gets_harder_options() -> None:
    refined = RuleRefiner().refine(POLICY, findings(by_kind={ORDER: Accuracy(right=9, asked=10)})).policy
    assert refined.mode(ORDER) is DistractorMode.NEIGHBOURING


def test_forms_with_too_narrow_sources_lose_weight() -> None:
    refined = RuleRefiner().refine(
        POLICY,
        findings(by_form={"next_text": Accuracy(right=2, asked=10)}, too_narrow={"next_text": 5}),
    )
    assert refined.policy.weight("next_text") < 1


def test_a_few_questions_say_nothing() -> None:
    refined = RuleRefiner().refine(
        POLICY,
        findings(
            made("next_text", ORDER, 3, Filter.WITHOUT_EVIDENCE, None),
            by_kind={ORDER: Accuracy(right=5, asked=5)},
        ),
    )
    assert refined.policy is POLICY


ACCURACIES = st.builds(
    lambda right, wrong: Accuracy(right=right, asked=right + wrong), st.integers(0, 30), st.integers(0, 30)
)
CHECKS = st.lists(
    st.builds(
        Checked,
        question=st.uuids().map(str),
        kind=st.sampled_from(QuestionKind),
        form=st.sampled_from(("next_text", "repeats", "text_at")),
        removed_by=st.sampled_from((None, *Filter)),
        without_evidence=st.booleans(),
        fresh_look=st.one_of(st.none(), st.booleans()),
    ),
    max_size=80,
)


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from(QuestionKind), ACCURACIES),
            st.dictionaries(st.sampled_from(("next_text", "repeats")), ACCURACIES),
            CHECKS,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_steps_are_bounded_whatever_is_found(
    rounds: list[tuple[dict[QuestionKind, Accuracy], dict[str, Accuracy], list[Checked]]],
) -> None:
    refiner, policy = RuleRefiner(), POLICY
    for by_kind, by_form, checked in rounds:
        revised = refiner.refine(policy, findings(checked, by_kind, by_form)).policy
        assert sum(revised.proportions.values()) == pytest.approx(1)
        for kind, share in revised.proportions.items():
            assert share <= policy.proportions[kind] * refiner.step * (1 + 1e-9)
            assert share >= policy.proportions[kind] / refiner.step * (1 - 1e-9)
            assert TARGETS[kind] / 2 * (1 - 1e-6) <= share <= 2 * TARGETS[kind] * (1 + 1e-6)
        for form, weight in revised.form_weights.items():
            assert weight <= policy.weight(form) * refiner.step + 1e-5
            assert weight >= policy.weight(form) / refiner.step - 1e-5
            assert refiner.weights[0] - 1e-5 <= weight <= refiner.weights[1]
        assert all(0 <= share <= refiner.most_relate for share in revised.relate_by_kind.values())
        assert revised.options == policy.options
        policy = revised


@given(st.data())
def test_a_bounded_distribution_keeps_its_bounds(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(QuestionKind), min_size=1, unique=True))
    raw = {k: data.draw(st.floats(0.01, 1)) for k in kinds}
    base = {k: v / sum(raw.values()) for k, v in raw.items()}
    desired = {k: v * data.draw(st.floats(0.5, 2)) for k, v in base.items()}
    low, high = {k: v / 1.5 for k, v in base.items()}, {k: v * 1.5 for k, v in base.items()}
    found = bounded_distribution(desired, low, high)
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    assert all(low[k] - 1e-9 <= found[k] <= high[k] + 1e-9 for k in kinds)


def test_the_refined_policy_has_another_fingerprint_and_survives_the_disk() -> None:
    refined = RuleRefiner().refine(POLICY, findings(by_kind={ORDER: Accuracy(right=5, asked=10)})).policy
    assert refined.fingerprint != POLICY.fingerprint
    assert Policy.model_validate_json(refined.model_dump_json()) == refined
    assert Policy.model_validate_json(refined.model_dump_json()).fingerprint == refined.fingerprint
