"""Tasks that look, on the wire: times count from the start of the clip that is shown."""

from collections.abc import Mapping
from typing import Any

from evoharness.models.exchanges.exchange import Exchange
from evoharness.models.perception_tasks import InspectedFrames, InspectFrames, Observation
from evoharness.models.task import Task
from evoharness.models.wire import Clock, Schema, Wire, WireSpan, parsed, schema_of, times_of
from evoharness.records.interval import Interval


class WireObservation(WireSpan):
    """What is seen during a stretch of the clip."""

    text: str
    found: bool


class WireInspection(Wire):
    """The answer to InspectFrames."""

    observations: tuple[WireObservation, ...]
    candidates: tuple[WireSpan, ...]


def clip(span: Interval) -> dict[str, float]:
    """Where the clip lies in its video, and how long it is."""
    return {"starts_at": span.start, "length": span.duration}


def observed(observations: tuple[WireObservation, ...], clock: Clock) -> tuple[Observation, ...]:
    """Those that say something, in order of time."""
    told = [
        Observation(interval=clock.interval(each), text=each.text.strip(), found=each.found)
        for each in observations
        if each.text.strip()
    ]
    return tuple(sorted(told, key=lambda each: (each.interval.start, each.interval.end)))


def _inspect_sections(task: InspectFrames) -> Mapping[str, Any]:
    return {"clip": clip(task.span), "prompt": task.prompt}


def _inspect_schema(_: InspectFrames) -> Schema:
    return schema_of(WireInspection)


def _read_inspection(task: InspectFrames, answer: Mapping[str, Any]) -> InspectedFrames:
    seen = parsed(WireInspection, answer)
    clock = Clock(task.span, times_of([*seen.observations, *seen.candidates]))
    return InspectedFrames(
        observations=observed(seen.observations, clock),
        candidates=tuple(clock.interval(each) for each in seen.candidates),
    )


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    InspectFrames: Exchange(_inspect_sections, _inspect_schema, _read_inspection),
}
