"""A backbone that answers nothing and counts everything: outputs of the usual length, for any task."""

from collections.abc import Callable
from typing import Any, cast

from evoharness.models.backbone import Reply, UnsupportedTask
from evoharness.models.perception_tasks import (
    DescribedEvent,
    DescribeFrame,
    DescribeSegment,
    FrameDescription,
    InspectedFrames,
    InspectFrames,
    LocalizedEvent,
    LocalizeEvent,
    Observation,
    SegmentDescription,
    SpokenLine,
    Transcribe,
    Transcription,
)
from evoharness.models.reasoning_tasks import (
    AnswerOpen,
    AnswerQuestion,
    ChooseAction,
    ChosenAction,
    ChosenAnswer,
    ClaimVerdict,
    OpenAnswer,
    Reason,
    Reasoning,
    SegmentGroup,
    SegmentGroups,
    SummarizeSegments,
    SummarizeVideo,
    VerifyClaim,
    VideoSummary,
)
from evoharness.models.sizes import CHARACTERS_A_TOKEN, characters_of, frames_of
from evoharness.models.task import Output, Task
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend

OBSERVATIONS_A_SECOND = 0.7
MOST_OBSERVATIONS = 80
"""In one look."""
CANDIDATES = 6
"""Places that a look proposes for a closer one."""
CANDIDATE_S = 6.0
EVENTS_A_SECOND = 0.75
"""Events in the description of a segment."""
ACTIONS = 2
"""Tool calls before there is evidence enough."""
WORDS = "a small thing of some colour moves slowly from left to right and stops there for a while "


class CountingBackbone:
    """Counts the tokens of tasks as the embedded backbone does, or those of the prompts that they become."""

    id = "counting"

    def __init__(self, prompts: bool = False) -> None:
        """`prompts`: whether models are given prompts, whose every word counts; answers have limits then."""
        self._prompts = prompts

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`; UnsupportedTask for a task that no run has."""
        answer = _ANSWERS.get(type(task))
        if answer is None:
            raise UnsupportedTask(f"there is no usual answer to {type(task).__name__}")
        output = answer(task)
        received = len(output.model_dump_json()) // CHARACTERS_A_TOKEN
        frames = frames_of(task)
        return Reply(
            cast(Output, output),
            Spend(
                calls=1,
                input_tokens=sum(frame.tokens for frame in frames) + self._text_tokens(task),
                output_tokens=min(received, task.max_output_tokens) if self._prompts else received,
                frames=len(frames),
            ),
        )

    def _text_tokens(self, task: Task[Any]) -> int:
        if not self._prompts:
            return characters_of(task) // CHARACTERS_A_TOKEN
        from evoharness.models.prompting import render

        prompt = render(task)
        written = sum(len(part) for part in prompt.parts if not isinstance(part, Frame))
        return (len(prompt.system) + written + len(str(prompt.schema))) // CHARACTERS_A_TOKEN


def _text(characters: int) -> str:
    return (WORDS * (characters // len(WORDS) + 1))[:characters]


def _describe_segment(task: DescribeSegment) -> SegmentDescription:
    count = max(1, round(EVENTS_A_SECOND * task.span.duration))
    step = task.span.duration / count
    starts = [task.span.start + number * step for number in range(count)]
    events = tuple(
        DescribedEvent(
            kind="motion",
            start=round(start, 3),
            end=round(min(task.span.end, start + step), 3),
            subject="a small thing",
            action="moves",
            description=_text(90),
        )
        for start in starts
    )
    return SegmentDescription(summary=_text(340), events=events)


def _inspect(task: InspectFrames) -> InspectedFrames:
    count = min(MOST_OBSERVATIONS, max(1, round(OBSERVATIONS_A_SECOND * task.span.duration)))
    return InspectedFrames(
        observations=_observed(task.span, count), candidates=_parts(task.span, CANDIDATES, CANDIDATE_S)
    )


def _localize(task: LocalizeEvent) -> LocalizedEvent:
    middle = task.span.middle
    window = Interval(start=max(task.span.start, middle - 5), end=min(task.span.end, middle + 5))
    return LocalizedEvent(timeline=_observed(task.span, 10), window=window)


def _observed(span: Interval, count: int) -> tuple[Observation, ...]:
    return tuple(Observation(interval=part, text=_text(52)) for part in _parts(span, count, 2.0))


def _parts(span: Interval, count: int, seconds: float) -> tuple[Interval, ...]:
    """Places spread over a span."""
    starts = [span.start + span.duration * (number + 0.25) / count for number in range(count)]
    return tuple(
        Interval(start=round(start, 3), end=round(max(start, min(span.end, start + seconds)), 3))
        for start in starts
    )


def _transcribe(task: Transcribe) -> Transcription:
    parts = _parts(task.span, max(1, round(task.span.duration / 5)), 4.0)
    return Transcription(lines=tuple(SpokenLine(interval=part, text=_text(60)) for part in parts))


def _group(task: SummarizeSegments) -> SegmentGroups:
    last = len(task.summaries) - 1
    return SegmentGroups(
        groups=tuple(
            SegmentGroup(label=_text(40), description=_text(280), first=first, last=min(first + 2, last))
            for first in range(0, last + 1, 3)
        )
    )


def _choose(task: ChooseAction) -> ChosenAction:
    """The tool of which most answers are made, a few times: a search where there is one, else a look."""
    names = [tool.name for tool in task.tools]
    if len(task.history) >= ACTIONS or not {"search", "look"}.intersection(names):
        return ChosenAction(stop=True)
    if "search" in names:
        return ChosenAction(tool="search", arguments={"query": task.question, "kind": "node"})
    middle = task.duration / 2
    return ChosenAction(tool="look", arguments={"start": max(0.0, middle - 15), "end": middle + 15})


_ANSWERS: dict[type[Any], Callable[[Any], Any]] = {
    DescribeSegment: _describe_segment,
    InspectFrames: _inspect,
    LocalizeEvent: _localize,
    DescribeFrame: lambda _: FrameDescription(text=_text(300)),
    Transcribe: _transcribe,
    SummarizeSegments: _group,
    SummarizeVideo: lambda _: VideoSummary(text=_text(330)),
    AnswerQuestion: lambda task: ChosenAnswer(
        choice=0, text=_text(80), scores=(0.25,) * min(8, len(task.options))
    ),
    AnswerOpen: lambda _: OpenAnswer(text=_text(300)),
    VerifyClaim: lambda _: ClaimVerdict(supported=True, confidence=0.5, text=_text(120)),
    Reason: lambda _: Reasoning(text=_text(600)),
    ChooseAction: _choose,
}
