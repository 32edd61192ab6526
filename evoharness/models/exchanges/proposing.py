"""Tasks that improve skills, strategies and parameters, on the wire."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from evoharness.models.evolution_tasks import (
    DiagnoseFailure,
    ExplainedFailure,
    FailureCase,
    ParameterOffer,
    ProposedParameters,
    ProposedSkill,
    ProposedStrategy,
    ProposeParameters,
    ProposeSkill,
    ProposeStrategy,
    Proposing,
    RouteRow,
    SkillStep,
)
from evoharness.models.exchanges.exchange import Exchange
from evoharness.models.task import Task
from evoharness.models.wire import Schema, Wire, parsed, said, schema_of
from evoharness.records.base import Record
from evoharness.records.evolution import ChangeKind
from evoharness.records.json_values import one_line

LONGEST_TITLE = 120
LONGEST_SOURCE = 64 * 1024
"""Bytes; the sandbox takes no more."""
LONGEST_SKILL = 4_000
"""Characters of the text of a skill: it is read with every question that fires it."""
LONGEST_STEP_S = 300.0
STRATEGY_STEPS, STRATEGY_SECONDS = 2_000_000, 5

_SKILL_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FENCE = re.compile(r"\A\s*```[a-z]*\n(.*?)\n?```\s*\Z", re.DOTALL)


class WireDiagnosis(Wire):
    """The answer to DiagnoseFailure."""

    missed: str
    gap: Literal["operational", "unreachable", "already_right"]
    lesson: str
    component: Literal["skill", "strategy", "parameters", "tool", "none"]


class WireProposal(Wire):
    """What every proposal begins with."""

    reason: str
    title: str


class WireStep(Wire):
    """One look of a skill's plan."""

    look: Literal["after", "before", "inside"]
    seconds: float


class WireSkill(WireProposal):
    """The answer to ProposeSkill."""

    name: str
    description: str
    trigger: str
    plan: tuple[WireStep, ...]
    text: str


class WireStrategy(WireProposal):
    """The answer to ProposeStrategy."""

    source: str


class WireValue(Wire):
    """A parameter, and its value as text."""

    name: str
    value: str


class WireRoute(Wire):
    """A row of the routing table; `until_s` 0 takes the rest."""

    until_s: float
    including: bool
    strategy: str
    memory: bool


class WireParameters(WireProposal):
    """The answer to ProposeParameters."""

    values: tuple[WireValue, ...]
    routes: tuple[WireRoute, ...]


def without_blanks(value: Record) -> dict[str, Any]:
    """A record as JSON, without its empty fields."""
    fields = value.model_dump(mode="json")
    return {name: inner for name, inner in fields.items() if inner not in (None, "", [], {})}


def told(cases: Sequence[FailureCase]) -> list[dict[str, Any]]:
    """Cases as JSON."""
    return [without_blanks(case) for case in cases]


def code(text: str, head: str, field: str) -> str:
    """Source without a code fence around it, ending in a line break; ValueError when `head` is not in it.

    It is not parsed: source that a model wrote is parsed in the sandbox only.
    """
    fenced = _FENCE.match(text)
    source = (fenced[1] if fenced else text).replace("\r\n", "\n").strip("\n") + "\n"
    if head not in source:
        raise ValueError(f"{field}: has to define `{head}…`")
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{field}: holds text that is no Unicode") from None
    if size > LONGEST_SOURCE:
        raise ValueError(f"{field}: is longer than {LONGEST_SOURCE // 1024} KB")
    return source


def about(proposal: WireProposal) -> dict[str, str]:
    """Title and reason."""
    return {
        "title": one_line(said(proposal.title, "title"), LONGEST_TITLE),
        "reason": " ".join(said(proposal.reason, "reason").split()),
    }


def common(task: Proposing[Any]) -> dict[str, Any]:
    """Sections of every proposal."""
    return {
        "accuracy": {kind: list(pair) for kind, pair in task.accuracy.items()},
        "observation": task.observation.model_dump() if task.observation else {},
        "cases": told(task.cases),
        "rejections": list(task.rejections),
    }


def _diagnosis_sections(task: DiagnoseFailure) -> Mapping[str, Any]:
    return {"case": without_blanks(task.case)}


def _diagnosis_schema(_: DiagnoseFailure) -> Schema:
    return schema_of(WireDiagnosis)


def _read_diagnosis(_: DiagnoseFailure, answer: Mapping[str, Any]) -> ExplainedFailure:
    found = parsed(WireDiagnosis, answer)
    operational = found.gap == "operational"
    component = None if found.component == "none" else ChangeKind(found.component)
    return ExplainedFailure(
        gap=found.gap,
        missed=found.missed.strip(),
        lesson=said(found.lesson, "lesson") if operational else "",
        component=component if operational else None,
    )


def _skill_sections(task: ProposeSkill) -> Mapping[str, Any]:
    return {"skills": task.skills, **common(task)}


def _skill_facts(task: ProposeSkill) -> Mapping[str, Any]:
    return {"full": len(task.skills) >= task.most}


def _skill_schema(_: ProposeSkill) -> Schema:
    return schema_of(WireSkill)


def _read_skill(task: ProposeSkill, answer: Mapping[str, Any]) -> ProposedSkill:
    skill = parsed(WireSkill, answer)
    name = skill.name.strip()
    if not name:
        return ProposedSkill(reason=skill.reason.strip())
    if not _SKILL_NAME.fullmatch(name) and name not in task.skills:
        raise ValueError(f"name: {one_line(name, 40)!r} is none: use a-z, 0-9 and hyphens, at most 64")
    if name not in task.skills and len(task.skills) >= task.most:
        known = ", ".join(sorted(task.skills))
        raise ValueError(f"name: the library is full; update one of {known}, or leave the name empty")
    for number, step in enumerate(skill.plan):
        if not 0 < step.seconds <= LONGEST_STEP_S:
            raise ValueError(f"plan.{number}.seconds: above 0 and at most {LONGEST_STEP_S:g}")
    text = said(skill.text, "text")
    if len(text) > LONGEST_SKILL:
        raise ValueError(f"text: {len(text)} characters; at most {LONGEST_SKILL}, better 1000")
    return ProposedSkill(
        name=name,
        description=one_line(said(skill.description, "description"), 300),
        trigger="|".join(part.strip() for part in skill.trigger.split("|") if part.strip()),
        plan=tuple(SkillStep(look=step.look, seconds=step.seconds) for step in skill.plan),
        text=text,
        updates=name in task.skills,
        **about(skill),
    )


def _strategy_sections(task: ProposeStrategy) -> Mapping[str, Any]:
    return {
        "source": task.source.splitlines(),
        "parameters": task.parameters,
        "tools": [tool.model_dump() for tool in task.tools],
        "draft": task.draft.splitlines(),
        "problems": list(task.problems),
        **common(task),
    }


def _lengths(task: ProposeStrategy) -> str:
    if task.longest_s is None:
        return f"{task.shortest_s:g} s and more" if task.shortest_s else "any length"
    return f"{task.shortest_s:g} to {task.longest_s:g} s"


def _strategy_facts(task: ProposeStrategy) -> Mapping[str, Any]:
    return {
        "memory": task.memory,
        "on": "ctx",
        "lengths": _lengths(task),
        "steps": STRATEGY_STEPS,
        "seconds": STRATEGY_SECONDS,
    }


def _strategy_schema(_: ProposeStrategy) -> Schema:
    return schema_of(WireStrategy)


def _read_strategy(task: ProposeStrategy, answer: Mapping[str, Any]) -> ProposedStrategy:
    written = parsed(WireStrategy, answer)
    if not written.source.strip():
        return ProposedStrategy(name=task.strategy, reason=written.reason.strip())
    source = code(written.source, "def strategy(ctx, question", "source")
    if source.strip() == task.source.strip():
        raise ValueError("source: is the program as it was; change it, or leave it empty")
    return ProposedStrategy(name=task.strategy, source=source, **about(written))


def _parameter_sections(task: ProposeParameters) -> Mapping[str, Any]:
    return {
        "parameters": [without_blanks(offer) for offer in task.parameters],
        "routes": [{**row.model_dump(), "until_s": row.until_s or 0} for row in task.routes],
        "strategies": list(task.strategies),
        **common(task),
    }


def _parameter_schema(_: ProposeParameters) -> Schema:
    return schema_of(WireParameters)


def _read_parameters(task: ProposeParameters, answer: Mapping[str, Any]) -> ProposedParameters:
    proposed = parsed(WireParameters, answer)
    offers = {offer.name: offer for offer in task.parameters}
    values: dict[str, float | int | str] = {}
    for change in proposed.values:
        offer = offers.get(change.name.strip())
        if offer is None:
            known = ", ".join(offers)
            raise ValueError(f"values: no parameter {one_line(change.name, 40)!r} (there are: {known})")
        value = _value(offer, change.value.strip().strip("\"'"))
        if value != offer.value:
            values[offer.name] = value
    routes = _routes(task, proposed.routes)
    if not values and not routes:
        return ProposedParameters(reason=proposed.reason.strip())
    return ProposedParameters(values=values, routes=routes, **about(proposed))


def _value(offer: ParameterOffer, text: str) -> float | int | str:
    """The value that a text gives a parameter; ValueError when it is out of bounds."""
    if offer.kind == "choice":
        if text not in offer.choices:
            raise ValueError(f"{offer.name}: {one_line(text, 40)!r} is none of {', '.join(offer.choices)}")
        return text
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{offer.name}: {one_line(text, 40)!r} is no number") from None
    low = -float("inf") if offer.low is None else offer.low
    high = float("inf") if offer.high is None else offer.high
    if not low <= number <= high:
        raise ValueError(f"{offer.name}: {text} lies outside {low:g} to {high:g}")
    if offer.kind == "integer":
        if not number.is_integer():
            raise ValueError(f"{offer.name}: is a whole number, and {text} is not")
        return int(number)
    return number


def _routes(task: ProposeParameters, rows: Sequence[WireRoute]) -> tuple[RouteRow, ...]:
    """The table in a proposal; empty when it is the one there was."""
    if not rows:
        return ()
    if not task.routes:
        raise ValueError("routes: cannot be changed here; give an empty list")
    limits = [row.until_s for row in rows[:-1]]
    if rows[-1].until_s != 0 or any(limit <= 0 for limit in limits) or sorted(set(limits)) != limits:
        raise ValueError("routes: until_s grows from row to row, and is 0 in the last one only")
    for row in rows:
        if row.strategy not in task.strategies:
            known = ", ".join(task.strategies)
            raise ValueError(f"routes: no strategy {one_line(row.strategy, 40)!r} (there are: {known})")
    table = tuple(
        RouteRow(
            until_s=row.until_s or None, including=row.including, strategy=row.strategy, memory=row.memory
        )
        for row in rows
    )
    # whether the last row includes its limit means nothing
    last = table[-1].model_copy(update={"including": task.routes[-1].including})
    table = (*table[:-1], last)
    return () if table == task.routes else table


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    DiagnoseFailure: Exchange(_diagnosis_sections, _diagnosis_schema, _read_diagnosis),
    ProposeSkill: Exchange(_skill_sections, _skill_schema, _read_skill, _skill_facts),
    ProposeStrategy: Exchange(_strategy_sections, _strategy_schema, _read_strategy, _strategy_facts),
    ProposeParameters: Exchange(_parameter_sections, _parameter_schema, _read_parameters),
}
