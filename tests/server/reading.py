"""From the messages of a request back to the task that they were made from."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evoharness.models.fencing import unfenced
from evoharness.models.perception_tasks import DescribeFrame, DescribeSegment, InspectFrames, LocalizeEvent
from evoharness.models.reasoning_tasks import (
    AnswerQuestion,
    ChooseAction,
    Reason,
    SummarizeSegments,
    SummarizeVideo,
    ToolChoice,
    VerifyClaim,
)
from evoharness.models.task import Task
from evoharness.records.evidence import Evidence
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from tests.server.pictures import SentPictures

_LABEL = re.compile(r"(?:^|\n)frame at (\d+(?:\.\d+)?) s(?:, unchanged until (\d+(?:\.\d+)?) s)?\s*\Z")


class NotATask(ValueError):
    """A request that is no task this server does; the message says why."""


def name_of(body: Mapping[str, Any]) -> str:
    """The name of the task that a request is about: that of the schema of its answer."""
    name = (body.get("response_format") or {}).get("json_schema", {}).get("name")
    if name not in _TASKS:
        raise NotATask(f"the answer of {name!r} is not asked for here: there are {', '.join(_TASKS)}")
    return str(name)


def pictures_of(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(text before it, address) of each picture of the first user message."""
    found = []
    text = ""
    for part in _user_content(body):
        if part.get("type") == "text":
            text = part["text"]
        elif part.get("type") == "image_url":
            found.append((text, part["image_url"]["url"]))
            text = ""
    return found


def task_of(body: Mapping[str, Any]) -> Task[Any]:
    """The task of a request; NotATask, or ValueError, when there is none to be read in it."""
    read = _TASKS[name_of(body)]
    texts = [part["text"] for part in _user_content(body) if part.get("type") == "text"]
    sections = {name: value for text in texts for name, value in unfenced(text).items()}
    pictures = pictures_of(body)
    origin = float(sections.get("clip", {}).get("starts_at", 0.0))
    labels = [_labelled(text) for text, _ in pictures]
    times = [origin + time for time, _ in labels]
    untils = [None if until is None else origin + until for _, until in labels]
    region = sections.get("region")
    source = SentPictures([url for _, url in pictures], times, untils)
    return read(sections, source.frames(tuple(region) if region else None))


def _user_content(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The parts of the first user message: later ones are about an answer that was given to it."""
    for message in body.get("messages", ()):
        if message.get("role") == "user":
            content = message["content"]
            return [{"type": "text", "text": content}] if isinstance(content, str) else content
    raise NotATask("there is no user message")


def _labelled(text: str) -> tuple[float, float | None]:
    """The time of a picture and, where it is told, until when it stayed."""
    found = _LABEL.search(text)
    if found is None:
        raise NotATask(f"a picture without a time before it: {text[-60:]!r}")
    return float(found[1]), None if found[2] is None else float(found[2])


Sections = Mapping[str, Any]
Frames = tuple[Frame, ...]


def _span(sections: Sections) -> Interval:
    start, length = float(sections["clip"]["starts_at"]), float(sections["clip"]["length"])
    return Interval(start=start, end=start + length)


def _evidence(sections: Sections) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            source=piece["source"],
            text=piece["text"],
            interval=Interval(start=piece["start"], end=piece["end"]) if "start" in piece else None,
        )
        for piece in sections.get("evidence", ())
    )


def _options(sections: Sections) -> tuple[str, ...]:
    return tuple((sections.get("options") or {}).values())


def _inspect(sections: Sections, frames: Frames) -> Task[Any]:
    return InspectFrames(frames=frames, span=_span(sections), prompt=sections.get("prompt", ""))


def _localize(sections: Sections, frames: Frames) -> Task[Any]:
    return LocalizeEvent(frames=frames, span=_span(sections), query=sections["query"])


def _frame(sections: Sections, frames: Frames) -> Task[Any]:
    (frame,) = frames
    return DescribeFrame(frame=frame, prompt=sections.get("prompt", ""))


def _segment(sections: Sections, frames: Frames) -> Task[Any]:
    return DescribeSegment(frames=frames, span=_span(sections), transcript=sections.get("transcript", ""))


def _answer(sections: Sections, frames: Frames) -> Task[Any]:
    return AnswerQuestion(
        text=sections["question"],
        options=_options(sections),
        evidence=_evidence(sections),
        frames=frames,
        guidance=sections.get("guidance", ""),
    )


def _verify(sections: Sections, frames: Frames) -> Task[Any]:
    return VerifyClaim(claim=sections["claim"], evidence=_evidence(sections), frames=frames)


def _reason(sections: Sections, _: Frames) -> Task[Any]:
    return Reason(prompt=sections["prompt"], evidence=_evidence(sections))


def _choose(sections: Sections, _: Frames) -> Task[Any]:
    return ChooseAction(
        question=sections["question"],
        options=_options(sections),
        duration=sections["duration"],
        evidence=_evidence(sections),
        tools=tuple(ToolChoice.model_validate(tool) for tool in sections["tools"]),
        history=tuple(sections.get("history", ())),
        guidance=sections.get("guidance", ""),
    )


def _group(sections: Sections, _: Frames) -> Task[Any]:
    return SummarizeSegments(summaries=tuple(each["text"] for each in sections["summaries"]))


def _summarize(sections: Sections, _: Frames) -> Task[Any]:
    return SummarizeVideo(super_events=tuple(sections["super_events"]))


_TASKS: dict[str, Callable[[Sections, Frames], Task[Any]]] = {
    "inspect_frames": _inspect,
    "localize_event": _localize,
    "describe_frame": _frame,
    "describe_segment": _segment,
    "answer_question": _answer,
    "verify_claim": _verify,
    "reason": _reason,
    "choose_action": _choose,
    "summarize_segments": _group,
    "summarize_video": _summarize,
}
