"""What comes back from proposer tasks makes a candidate without further guessing."""

from random import Random
from typing import Any

import pytest

from evoharness.evolution.tools import ToolDraft
from evoharness.harness import Parameters, Route, initial_harness, parameter_specs
from evoharness.models.evolution_tasks import (
    DiagnoseFailure,
    ParameterOffer,
    ProposedTool,
    ProposeParameters,
    ProposeSkill,
    ProposeStrategy,
    ProposeTool,
    ProposeToolPolicy,
    RouteRow,
)
from evoharness.models.prompting import read, render
from evoharness.models.task import Task
from evoharness.records.evolution import ChangeKind
from evoharness.records.tool import read_manifest
from evoharness.sandbox.confined.policy import checked
from evoharness.solver.skills import Skill, fires, read_skill, skill_markdown
from tests.models.examples import ANSWERS, CASE, EXAMPLES, STRATEGY, answered, refused

# Lessons


def test_only_an_operational_gap_teaches_something() -> None:
    found = answered(DiagnoseFailure)
    assert (found.component, bool(found.lesson)) == (ChangeKind.SKILL, True)
    for gap in ("unreachable", "already_right"):
        found = answered(DiagnoseFailure, gap=gap)
        assert (found.component, found.lesson) == (None, "")
    refused(DiagnoseFailure, "lesson: is empty", lesson=" ")


# Skills


def test_a_skill_becomes_a_folder_that_reads_back() -> None:
    proposed = answered(ProposeSkill)
    fields = proposed.model_dump(exclude={"title", "reason", "updates"})
    skill = Skill.model_validate(fields)
    markdown = skill_markdown(skill)
    assert read_skill(skill.name, {"SKILL.md": markdown}) == skill
    assert fires(skill.trigger, "What comes after the rain?")
    assert initial_harness().with_skill(skill.name, {"SKILL.md": markdown}).skills


def test_a_skill_of_a_known_name_is_an_update() -> None:
    assert not answered(ProposeSkill).updates
    assert answered(ProposeSkill, name="count").updates


def test_a_full_library_can_only_be_updated() -> None:
    full = EXAMPLES[ProposeSkill].model_copy(update={"most": 1})
    assert "only updates are possible" in render(full).system
    with pytest.raises(ValueError, match="the library is full; update one of count"):
        read(full, ANSWERS[ProposeSkill])
    assert read(full, {**ANSWERS[ProposeSkill], "name": "count"}).updates


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Look Behind"}, "name: 'Look Behind' is none"),
        ({"plan": [{"look": "after", "seconds": 0}]}, "plan.0.seconds: above 0"),
        ({"plan": [{"look": "beside", "seconds": 9}]}, "plan.0.look: "),
        ({"text": ""}, "text: is empty"),
        ({"text": "x" * 5000}, "text: 5000 characters; at most 4000"),
        ({"title": ""}, "title: is empty"),
    ],
)
def test_a_skill_can_be_used(changes: dict[str, Any], said: str) -> None:
    refused(ProposeSkill, said, **changes)


# Strategies


def test_a_strategy_replaces_the_one_it_began_with() -> None:
    proposed = answered(ProposeStrategy)
    harness = initial_harness().with_strategy(proposed.name, proposed.source)
    assert harness.strategies["overview"] == proposed.source
    assert checked(proposed.source, "strategy")[1] == []


def test_a_fence_around_code_is_taken_off() -> None:
    source = ANSWERS[ProposeStrategy]["source"]
    assert answered(ProposeStrategy, source=f"```python\n{source}```\n").source == source


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (STRATEGY, "source: is the program as it was"),
        ("return 1", r"source: has to define `def strategy\(ctx, question…`"),
        (STRATEGY + "# " + "x" * 70_000, "source: is longer than 64 KB"),
        (STRATEGY + "# \ud800", "source: holds text that is no Unicode"),
    ],
)
def test_a_strategy_is_a_new_program(source: str, said: str) -> None:
    refused(ProposeStrategy, said, source=source)


# Parameters


def offers() -> tuple[ParameterOffer, ...]:
    """Everything that the initial harness declares."""
    values = Parameters().model_dump(mode="json")
    return tuple(ParameterOffer(**spec.model_dump(), value=values[spec.name]) for spec in parameter_specs())


def rows() -> tuple[RouteRow, ...]:
    """The routes of the initial harness."""
    return tuple(RouteRow(**route.model_dump()) for route in initial_harness().routes)


def proposal(*values: tuple[str, str], routes: Any = ()) -> dict[str, Any]:
    """An answer to ProposeParameters."""
    return {
        "reason": "too coarse",
        "title": "look closer",
        "values": [{"name": name, "value": value} for name, value in values],
        "routes": list(routes),
    }


EVERYTHING = ProposeParameters(
    cases=(CASE,), parameters=offers(), routes=rows(), strategies=tuple(initial_harness().strategies)
)


def test_values_and_routes_make_a_harness() -> None:
    table = [
        {"until_s": 200, "including": True, "strategy": "overview", "memory": False},
        {"until_s": 0, "including": True, "strategy": "memory", "memory": True},
    ]
    wanted = [("detail_fps", "3"), ("detail_intervals", "4"), ("replay_detail", "normal")]
    proposed = read(EVERYTHING, proposal(*wanted, routes=table))
    assert proposed.values == {"detail_fps": 3.0, "detail_intervals": 4, "replay_detail": "normal"}
    routes = tuple(Route(**row.model_dump()) for row in proposed.routes)
    harness = initial_harness().with_parameters(**proposed.values).with_routes(routes)
    assert harness.parameters.detail_intervals == 4
    assert harness.route(201.0).strategy == "memory"


def test_every_parameter_can_be_set_within_its_bounds_and_not_beyond() -> None:
    rng = Random(1)
    for offer in offers():
        if offer.kind == "choice":
            value: Any = rng.choice([word for word in offer.choices if word != offer.value])
            with pytest.raises(ValueError, match=f"{offer.name}: 'huge' is none of small, normal, large"):
                read(EVERYTHING, proposal((offer.name, "huge")))
        else:
            assert offer.low is not None
            assert offer.high is not None
            value = offer.low
            for beyond in (offer.low - 1, offer.high + 1):
                with pytest.raises(ValueError, match=f"{offer.name}: .* lies outside"):
                    read(EVERYTHING, proposal((offer.name, f"{beyond:g}")))
        proposed = read(EVERYTHING, proposal((offer.name, f"{value}")))
        assert proposed.values == {offer.name: value}
        initial_harness().with_parameters(**proposed.values)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (proposal(("fps", "2")), "values: no parameter 'fps'"),
        (proposal(("detail_fps", "fast")), "detail_fps: 'fast' is no number"),
        (proposal(("detail_fps", "nan")), "detail_fps: nan lies outside"),
        (proposal(("detail_intervals", "2.5")), "detail_intervals: is a whole number"),
        (
            proposal(routes=[{"until_s": 9, "including": True, "strategy": "overview", "memory": False}]),
            "routes: until_s grows from row to row, and is 0 in the last one only",
        ),
        (
            proposal(routes=[{"until_s": 0, "including": True, "strategy": "magic", "memory": False}]),
            "routes: no strategy 'magic'",
        ),
    ],
)
def test_parameters_are_declared_and_within_bounds(answer: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(EVERYTHING, answer)


def test_what_is_as_it_was_is_no_change() -> None:
    table = [{**row.model_dump(), "until_s": row.until_s or 0} for row in rows()]
    assert read(EVERYTHING, proposal(("detail_fps", "2.0"), routes=table)).empty


def test_routes_that_may_not_change_do_not() -> None:
    fixed = EVERYTHING.model_copy(update={"routes": ()})
    row = {"until_s": 0, "including": True, "strategy": "overview", "memory": False}
    with pytest.raises(ValueError, match="routes: cannot be changed here"):
        read(fixed, proposal(routes=[row]))


# Tools and who may choose them


def test_a_tool_becomes_files_of_a_harness() -> None:
    proposed = answered(ProposeTool)
    draft = ToolDraft(proposed.name, proposed.source, proposed.manifest)
    harness = initial_harness().with_tool(draft.name, draft.files)
    manifest = read_manifest(harness.tools["within_a_minute"]["within_a_minute.json"])
    assert manifest.signature == {"start": "number: seconds"}
    assert manifest.tests[0].expects == ("type", "list")
    assert checked(proposed.source, "tool")[1] == []


@pytest.mark.parametrize(
    ("expect", "value", "read_as"),
    [
        ("type", "list", "list"),
        ("type", '"list"', "list"),
        ("at_least", "0", 0),
        ("non_empty", "", True),
        ("equals", '{"text": "a"}', {"text": "a"}),
        ("equals", "three", "three"),
    ],
)
def test_an_expectation_of_a_test(expect: str, value: str, read_as: Any) -> None:
    test = {"arguments": '{"start": 0}', "expect": expect, "value": value}
    manifest = read_manifest(answered(ProposeTool, tests=[test]).manifest)
    assert manifest.tests[0].expects == (expect, read_as)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "look"}, "name: 'look' is none or taken"),
        ({"name": "Count-All"}, "name: 'Count-All' is none or taken"),
        ({"source": "def f(): pass"}, r"source: has to define `def tool\(memory…`"),
        ({"kinds": []}, "kinds: needs at least one"),
        ({"tests": []}, "tests: needs at least one"),
        ({"purpose": ""}, "purpose: "),
        (
            {"tests": [{"arguments": "{}", "expect": "type", "value": "list"}]},
            "no test uses the argument start",
        ),
        (
            {"tests": [{"arguments": '{"end": 1}', "expect": "type", "value": "list"}]},
            "test 1, arguments: there is no argument 'end'",
        ),
        (
            {"tests": [{"arguments": "start", "expect": "type", "value": "list"}]},
            "tests.0.arguments: no JSON object as text",
        ),
        ({"signature": [{"name": "start", "type": "float", "about": ""}]}, "signature.0.type: "),
    ],
)
def test_a_tool_has_a_manifest_that_passes(changes: dict[str, Any], said: str) -> None:
    refused(ProposeTool, said, **changes)


def test_a_revised_tool_keeps_its_name() -> None:
    draft = ProposedTool(name="minute", source="def tool(memory): pass\n", manifest="{}")
    task = ProposeTool(cases=(), draft=draft, problems=("minute.json: kinds: is missing",))
    assert "did not pass" in render(task).system
    with pytest.raises(ValueError, match="name: stays minute"):
        read(task, ANSWERS[ProposeTool])


def test_a_tool_policy_becomes_that_of_a_harness() -> None:
    proposed = answered(ProposeToolPolicy)
    assert initial_harness().with_tool_policy(proposed.policy).tool_policy == {
        "how many": ("look",),
        "default": ("look",),
    }
    assert answered(ProposeToolPolicy, rules=[{"trigger": "default", "tools": ["look"]}]).empty


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ([("", ["look"])], "rules.0.trigger: is empty"),
        ([("a", ["look"]), ("a|", ["look"])], "rules.1.trigger: 'a' is there twice"),
        ([("a", ["magic"])], r"rules.0.tools: no tool 'magic' \(there are: look\)"),
        ([("a", [])], "rules.0.tools: no tools"),
    ],
)
def test_a_tool_policy_names_tools_that_exist(rules: list[tuple[str, list[str]]], said: str) -> None:
    refused(ProposeToolPolicy, said, rules=[{"trigger": t, "tools": tools} for t, tools in rules])


# Nothing worth proposing


@pytest.mark.parametrize(
    ("kind", "nothing"),
    [
        (ProposeSkill, {"name": ""}),
        (ProposeStrategy, {"source": ""}),
        (ProposeParameters, {"values": []}),
        (ProposeTool, {"name": ""}),
        (ProposeToolPolicy, {"rules": []}),
    ],
)
def test_a_proposer_may_propose_nothing(kind: type[Task[Any]], nothing: dict[str, Any]) -> None:
    assert not answered(kind).empty
    assert answered(kind, **nothing).empty
    assert answered(kind, **nothing, title="").empty
