"""What proposer tasks tell of `ctx`, the dialect and the limits is true."""

import re
from typing import Any

import pytest

from evoharness.harness import initial_harness
from evoharness.models.evolution_tasks import (
    ProposeSkill,
    ProposeStrategy,
    ProposeTool,
    ProposeToolPolicy,
)
from evoharness.models.exchanges import proposing, tooling
from evoharness.models.fencing import unfenced
from evoharness.models.prompting import render
from evoharness.models.task import Task
from evoharness.records.tool import MEMORY_READS
from evoharness.sandbox import SandboxLimits
from evoharness.sandbox.confined.names import BUILTIN_NAMES, FACADES
from evoharness.sandbox.confined.policy import checked
from evoharness.solver.context import ARGUMENTS
from evoharness.solver.generated import TOOL_LIMITS
from tests.models.examples import CASE, EXAMPLES, LOOK, STRATEGY


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


def test_tools_are_offered_as_the_solver_offers_them() -> None:
    prompt = render(EXAMPLES[ProposeToolPolicy])
    (text,) = prompt.parts
    assert isinstance(text, str)
    assert unfenced(text)["tools"] == [LOOK.model_dump()]
