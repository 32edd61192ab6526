"""A generated tool: it reads the memory, and nothing else; what it gives is bounded and checked."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evoharness.memory import MemoryReader
from evoharness.models.backbone import BackboneUnavailable
from evoharness.models.reasoning_tasks import ChooseAction
from evoharness.records.interval import Interval
from evoharness.records.memory import Entity, EntityKind, Segment, VideoMemory
from evoharness.records.outcome import Answered
from evoharness.records.tool import HOST_NAMES, MEMORY_READS
from evoharness.sandbox import HostCallError, ProcessSandbox, SandboxLevel, SandboxResult, SandboxUnavailable
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.solver import arguments as given
from evoharness.solver.context import ARGUMENTS
from evoharness.solver.generated import TOOL_LIMITS, GeneratedTools, memory_api
from evoharness.solver.recalling import Recalling
from evoharness.solver.toolbox import MEMORY_TOOLS, VIDEO_TOOLS
from evoharness.video import Video
from tests.solver.entity_counter import FILES
from tests.solver.standins import QUESTION, Letters, Witness, only

Run = Callable[..., Any]


def _memory() -> VideoMemory:
    people = tuple(
        Entity(id=f"s0000/n000{i}", kind=EntityKind.PERSON, name=name, first_seen=1.0)
        for i, name in enumerate(("Ada", "Bo", "Cy"))
    )
    segments = tuple(
        Segment(
            id=f"s000{i}",
            interval=Interval(start=30.0 * i, end=30.0 * (i + 1)),
            summary="people",
            entities=people if i == 0 else (),
        )
        for i in range(2)
    )
    return VideoMemory(video="v", duration=60, root="people", super_events=(), segments=segments)


def recalling() -> Recalling:
    return Recalling(lambda: MemoryReader(_memory(), Letters()))


def manifest(**signature: str) -> str:
    values: dict[str, Any] = {"text": "x", "number": 1, "list": [1]}
    test = {"arguments": {name: values[said] for name, said in signature.items()}, "equals": None}
    return json.dumps({"signature": signature, "purpose": "p", "kinds": ["spatial"], "tests": [test]})


@pytest.fixture
def run(sandbox: ProcessSandbox) -> Run:
    """Runs a tool of one line, with the given arguments."""

    def call(source: str, signature: dict[str, str] | None = None, **arguments: Any) -> Any:
        files = {"mine.py": source, "mine.json": manifest(**(signature or {}))}
        tools = GeneratedTools({"mine": files}, sandbox, recalling())
        return tools.run(given.ToolCall(name="mine", arguments=arguments))

    return call


def test_the_entity_counter_of_the_paper(sandbox: ProcessSandbox) -> None:
    tools = GeneratedTools({"count_entities": FILES}, sandbox, recalling())

    def count(start: float, end: float, kind: str) -> Any:
        call = given.ToolCall(name="count_entities", arguments={"start": start, "end": end, "kind": kind})
        return tools.run(call)

    assert count(10, 20, "person") == 3
    assert count(10, 20, "object") == 0
    assert count(31, 50, "person") == 0


def test_a_decision_is_told_what_the_manifest_says(sandbox: ProcessSandbox) -> None:
    (choice,) = GeneratedTools({"count_entities": FILES}, sandbox, recalling()).choices.values()
    assert choice.name == "count_entities"
    assert choice.purpose.startswith("count the entities of a type")
    assert "counting, entities_attributes" in choice.purpose
    assert choice.arguments["start"] == "number: seconds"


@pytest.mark.parametrize("name", sorted(ARGUMENTS.keys() - set(MEMORY_READS)))
def test_a_tool_calls_no_tool_no_model_and_looks_at_nothing(run: Run, name: str) -> None:
    with pytest.raises(HostCallError, match=name):
        run(f"def tool(memory):\n    return memory.{name}()\n")


def test_it_has_every_read_of_a_memory_and_no_more() -> None:
    api = memory_api(recalling())
    assert set(api.methods) == set(MEMORY_READS)
    assert not api.data


@pytest.mark.parametrize(
    ("source", "arguments", "said"),
    [
        ("def tool(memory, a):\n    return a\n", {"b": 1}, r"no argument 'b' \(there is: a\)"),
        ("def tool(memory, a):\n    return a\n", {"a": "1"}, "a is of the type number, and not text"),
        ("def tool(memory, a):\n    return a\n", {"a": float("inf")}, "numbers are finite"),
        ("def tool(memory, a):\n    return a\n", {}, "missing 1 required"),
        ("def tool(memory, a):\n    return a / 0\n", {"a": 1}, "line 2: ZeroDivisionError"),
        ("def tool(memory, a):\n    return 'x' * 70000\n", {"a": 1}, "64 KB"),
        ("def tool(memory, a):\n    while True:\n        pass\n", {"a": 1}, "steps"),
        (
            "def tool(memory, a):\n    for i in range(99):\n        memory.summary()\n",
            {"a": 1},
            "50 host calls",
        ),
        ("import os\ndef tool(memory, a):\n    return 1\n", {"a": 1}, "line 1: 'os'"),
    ],
)
def test_what_goes_wrong_is_told_to_the_strategy(
    run: Run, source: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(HostCallError, match=said):
        run(source, {"a": "number"}, **arguments)


def test_deep_arguments_never_reach_the_sandbox(run: Run) -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    with pytest.raises(HostCallError, match="nested"):
        run("def tool(memory, a):\n    return 1\n", {"a": "list"}, a=deep)


@pytest.mark.parametrize("value", [float("inf"), "x" * 70_000, {"a": ["\ud800"]}])
def test_a_result_that_no_sound_run_gives_goes_no_further(value: Any) -> None:
    class Forger:
        """A backend whose worker says whatever it likes."""

        def run(self, *_: Any) -> SandboxResult:
            return SandboxResult(kind="finished", value=value, source_hash="", level=SandboxLevel(layers=()))

    tools = GeneratedTools({"mine": {"mine.py": "", "mine.json": manifest()}}, Forger(), recalling())  # type: ignore[arg-type]
    with pytest.raises(HostCallError, match="gave no JSON value"):
        tools.run(given.ToolCall(name="mine"))


def test_a_tool_that_is_not_there(sandbox: ProcessSandbox) -> None:
    tools = GeneratedTools({"count_entities": FILES}, sandbox, recalling())
    with pytest.raises(HostCallError, match=r"no such tool 'other' \(there is: count_entities\)"):
        tools.run(given.ToolCall(name="other"))


def test_without_a_memory_there_is_nothing_to_read(sandbox: ProcessSandbox) -> None:
    tools = GeneratedTools({"count_entities": FILES}, sandbox, Recalling(None))
    with pytest.raises(HostCallError, match="this route has no memory"):
        tools.run(given.ToolCall(name="count_entities"))


def test_the_names_of_the_host_are_known() -> None:
    known = {tool.name for tool in (*VIDEO_TOOLS, *MEMORY_TOOLS)}
    assert known | set(MEMORY_READS) | {"knowledge", "video", "memory"} == HOST_NAMES


SLOW = (
    "def tool(memory):\n    n = 0\n    for i in range(200000):\n        n += 1\n    return memory.summary()\n"
)
CALLS = "def strategy(ctx, question):\n    return {'choice': 0, 'text': ctx.tool('slow', {})['text']}\n"


def answer(sandbox: Any, minute: Video, open_memory: Callable[[Video], MemoryReader]) -> Answered:
    harness = only(CALLS, memory=True).with_tool("slow", {"slow.py": SLOW, "slow.json": manifest()})
    bench = SolverBench(Witness(), Letters(), sandbox, open_memory)
    return solve(QUESTION, minute, harness, bench, SolverLimits())


def test_a_tool_runs_on_the_time_of_the_host(sandbox: ProcessSandbox, minute: Video) -> None:
    results = []

    class Watched:
        """Keeps what every run came to."""

        def run(self, *arguments: Any) -> Any:
            result = sandbox.run(*arguments)
            results.append(result)
            return result

    answered = answer(Watched(), minute, lambda _: MemoryReader(_memory(), Letters()))
    assert (answered.status, answered.text) == ("ok", "people")
    tool, strategy = results
    assert tool.calls == 1
    assert tool.own_seconds > 0.01
    assert strategy.host_seconds >= tool.own_seconds + tool.host_seconds
    assert strategy.own_seconds < strategy.host_seconds
    assert strategy.fuel < 100 < tool.fuel
    (step,) = answered.trace.steps
    assert (step.call, step.frames, step.tokens) == ("tool", 0, 0)


def test_building_a_memory_takes_none_of_the_time_of_a_tool(
    sandbox: ProcessSandbox, minute: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    from time import sleep

    short = TOOL_LIMITS.model_copy(update={"total_seconds": 0.5})
    monkeypatch.setattr("evoharness.solver.generated.TOOL_LIMITS", short)

    def build(_: Video) -> MemoryReader:
        sleep(0.6)
        return MemoryReader(_memory(), Letters())

    assert answer(sandbox, minute, build).status == "ok"


@pytest.mark.parametrize("error", [BackboneUnavailable("down"), SandboxUnavailable("gone")])
def test_a_failure_of_the_apparatus_is_not_the_fault_of_the_tool(
    sandbox: ProcessSandbox, minute: Video, error: Exception
) -> None:
    def build(_: Video) -> MemoryReader:
        raise error

    answered = answer(sandbox, minute, build)
    assert (answered.status, answered.message) == ("apparatus", str(error))


def test_a_tool_is_offered_where_there_is_a_memory(sandbox: ProcessSandbox, minute: Video) -> None:
    source = "def strategy(ctx, question):\n    ctx.decide([])\n    return {'choice': 0, 'text': ''}\n"
    for memory in (True, False):
        backbone = Witness()
        bench = SolverBench(backbone, Letters(), sandbox, lambda _: MemoryReader(_memory(), Letters()))
        harness = only(source, memory=memory).with_tool("count_entities", FILES)
        solve(QUESTION, minute, harness, bench, SolverLimits())
        offered = {tool.name for tool in backbone.of(ChooseAction)[0].tools}
        assert ("count_entities" in offered) is memory
