"""A backbone that answers nothing and counts everything: outputs of the usual length, for any task."""

import math
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

OBSERVATIONS_A_SECOND = 0.8
"""Of a look that is dense enough; see `_seen`."""
DENSE = 2.8
"""How fast more frames a second stop to show more."""
MOST_OBSERVATIONS = 102
"""In one look."""
CANDIDATES_AN_OBSERVATION = 0.21
MOST_CANDIDATES = 7
"""Places that a look proposes for a closer one."""
CANDIDATE_S = 6.0
OBSERVED_S = 2.0
"""Length of an observation, where frames are closer."""
WINDOW_S = 6.0
LOOK_S = 20.0
"""Seconds around a moment that is found, and of a look at it."""
EVENTS_A_SECOND = 0.95
"""Events in the description of a segment."""
LOOKING = ("localize", "look", "frame")
READING = ("search",)
"""Tool calls before there is evidence enough: where the video may be looked at, and where it may not."""
WORDS = (
    "a small red circle moves slowly from left to right and stops there for a while ",
    "the text in the middle is gone and another one is shown at the top of the picture ",
    "a large blue square at the bottom turns green and leaves after a few seconds ",
    "two people walk across the street while a car waits beside the corner ",
    "somebody writes a number on the board and wipes it off again ",
    "the yellow star at the right is still there, nothing else can be seen ",
    "a hand takes the cup from the table and puts it into the sink ",
)
SURE = 0.9
"""Score of the option that an answer is sure of."""


class CountingBackbone:
    """Counts the tokens of tasks as the embedded backbone does, or those of the prompts that they become."""

    id = "counting"

    def __init__(self, prompts: bool = False, kept: bool = False) -> None:
        """`prompts`: whether models are given prompts, whose every word counts; answers have limits then.
        `kept`: whether there is a response cache: what was asked before is then not paid again.
        """
        self.sure = False
        """Whether an option of the answers stands out."""
        self._prompts = prompts
        self.kept = kept
        """Whether there is a response cache."""
        self._asked: frozenset[str] = frozenset()

    def forget(self) -> None:
        """Empty the response cache."""
        self._asked = frozenset()

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`; UnsupportedTask for a task that no run has."""
        answer = _ANSWERS.get(type(task))
        if answer is None:
            raise UnsupportedTask(f"there is no usual answer to {type(task).__name__}")
        output = _answered(task, self.sure) if isinstance(task, AnswerQuestion) else answer(task)
        received = len(output.model_dump_json()) // CHARACTERS_A_TOKEN
        frames = frames_of(task)
        spend = Spend(
            calls=1,
            input_tokens=sum(frame.tokens for frame in frames) + self._text_tokens(task),
            output_tokens=min(received, task.max_output_tokens) if self._prompts else received,
            frames=len(frames),
        )
        return Reply(cast(Output, output), spend, cached=self._known(task))

    def _known(self, task: Task[Any]) -> bool:
        """Whether the response cache has the answer; from now on it has."""
        if not self.kept:
            return False
        told = {
            name: getattr(task, name) for name in type(task).model_fields if name not in ("frame", "frames")
        }
        key = f"{type(task).__name__} {told!r} {[frame.key for frame in frames_of(task)]}"
        known = key in self._asked
        self._asked |= {key}
        return known

    def _text_tokens(self, task: Task[Any]) -> int:
        if not self._prompts:
            return characters_of(task) // CHARACTERS_A_TOKEN
        from evoharness.models.prompting import render

        prompt = render(task)
        written = sum(len(part) for part in prompt.parts if not isinstance(part, Frame))
        return (len(prompt.system) + written + len(str(prompt.schema))) // CHARACTERS_A_TOKEN


def _text(characters: int, number: int = 0) -> str:
    """So many characters; another number tells of something else."""
    words = WORDS[number % len(WORDS)]
    return (words * (characters // len(words) + 1))[:characters]


def _answered(task: AnswerQuestion, sure: bool = False) -> ChosenAnswer:
    count = min(8, len(task.options))
    scores = (1 / max(1, count),) * count
    if sure and count > 1:
        scores = (SURE, *((1 - SURE) / (count - 1),) * (count - 1))
    return ChosenAnswer(choice=0, text=_text(80), scores=tuple(round(score, 2) for score in scores))


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
            description=f"{start:5.0f} {_text(84, at)}",  # no two alike: each is embedded
        )
        for at, start in enumerate(starts)
    )
    return SegmentDescription(summary=_text(340), events=events)


def _inspect(task: InspectFrames) -> InspectedFrames:
    count = _seen(task.span.duration, len(task.frames))
    places = min(MOST_CANDIDATES, max(1, round(CANDIDATES_AN_OBSERVATION * count)))
    return InspectedFrames(
        observations=_observed(task.span, len(task.frames)), candidates=_parts(task.span, places, CANDIDATE_S)
    )


def _seen(seconds: float, frames: int) -> int:
    """How many observations a look gives: the more, the longer and the denser it is."""
    dense = 1 - math.exp(-DENSE * frames / max(seconds, 1.0))
    return min(MOST_OBSERVATIONS, max(1, round(1.3 + OBSERVATIONS_A_SECOND * seconds * dense)))


def _localize(task: LocalizeEvent) -> LocalizedEvent:
    middle = task.span.middle
    start, end = middle - WINDOW_S / 2, middle + WINDOW_S / 2
    window = Interval(start=max(task.span.start, start), end=min(task.span.end, end))
    return LocalizedEvent(timeline=_observed(task.span, len(task.frames)), window=window)


def _observed(span: Interval, frames: int) -> tuple[Observation, ...]:
    """What is seen lasts from one frame to the next, at least."""
    step = span.duration / max(1, frames)
    parts = _parts(span, _seen(span.duration, frames), max(OBSERVED_S, step))
    return tuple(Observation(interval=part, text=_text(46, at)) for at, part in enumerate(parts))


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
    """The usual tools one after the other: to find the moment, to look at it, to look closely."""
    names = [tool.name for tool in task.tools]
    usual = [name for name in (LOOKING if "look" in names else READING) if name in names]
    if len(task.history) >= len(usual):
        return ChosenAction(stop=True)
    tool, middle = usual[len(task.history)], task.duration / 2
    arguments: dict[str, dict[str, Any]] = {
        "localize": {"query": task.question},
        "look": {"start": max(0.0, middle - LOOK_S / 2), "end": middle + LOOK_S / 2},
        "frame": {"time": middle},
        "search": {"query": task.question, "kind": "node"},
    }
    return ChosenAction(tool=tool, arguments=arguments[tool])


_ANSWERS: dict[type[Any], Callable[[Any], Any]] = {
    DescribeSegment: _describe_segment,
    InspectFrames: _inspect,
    LocalizeEvent: _localize,
    DescribeFrame: lambda _: FrameDescription(text=_text(300)),
    Transcribe: _transcribe,
    SummarizeSegments: _group,
    SummarizeVideo: lambda _: VideoSummary(text=_text(330)),
    AnswerQuestion: _answered,
    AnswerOpen: lambda _: OpenAnswer(text=_text(300)),
    VerifyClaim: lambda _: ClaimVerdict(supported=True, confidence=0.5, text=_text(120)),
    Reason: lambda _: Reasoning(text=_text(600)),
    ChooseAction: _choose,
}
