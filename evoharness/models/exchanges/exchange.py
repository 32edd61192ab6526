"""How one type of task travels: its fields as sections, the schema of its answer, and the way back."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from evoharness.models.task import Output, Task
from evoharness.models.wire import Schema
from evoharness.records.evidence import Evidence
from evoharness.records.frame import Frame

Job = TypeVar("Job", bound=Task[Any])


def no_facts(_: Task[Any]) -> Mapping[str, Any]:
    """Nothing."""
    return {}


@dataclass(frozen=True)
class Exchange(Generic[Job, Output]):
    """The parts of a prompt that depend on the type of a task."""

    sections: Callable[[Job], Mapping[str, Any]]
    """Field → JSON value; every text that a task holds goes through here."""
    schema: Callable[[Job], Schema]
    """What the answer looks like on the wire."""
    read: Callable[[Job, Mapping[str, Any]], Output]
    """From the wire to the output; ValueError in words for the model."""
    facts: Callable[[Job], Mapping[str, Any]] = no_facts
    """Numbers, and words of the program, that the template uses; no text of the task."""
    accepted: Callable[[Job], Schema] | None = None
    """What an answer may look like, where more is understood than is asked for; None: as asked for."""


def name_of(kind: type[Task[Any]]) -> str:
    """The name of a type of task in snake_case: that of its template, and of its schema."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


def frames_of(task: Task[Any]) -> tuple[Frame, ...]:
    """The frames that come with a task."""
    single = getattr(task, "frame", None)
    return (single,) if isinstance(single, Frame) else tuple(getattr(task, "frames", ()))


def origin_of(task: Task[Any]) -> float:
    """From where the times of a task count, in seconds of the video: the start of its span, else 0."""
    span = getattr(task, "span", None)
    return float(span.start) if span is not None else 0.0


def pieces(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    """Evidence as JSON: `start` and `end` in seconds of the video where it has a time, `source`, `text`."""
    return [
        {
            **({"start": e.interval.start, "end": e.interval.end} if e.interval is not None else {}),
            "source": e.source,
            "text": e.text,
        }
        for e in evidence
    ]
