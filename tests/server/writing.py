"""From the output of a task to the JSON object that a model would have written."""

import json
from collections.abc import Iterable
from string import ascii_uppercase
from typing import Any

from evoharness.models.perception_tasks import (
    FrameDescription,
    InspectedFrames,
    LocalizedEvent,
    Observation,
    SegmentDescription,
)
from evoharness.models.reasoning_tasks import (
    AnswerQuestion,
    ChosenAction,
    ChosenAnswer,
    ClaimVerdict,
    Reasoning,
    SegmentGroups,
    VideoSummary,
)
from evoharness.models.task import Task
from evoharness.records.interval import Interval

NOTHING = "nothing can be said"


def written(task: Task[Any], output: Any) -> dict[str, Any]:
    """The object, with times from the start of the clip where the task has one."""
    span = getattr(task, "span", None)
    start = span.start if span is not None else 0.0
    match output:
        case InspectedFrames():
            return {
                "observations": _observations(output.observations, start),
                "candidates": [_stretch(interval, start) for interval in output.candidates],
            }
        case LocalizedEvent():
            window = output.window
            return {
                "timeline": _observations(output.timeline, start),
                "found": window is not None,
                "window": _stretch(window, start) if window is not None else {"start": 0, "end": 0},
            }
        case SegmentDescription():
            return _segment(output, start)
        case FrameDescription() | Reasoning() | VideoSummary():
            return {"text": output.text or NOTHING}
        case ChosenAnswer():
            return _choice(task, output)
        case ClaimVerdict():
            return {"text": output.text, "supported": output.supported, "confidence": output.confidence}
        case ChosenAction():
            return {
                "thought": "",
                "action": "STOP" if output.stop else output.tool,
                "arguments": json.dumps(output.arguments),
            }
        case SegmentGroups():
            return {"groups": [group.model_dump() for group in output.groups]}
    raise TypeError(type(output).__name__)


def _choice(task: Task[Any], output: ChosenAnswer) -> dict[str, Any]:
    assert isinstance(task, AnswerQuestion)
    count = len(task.options)
    even = [1 / count] * count
    return {
        "reason": output.text,
        "choice": ascii_uppercase[output.choice or 0],
        "scores": list(output.scores) or even,
        "guessed": output.guessed or output.choice is None,
    }


def _stretch(interval: Interval, start: float) -> dict[str, float]:
    return {"start": round(interval.start - start, 3), "end": round(interval.end - start, 3)}


def _observations(observations: Iterable[Observation], start: float) -> list[dict[str, Any]]:
    return [
        {**_stretch(each.interval, start), "text": each.text, "found": each.found} for each in observations
    ]


def _segment(output: SegmentDescription, start: float) -> dict[str, Any]:
    def relative(values: dict[str, Any]) -> dict[str, Any]:
        for name in {"start", "end", "first_seen"} & set(values):
            values[name] = round(values[name] - start, 3)
        return values

    return {
        "events": [relative(event.model_dump()) for event in output.events],
        "entities": [relative(entity.model_dump()) for entity in output.entities],
        "texts": [relative(text.model_dump()) for text in output.texts],
        "relations": [relation.model_dump() for relation in output.relations],
        "summary": output.summary or NOTHING,
    }
