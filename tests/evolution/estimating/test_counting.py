"""A backbone that only counts: outputs of the usual length for every task of a run, and their tokens."""

from pathlib import Path
from typing import Any

import pytest

from evoharness.evolution.estimating.counting import CountingBackbone
from evoharness.models.backbone import UnsupportedTask
from evoharness.models.perception_tasks import (
    DescribeFrame,
    DescribeSegment,
    InspectFrames,
    LocalizeEvent,
    Transcribe,
)
from evoharness.models.reasoning_tasks import (
    AnswerOpen,
    AnswerQuestion,
    ChooseAction,
    PhraseQuestion,
    Reason,
    SummarizeSegments,
    SummarizeVideo,
    ToolChoice,
    VerifyClaim,
)
from evoharness.models.task import Task
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval


class NoPixels:
    """A source whose pixels nobody may ask for."""

    def pixels(self, frames: Any) -> Any:
        """Never."""
        raise AssertionError(f"{len(frames)} frames were to be decoded")


SPAN = Interval(start=10.0, end=30.0)
FRAMES = tuple(Frame(f"k{n}", 10.0 + n, 640, 352, NoPixels()) for n in range(20))
SEARCH = ToolChoice(name="search", purpose="find", arguments={"query": "text"})
LOOK = ToolChoice(name="look", purpose="look", arguments={"start": "s", "end": "s"})
TASKS: list[Task[Any]] = [
    DescribeSegment(frames=FRAMES, span=SPAN),
    InspectFrames(frames=FRAMES, span=SPAN, prompt="what is there?"),
    LocalizeEvent(frames=FRAMES, span=SPAN, query="the end"),
    DescribeFrame(frame=FRAMES[0], prompt="what is there?"),
    Transcribe(path=Path("a.mp4"), key="a", span=SPAN),
    SummarizeSegments(summaries=("one", "two", "three", "four")),
    SummarizeVideo(super_events=("one", "two")),
    AnswerQuestion(text="which?", options=("a", "b")),
    AnswerOpen(text="which?"),
    VerifyClaim(claim="it moves"),
    Reason(prompt="think"),
    ChooseAction(question="which?", options=("a", "b"), duration=60.0, tools=(SEARCH, LOOK)),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
@pytest.mark.parametrize("prompts", [False, True])
def test_every_task_of_a_run_is_counted_without_a_pixel(task: Task[Any], prompts: bool) -> None:
    reply = CountingBackbone(prompts).run(task)
    assert isinstance(reply.output, type(task).output)
    assert reply.spend.calls == 1
    assert reply.spend.output_tokens > 0
    frames = getattr(task, "frames", (task.frame,) if isinstance(task, DescribeFrame) else ())
    assert reply.spend.frames == len(frames)
    assert reply.spend.input_tokens >= sum(frame.tokens for frame in frames)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_prompts_cost_more_than_the_inputs_alone(task: Task[Any]) -> None:
    bare, prompted = CountingBackbone().run(task).spend, CountingBackbone(prompts=True).run(task).spend
    assert prompted.input_tokens > bare.input_tokens + 100
    assert prompted.output_tokens <= task.max_output_tokens


def test_the_longer_a_span_the_more_is_said_about_it() -> None:
    long = Interval(start=0.0, end=300.0)
    short = CountingBackbone().run(InspectFrames(frames=FRAMES, span=SPAN, prompt="?")).spend
    more = CountingBackbone().run(InspectFrames(frames=FRAMES, span=long, prompt="?")).spend
    assert more.output_tokens > 2 * short.output_tokens
    assert more.output_tokens < 4000, "a look has its limit"


def test_tools_are_chosen_a_few_times_and_then_no_more() -> None:
    task = ChooseAction(question="?", options=("a", "b"), duration=60.0, tools=(LOOK,))
    chosen = CountingBackbone().run(task).output
    assert (chosen.stop, chosen.tool) == (False, "look")
    assert CountingBackbone().run(task.model_copy(update={"history": ("a", "b")})).output.stop
    assert CountingBackbone().run(task.model_copy(update={"tools": ()})).output.stop


def test_what_no_run_does_is_not_counted() -> None:
    with pytest.raises(UnsupportedTask, match="PhraseQuestion"):
        CountingBackbone().run(PhraseQuestion(text="?"))
