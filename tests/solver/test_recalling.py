"""The memory as a strategy sees it: JSON, everything with its time and a sentence."""

from collections.abc import Callable

import pytest

from evoharness.memory import MemoryReader
from evoharness.models.perception_tasks import InspectFrames
from evoharness.models.reasoning_tasks import AnswerQuestion, ChooseAction, ChosenAction
from evoharness.records.interval import Interval
from evoharness.records.memory import Entity, EntityKind, Event, Segment, SuperEvent, VideoMemory, VisibleText
from evoharness.records.outcome import Answered
from evoharness.sandbox import ProcessSandbox
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.video import Video
from tests.solver.standins import QUESTION, Letters, Witness, only

Solve = Callable[[str], Answered]


def _segment(number: int, colour: str) -> Segment:
    start = 30.0 * number
    name = f"s{number:04}"
    when = Interval(start=start + 5, end=start + 9)
    return Segment(
        id=name,
        interval=Interval(start=start, end=start + 30),
        summary=f"a {colour} circle moves",
        events=(
            Event(
                id=f"{name}/e0000",
                kind="motion",
                interval=when,
                subject=f"the {colour} circle",
                object="",
                action="moves",
                description=f"the {colour} circle moves to the right",
            ),
        ),
        entities=(
            Entity(
                id=f"{name}/n0000",
                kind=EntityKind.OBJECT,
                name="circle",
                attributes=(colour,),
                first_seen=start,
            ),
        ),
        texts=(VisibleText(id=f"{name}/t0000", text=f"Find the {colour} valve", interval=when),),
    )


@pytest.fixture
def memory() -> VideoMemory:
    segments = (_segment(0, "red"), _segment(1, "blue"))
    whole = Interval(start=0, end=60)
    parts = (
        SuperEvent(
            id="x0",
            label="circles",
            description="two of them",
            segment_ids=("s0000", "s0001"),
            interval=whole,
        ),
    )
    return VideoMemory(video="v", duration=60, root="circles move", super_events=parts, segments=segments)


@pytest.fixture
def run(sandbox: ProcessSandbox, minute: Video, memory: VideoMemory) -> Solve:
    bench = SolverBench(Witness(), Letters(), sandbox, lambda _: MemoryReader(memory, Letters()))

    def answer(body: str) -> Answered:
        source = "def strategy(ctx, question):\n    " + body
        return solve(QUESTION, minute, only(source, memory=True), bench, SolverLimits())

    return answer


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("ctx.summary()", "{'text': 'circles move'}"),
        ("ctx.super_events()[0]['segments']", "['s0000', 's0001']"),
        ("[s['id'] for s in ctx.segments([])]", "['s0000', 's0001']"),
        ("ctx.segments(['s0001'])[0]['text']", "a blue circle moves"),
        ("ctx.records('s0000')['events'][0]['text']", "the red circle moves to the right"),
        ("ctx.records('s0000')['texts'][0]['text']", 'the text "Find the red valve" is shown'),
        ("[n['id'] for n in ctx.between(36, 40)]", "['s0001/e0000', 's0001/t0000']"),
        ("ctx.search('blue', 1, 'segment')[0]['segment']", "s0001"),
        ("ctx.search('blue valve', 1, 'text')[0]['start']", "35"),
        ("ctx.transcript(0, 60)", "[]"),
        ("ctx.search('x', 3, 'transcript')", "[]"),
        ("len(ctx.enumerate('circle moves', -1, 50))", "6"),
    ],
)
def test_reads(run: Solve, expression: str, value: str) -> None:
    answered = run(f"return {{'choice': 0, 'text': str({expression})}}")
    assert (answered.status, answered.text.removesuffix(".0")) == ("ok", value)


@pytest.mark.parametrize(
    "call", ["ctx.records('s9999')", "ctx.between(9, 3)", "ctx.search('')", "ctx.search('x', 0)"]
)
def test_senseless_arguments_are_errors_one_can_catch(run: Solve, call: str) -> None:
    answered = run(
        f"try:\n        {call}\n    except HostCallError as error:\n"
        "        return {'choice': 0, 'text': str(error)}"
    )
    assert answered.status == "ok"
    assert answered.text


def test_the_memory_strategy_reads_then_decides_then_replays(
    sandbox: ProcessSandbox, minute: Video, memory: VideoMemory
) -> None:
    actions = (ChosenAction(tool="records", arguments={"segment_id": "s0001"}), ChosenAction(stop=True))
    backbone = Witness(actions=actions)
    bench = SolverBench(backbone, Letters(), sandbox, lambda _: MemoryReader(memory, Letters()))
    harness = only("").with_strategy("mine", _initial("memory"))
    harness = harness.with_routes((harness.routes[0].model_copy(update={"memory": True}),))
    answered = solve(QUESTION, minute, harness, bench, SolverLimits())
    assert (answered.status, answered.choice) == ("ok", 1)
    first, second = backbone.of(ChooseAction)
    assert {tool.name for tool in first.tools} == {
        "search",
        "records",
        "between",
        "enumerate",
        "super_events",
        "summary",
        "transcript",
    }
    assert first.history == ()
    assert second.history == ('records {"segment_id": "s0001"}',)
    assert len(second.evidence) >= len(first.evidence)
    frames = sum(len(task.frames) for task in backbone.of(InspectFrames))
    assert 0 < frames <= harness.parameters.replay_frame_cap
    texts = [piece.text for piece in backbone.of(AnswerQuestion)[0].evidence]
    assert any("circle moves" in text for text in texts)
    assert any("frames of" in text for text in texts)


def _initial(name: str) -> str:
    from evoharness.harness import initial_harness

    return initial_harness().strategies[name]
