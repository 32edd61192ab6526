"""Proposer tasks: what they tell is true, and what comes back makes a candidate without further guessing."""

import re
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
    RevisePolicy,
    RouteRow,
)
from evoharness.models.exchanges import proposing, tooling
from evoharness.models.fencing import unfenced
from evoharness.models.prompting import read, render
from evoharness.models.task import Task
from evoharness.questioner import Policy, initial_policy
from evoharness.questioner.forms import FORMS
from evoharness.questioner.policy import DistractorMode, QuestionerSettings, target_proportions
from evoharness.records.evolution import ChangeKind
from evoharness.records.question import QuestionKind
from evoharness.records.tool import read_manifest
from evoharness.sandbox import SandboxLimits
from evoharness.sandbox.confined.names import BUILTIN_NAMES, FACADES
from evoharness.sandbox.confined.policy import checked
from evoharness.solver.context import ARGUMENTS
from evoharness.solver.generated import MEMORY_READS, TOOL_LIMITS
from evoharness.solver.skills import Skill, fires, read_skill, skill_markdown
from tests.models.examples import ANSWERS, CASE, EXAMPLES, LOOK, STRATEGY


def answered(kind: type[Task[Any]], **changes: Any) -> Any:
    """The output of the example of a type, from its example answer with changes."""
    return read(EXAMPLES[kind], {**ANSWERS[kind], **changes})


def refused(kind: type[Task[Any]], said: str, **changes: Any) -> None:
    """Assert that the changed answer is turned down with these words."""
    with pytest.raises(ValueError, match=said) as caught:
        answered(kind, **changes)
    assert "\n" not in str(caught.value)


# What a proposer is told is true


def test_every_call_of_ctx_is_told_with_its_arguments_in_order() -> None:
    system = render(EXAMPLES[ProposeStrategy]).system
    for name, arguments in ARGUMENTS.items():
        (told,) = re.findall(rf"ctx\.{name}\((.*?)\) ->", system)
        flat = re.sub(r"\[.*?\](?:, …\])?", "", told)
        assert [part.partition("=")[0] for part in flat.split(", ") if part] == [*arguments.model_fields], (
            name
        )


def test_no_call_of_ctx_is_told_that_there_is_not() -> None:
    told = set(re.findall(r"ctx\.([a-z_]+)\(", render(EXAMPLES[ProposeStrategy]).system))
    assert told == set(ARGUMENTS)


def test_reads_of_the_memory_are_told_only_where_there_is_one() -> None:
    task = ProposeStrategy(cases=(CASE,), strategy="overview", source=STRATEGY)
    system = render(task).system
    assert not set(MEMORY_READS) & set(re.findall(r"ctx\.([a-z_]+)\(", system))
    assert "no memory" in system


def test_a_tool_is_told_what_its_memory_offers() -> None:
    system = render(EXAMPLES[ProposeTool]).system
    assert set(re.findall(r"memory\.([a-z_]+)\(", system)) == set(MEMORY_READS)
    assert "ctx." not in system


@pytest.mark.parametrize("kind", [ProposeStrategy, ProposeTool])
def test_the_dialect_is_told_as_it_is(kind: type[Task[Any]]) -> None:
    system = render(EXAMPLES[kind]).system
    (listed,) = re.findall(r"Builtins: ([a-z ]+), and the usual exceptions", system)
    exceptions = {name for name in BUILTIN_NAMES if name[0].isupper()}
    assert set(listed.split()) == BUILTIN_NAMES - exceptions
    assert set(re.findall(r"`import (\w+)`", system)) == set(FACADES)


def test_the_limits_that_are_told_are_those_that_hold() -> None:
    limits = SandboxLimits()
    assert (limits.steps, limits.cpu_seconds) == (proposing.STRATEGY_STEPS, proposing.STRATEGY_SECONDS)
    assert (
        TOOL_LIMITS.steps,
        TOOL_LIMITS.cpu_seconds,
        TOOL_LIMITS.host_calls,
    ) == (tooling.TOOL_STEPS, tooling.TOOL_SECONDS, tooling.TOOL_CALLS)
    assert "2,000,000 steps and 5 s" in render(EXAMPLES[ProposeStrategy]).system


@pytest.mark.parametrize("name", sorted(initial_harness().strategies))
def test_the_initial_strategies_use_only_what_is_told(name: str) -> None:
    source = initial_harness().strategies[name]
    assert checked(source, "strategy")[1] == []
    task = ProposeStrategy(cases=(CASE,), strategy=name, source=source, memory=name == "memory")
    prompt = render(task)
    told = set(re.findall(r"ctx\.([a-z_]+)\(", prompt.system))
    assert set(re.findall(r"ctx\.([a-z_]+)\(", source)) <= told
    text = "\n".join(part for part in prompt.parts if isinstance(part, str))
    assert "\n".join(unfenced(text)["source"]) + "\n" == source


@pytest.mark.parametrize(
    ("shortest", "longest", "said"),
    [(0.0, None, "any length"), (0.0, 300.0, "0 to 300 s"), (1800.0, None, "1800 s and more")],
)
def test_which_videos_a_strategy_is_for(shortest: float, longest: float | None, said: str) -> None:
    task = ProposeStrategy(
        cases=(), strategy="overview", source=STRATEGY, shortest_s=shortest, longest_s=longest
    )
    assert f"videos of {said}." in render(task).system


def test_a_draft_that_failed_comes_with_its_problems() -> None:
    task = ProposeStrategy(cases=(), strategy="s", source=STRATEGY, draft=STRATEGY, problems=("line 2: no",))
    assert "was turned down" in render(task).system
    assert "was turned down for the" not in render(EXAMPLES[ProposeStrategy]).system


def test_a_limit_of_observation_is_told_only_where_there_is_one() -> None:
    assert "<observation>" in render(EXAMPLES[ProposeSkill]).system
    assert "<observation>" not in render(EXAMPLES[ProposeStrategy]).system


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


# The policy of the questioner


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


def test_tools_are_offered_as_the_solver_offers_them() -> None:
    prompt = render(EXAMPLES[ProposeToolPolicy])
    (text,) = prompt.parts
    assert isinstance(text, str)
    assert unfenced(text)["tools"] == [LOOK.model_dump()]
