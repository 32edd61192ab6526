"""The revision of the question generation policy, on the wire: a row for each kind, and forms that change."""

import math
from collections.abc import Mapping
from typing import Any

from evoharness.models.evolution_tasks import RevisedPolicy, RevisePolicy
from evoharness.models.exchanges.exchange import Exchange
from evoharness.models.exchanges.proposing import told, without_blanks
from evoharness.models.task import Task
from evoharness.models.wire import Schema, Wire, parsed, schema_of
from evoharness.records.json_values import one_line
from evoharness.records.question import QuestionKind


class WireKind(Wire):
    """How questions of one kind are made."""

    kind: QuestionKind
    share: float
    distractors: str
    relate: float


class WireForm(Wire):
    """The new weight of a form."""

    form: str
    weight: float


class WirePolicy(Wire):
    """The answer to RevisePolicy."""

    reasons: tuple[str, ...]
    kinds: tuple[WireKind, ...]
    forms: tuple[WireForm, ...]
    brief: float


def _sections(task: RevisePolicy) -> Mapping[str, Any]:
    kinds = [
        {
            "kind": kind.value,
            "share": share,
            "distractors": task.distractors_by_kind.get(kind, task.distractors),
            "relate": task.relate_by_kind.get(kind, task.relate),
        }
        for kind, share in task.proportions.items()
    ]
    return {
        "policy": {"kinds": kinds, "forms": task.form_weights, "brief": task.brief},
        "targets": {kind.value: share for kind, share in task.targets.items()},
        "quality": without_blanks(task.quality),
        "rates": [without_blanks(rates) for rates in task.rates],
        "cases": told(task.cases),
    }


def _facts(task: RevisePolicy) -> Mapping[str, Any]:
    low, high = task.interval
    lightest, heaviest = task.weights
    return {
        "chance": round(1 / task.options, 2),
        "low": low,
        "high": high,
        "step": task.step,
        "lightest": lightest,
        "heaviest": heaviest,
        "modes": task.modes,
    }


def _schema(task: RevisePolicy) -> Schema:
    schema = schema_of(WirePolicy)
    schema["properties"]["kinds"]["items"]["properties"]["distractors"]["enum"] = list(task.modes)
    return schema


def _read(task: RevisePolicy, answer: Mapping[str, Any]) -> RevisedPolicy:
    revised = parsed(WirePolicy, answer)
    rows = {row.kind: row for row in revised.kinds}
    if len(rows) != len(revised.kinds) or rows.keys() != task.proportions.keys():
        raise ValueError(f"kinds: needs one row for each of {', '.join(task.proportions)}")
    for row in revised.kinds:
        if row.distractors not in task.modes:
            raise ValueError(f"kinds, {row.kind}: distractors is one of {', '.join(task.modes)}")
        if not 0 <= row.relate <= 1:
            raise ValueError(f"kinds, {row.kind}: relate lies from 0 to 1, and {row.relate:g} does not")
        if row.share < 0:
            raise ValueError(f"kinds, {row.kind}: a share is not negative")
    if not 0 <= revised.brief <= 1:
        raise ValueError(f"brief: lies from 0 to 1, and {revised.brief:g} does not")
    weights = {form: weight for form, weight in task.form_weights.items() if weight != 1}
    for form in revised.forms:
        if form.form not in task.form_weights:
            known = ", ".join(task.form_weights)
            raise ValueError(f"forms: no form {one_line(form.form, 40)!r} (there are: {known})")
        weights[form.form] = _stepped(task, task.form_weights[form.form], form.weight)
    return RevisedPolicy(
        proportions=_proportions(task, {kind: row.share for kind, row in rows.items()}),
        form_weights={form: weight for form, weight in weights.items() if weight != 1},
        distractors_by_kind={
            kind: row.distractors for kind, row in rows.items() if row.distractors != task.distractors
        },
        relate_by_kind={kind: row.relate for kind, row in rows.items() if row.relate != task.relate},
        brief=revised.brief,
        reasons=tuple(line for reason in revised.reasons if (line := one_line(reason, 300))),
    )


def _stepped(task: RevisePolicy, old: float, new: float) -> float:
    """The weight within a step of the old one and within its bounds, which an old one may lie outside of."""
    lightest, heaviest = task.weights
    low, high = max(old / task.step, min(old, lightest)), min(old * task.step, max(old, heaviest))
    return round(min(max(new, low), high), 6)


def _proportions(task: RevisePolicy, wanted: Mapping[QuestionKind, float]) -> dict[QuestionKind, float]:
    """Shares that sum to 1: as far towards the wanted ones as a step of each allows."""
    total = sum(wanted.values())
    if not 0 < total < math.inf:
        raise ValueError("kinds: the shares sum to 1, and are not all 0")
    old = task.proportions
    aim = {kind: share / total for kind, share in wanted.items()}
    part = 1.0
    for kind, share in aim.items():
        low, high = old[kind] / task.step, old[kind] * task.step
        if share > high:
            part = min(part, (high - old[kind]) / (share - old[kind]))
        elif share < low:
            part = min(part, (old[kind] - low) / (old[kind] - share))
    mixed = {kind: old[kind] + part * (aim[kind] - old[kind]) for kind in old}
    whole = sum(mixed.values())
    return {kind: share / whole for kind, share in mixed.items()}


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    RevisePolicy: Exchange(_sections, _schema, _read, _facts),
}
