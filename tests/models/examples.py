"""A small task of every type, and an answer on the wire that a model could give to it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evoharness.models.evolution_tasks import (
    DiagnoseFailure,
    FailureCase,
    MadeCall,
    ObservationRatio,
    ParameterOffer,
    ProposeParameters,
    ProposeSkill,
    ProposeStrategy,
    ProposeTool,
    ProposeToolPolicy,
    QuestionRates,
    RevisePolicy,
    RouteRow,
)
from evoharness.models.perception_tasks import (
    DescribeFrame,
    DescribeSegment,
    InspectFrames,
    LocalizeEvent,
    Transcribe,
)
from evoharness.models.prompting import read
from evoharness.models.reasoning_tasks import (
    AnswerOpen,
    AnswerQuestion,
    CheckFaithfulness,
    ChooseAction,
    JudgeAnswer,
    PhraseQuestion,
    Reason,
    SummarizeSegments,
    SummarizeVideo,
    ToolChoice,
    VerifyClaim,
)
from evoharness.models.task import Task
from evoharness.records.evidence import Evidence
from evoharness.records.evolution import FailureCause
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from evoharness.records.question import QuestionKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Grey:
    """A source of frames that are grey all over."""

    def pixels(self, frames: Sequence[Frame]) -> "Iterator[NDArray[np.uint8]]":
        """RGB arrays (height, width, 3)."""
        import numpy as np

        return (np.full((frame.height, frame.width, 3), 128, np.uint8) for frame in frames)


def frame(time: float, box: tuple[float, float, float, float] | None = None) -> Frame:
    """A grey frame at that time."""
    return Frame(key=f"grey:{time}:{box}", time=time, width=64, height=32, source=Grey(), box=box)


SPAN = Interval(start=120.0, end=180.0)
FRAMES = tuple(frame(SPAN.start + seconds) for seconds in (0.0, 12.5, 40.0))
EVIDENCE = (
    Evidence(source="look", interval=Interval(start=3.0, end=4.5), text="a red ball rolls to the left"),
    Evidence(source="summary", text="a ball game in a yard"),
)
CASE = FailureCase(
    kind="temporal_order",
    text="What rolls after the door opens?",
    options=("a red ball", "a blue ring"),
    reference="a blue ring",
    answer="a red ball",
    status="ok",
    cause=FailureCause.LOCALIZATION,
    source=Interval(start=61.0, end=64.0),
    duration=240.0,
    strategy="overview",
    calls=(MadeCall(call="look", arguments='{"fps":1}', result="[3-4.5] a red ball rolls", frames=12),),
    lesson="When something comes after an event, look at the stretch behind it.",
)
LOOK = ToolChoice(
    name="look",
    purpose="watch one stretch of the video closely",
    arguments={"start": "seconds", "end": "seconds", "prompt": "text: what to look for"},
)
PADDING = ParameterOffer(
    name="detail_padding_s",
    kind="number",
    unit="s",
    doc="Context on each side.",
    value=5.0,
    initial=5.0,
    low=0.0,
    high=60.0,
)
DETAIL = ParameterOffer(
    name="detail_detail",
    kind="choice",
    unit="detail level",
    doc="Detail of a closer look.",
    value="large",
    initial="large",
    choices=("small", "normal", "large"),
)
STRATEGY = "def strategy(ctx, question):\n    return ctx.answer(ctx.look([])['observations'])\n"
TOOL = "def tool(memory, start):\n    return [node for node in memory.between(start, start + 60)]\n"

TASKS: tuple[Task[Any], ...] = (
    InspectFrames(frames=FRAMES, span=SPAN, prompt="What rolls?"),
    LocalizeEvent(frames=FRAMES, span=SPAN, query="the door opens"),
    DescribeFrame(frame=frame(12.5, (0.5, 0.0, 1.0, 0.5)), prompt="Is the ball red?"),
    DescribeSegment(frames=FRAMES, span=SPAN, transcript="[121.0-122.5] here it comes"),
    Transcribe(path=Path("yard.mp4"), key="cafe", span=SPAN, language="en", words=("Ada",)),
    AnswerQuestion(
        text="What rolls?",
        options=("a red ball", "a blue ring", "nothing"),
        evidence=EVIDENCE,
        frames=FRAMES,
        guidance="Compare the colours.",
    ),
    AnswerOpen(text="What rolls?", evidence=EVIDENCE),
    VerifyClaim(claim="a red ball rolls", evidence=EVIDENCE, frames=FRAMES),
    Reason(prompt="List what rolls.", evidence=EVIDENCE),
    ChooseAction(
        question="What rolls?",
        options=("a red ball", "a blue ring"),
        duration=240.0,
        evidence=EVIDENCE,
        tools=(LOOK,),
        history=('look {"end": 30, "start": 0}',),
    ),
    SummarizeSegments(summaries=("a door opens", "a ball rolls", "rain")),
    SummarizeVideo(super_events=("in the yard: a ball rolls", "rain: it rains")),
    PhraseQuestion(
        text='What is it that rolls at 12 s beside "Exit"?', options=("a red ball", "2 blue rings")
    ),
    JudgeAnswer(question="What rolls?", reference="a red ball", answer="a ball"),
    CheckFaithfulness(question="What rolls?", reference="a red ball", annotation=EVIDENCE),
    DiagnoseFailure(case=CASE),
    ProposeSkill(
        cases=(CASE,),
        skills={"count": "---\nname: count\n---\nCount.\n"},
        accuracy={"counting": (3, 9)},
        rejections=("detail_fps 2 → 4: looks too much",),
        observation=ObservationRatio(frames_ratio=1.0, tokens_ratio=1.02, limit=1.25),
    ),
    ProposeStrategy(
        cases=(CASE,),
        strategy="overview",
        source=STRATEGY,
        memory=True,
        longest_s=300.0,
        parameters={"overview_fps": 1.0},
    ),
    ProposeParameters(
        cases=(CASE,),
        parameters=(PADDING, DETAIL),
        routes=(RouteRow(until_s=300.0, strategy="overview"), RouteRow(strategy="chunked")),
        strategies=("overview", "chunked"),
    ),
    ProposeTool(cases=(CASE,), problems=(), tools={}),
    ProposeToolPolicy(cases=(CASE,), tools=(LOOK,), policy={"default": ("look",)}),
    RevisePolicy(
        proportions={QuestionKind.COUNTING: 0.5, QuestionKind.SPATIAL: 0.5},
        targets={QuestionKind.COUNTING: 0.5, QuestionKind.SPATIAL: 0.5},
        form_weights={"repeats": 1.0, "place": 2.0},
        modes=("far", "same_segment", "neighbouring"),
        distractors="same_segment",
        relate=0.15,
        brief=0.5,
        rates=(QuestionRates(name="counting", generated=40, retained=31, asked=20, accuracy=0.9),),
        cases=(CASE,),
    ),
)
EXAMPLES: dict[type[Task[Any]], Task[Any]] = {type(task): task for task in TASKS}

_PROPOSAL = {"reason": "the evidence lay behind the event", "title": "look behind the event"}
_OBSERVED = {"start": 1.0, "end": 2.5, "text": "a red ball rolls to the left", "found": True}
ANSWERS: dict[type[Task[Any]], dict[str, Any]] = {
    InspectFrames: {"observations": [_OBSERVED], "candidates": [{"start": 30.0, "end": 40.0}]},
    LocalizeEvent: {"timeline": [_OBSERVED], "found": True, "window": {"start": 2.0, "end": 3.0}},
    DescribeFrame: {"text": "yes, the ball is red"},
    DescribeSegment: {
        "events": [
            {
                "start": 1.0,
                "end": 2.5,
                "kind": "motion",
                "subject": "the red ball",
                "action": "rolls",
                "object": "",
                "description": "the red ball rolls to the left",
            }
        ],
        "entities": [
            {
                "kind": "object",
                "name": "red ball",
                "attributes": ["red"],
                "description": "a red ball",
                "first_seen": 1.0,
                "spatial_hint": "at the right",
            }
        ],
        "texts": [{"start": 0.0, "end": 3.0, "text": "Exit", "description": "a sign"}],
        "relations": [{"source": "entity:0", "target": "event:0", "kind": "performs", "description": ""}],
        "summary": "A red ball rolls.",
    },
    Transcribe: {"lines": [{"start": 1.0, "end": 2.5, "text": "here it comes"}]},
    AnswerQuestion: {"reason": "seen at 3 s", "choice": "A", "scores": [0.8, 0.1, 0.1], "guessed": False},
    AnswerOpen: {"text": "a red ball", "guessed": False},
    VerifyClaim: {"text": "seen at 3 s", "supported": True, "confidence": 0.9},
    Reason: {"text": "a red ball"},
    ChooseAction: {
        "thought": "what comes after is open",
        "action": "look",
        "arguments": '{"start": 4.5, "end": 30, "prompt": "what rolls"}',
    },
    SummarizeSegments: {
        "groups": [
            {"first": 0, "last": 1, "label": "the ball", "description": "a ball rolls"},
            {"first": 2, "last": 2, "label": "the rain", "description": "it rains"},
        ]
    },
    SummarizeVideo: {"text": "A ball rolls, then it rains."},
    PhraseQuestion: {
        "text": 'What rolls beside "Exit" at 12 s?',
        "options": ["a red ball", "2 blue rings"],
    },
    JudgeAnswer: {"comparison": "no colour", "correctness": 4, "detail": 2, "context": 4, "temporal": 5},
    CheckFaithfulness: {"reason": "all is said", "unsupported": [], "faithful": True},
    DiagnoseFailure: {
        "missed": "nothing behind the event was looked at",
        "gap": "operational",
        "lesson": "when a question asks what follows, look behind the event",
        "component": "skill",
    },
    ProposeSkill: {
        **_PROPOSAL,
        "name": "look-behind",
        "description": "Look behind an event when asked what follows it.",
        "trigger": "after|next",
        "plan": [{"look": "after", "seconds": 60}],
        "text": "Look at the stretch behind the event.",
    },
    ProposeStrategy: {
        **_PROPOSAL,
        "source": STRATEGY.replace("[]", "[[0, ctx.video.duration / 2]]"),
    },
    ProposeParameters: {
        **_PROPOSAL,
        "values": [{"name": "detail_padding_s", "value": "12"}],
        "routes": [],
    },
    ProposeTool: {
        **_PROPOSAL,
        "name": "within_a_minute",
        "purpose": "Everything recorded in the minute from a time.",
        "signature": [{"name": "start", "type": "number", "about": "seconds"}],
        "kinds": ["counting"],
        "source": TOOL,
        "tests": [{"arguments": json.dumps({"start": 0}), "expect": "type", "value": '"list"'}],
    },
    ProposeToolPolicy: {
        **_PROPOSAL,
        "rules": [
            {"trigger": "how many", "tools": ["look"]},
            {"trigger": "default", "tools": ["look"]},
        ],
    },
    RevisePolicy: {
        "reasons": ["counting is mastered: 0.90"],
        "kinds": [
            {"kind": "counting", "share": 0.4, "distractors": "neighbouring", "relate": 0.25},
            {"kind": "spatial", "share": 0.6, "distractors": "same_segment", "relate": 0.15},
        ],
        "forms": [{"form": "repeats", "weight": 0.8}],
        "brief": 0.5,
    },
}
"""Answers that fit the schemas of these tasks, and read back."""


def answered(kind: type[Task[Any]], **changes: Any) -> Any:
    """The output of the example of a type, from its example answer with changes."""
    return read(EXAMPLES[kind], {**ANSWERS[kind], **changes})


def refused(kind: type[Task[Any]], said: str, **changes: Any) -> None:
    """Assert that the changed answer is turned down with these words."""
    with pytest.raises(ValueError, match=said) as caught:
        answered(kind, **changes)
    assert "\n" not in str(caught.value)
