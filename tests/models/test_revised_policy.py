"""A revised policy of the Questioner is one: bounded steps, and about what there is."""

from typing import Any

import pytest

from evoharness.models.evolution_tasks import (
    RevisePolicy,
)
from evoharness.models.prompting import read
from evoharness.questioner import Policy, initial_policy
from evoharness.questioner.forms import FORMS
from evoharness.questioner.policy import DistractorMode, QuestionerSettings, target_proportions
from evoharness.records.question import QuestionKind
from tests.models.examples import refused


def revise() -> RevisePolicy:
    """The initial policy, to be revised."""
    settings = QuestionerSettings()
    policy = initial_policy(settings)
    return RevisePolicy(
        proportions=policy.proportions,
        targets=target_proportions(settings),
        form_weights={form.name: policy.weight(form.name) for form in FORMS},
        modes=tuple(DistractorMode),
        distractors=policy.distractors,
        relate=policy.relate,
        brief=policy.brief,
        options=policy.options,
    )


def revision(task: RevisePolicy, **shares: float) -> dict[str, Any]:
    """An answer with other shares."""
    kinds = [
        {"kind": kind.value, "share": shares.get(kind.value, share), "distractors": "far", "relate": 0.15}
        for kind, share in task.proportions.items()
    ]
    return {
        "reasons": ["more"],
        "kinds": kinds,
        "forms": [{"form": FORMS[0].name, "weight": 9}],
        "brief": 0.4,
    }


def test_a_revised_policy_is_a_policy() -> None:
    task = revise()
    revised = read(task, revision(task, counting=0.15))
    policy = Policy(
        **revised.model_dump(exclude={"reasons"}),
        options=task.options,
        distractors=DistractorMode(task.distractors),
        relate=task.relate,
    )
    assert policy.mode(QuestionKind.COUNTING) is DistractorMode.FAR
    assert policy.weight(FORMS[0].name) == 1.4, "a step at most"
    assert policy.proportions[QuestionKind.COUNTING] > task.proportions[QuestionKind.COUNTING]
    assert sum(policy.proportions.values()) == pytest.approx(1)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.9, 1e6])
def test_no_share_changes_by_more_than_a_step(share: float) -> None:
    task = revise()
    revised = read(task, revision(task, counting=share))
    for kind, old in task.proportions.items():
        assert old / task.step - 1e-9 <= revised.proportions[kind] <= old * task.step + 1e-9
    assert sum(revised.proportions.values()) == pytest.approx(1)


def test_a_policy_that_is_given_back_stays_as_it_was() -> None:
    task = revise()
    answer = revision(task)
    for row in answer["kinds"]:
        row["distractors"] = task.distractors
    revised = read(task, {**answer, "forms": [], "reasons": [], "brief": task.brief})
    assert revised.proportions == pytest.approx(task.proportions)
    assert (revised.form_weights, revised.distractors_by_kind, revised.relate_by_kind) == ({}, {}, {})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kinds": []}, "kinds: needs one row for each of counting, spatial"),
        ({"forms": [{"form": "riddle", "weight": 1}]}, "forms: no form 'riddle'"),
        ({"brief": 2}, "brief: lies from 0 to 1"),
    ],
)
def test_a_revised_policy_is_about_what_there_is(changes: dict[str, Any], said: str) -> None:
    refused(RevisePolicy, said, **changes)
