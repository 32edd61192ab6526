"""Tasks that look, on the wire: times count from the start of the clip that is shown.

The records of a segment are not clamped here: the memory checks them and counts what it mends.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evoharness.models.exchanges.exchange import Exchange
from evoharness.models.perception_tasks import (
    DescribedEntity,
    DescribedEvent,
    DescribedRelation,
    DescribedText,
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
from evoharness.models.task import Task
from evoharness.models.wire import Clock, Schema, Wire, WireSpan, WireText, parsed, said, schema_of, times_of
from evoharness.records.interval import Interval
from evoharness.records.memory import EntityKind, RelationKind


class WireObservation(WireSpan):
    """What is seen during a stretch of the clip."""

    text: str
    found: bool


class WireInspection(Wire):
    """The answer to InspectFrames."""

    observations: tuple[WireObservation, ...]
    candidates: tuple[WireSpan, ...]


class WireLocation(Wire):
    """The answer to LocalizeEvent; without `found` the window says nothing."""

    timeline: tuple[WireObservation, ...]
    found: bool
    window: WireSpan


class WireEvent(WireSpan):
    """An event of a segment."""

    kind: str
    subject: str
    action: str
    object: str
    description: str


class WireEntity(Wire):
    """An entity of a segment."""

    kind: EntityKind
    name: str
    attributes: tuple[str, ...]
    description: str
    first_seen: float
    spatial_hint: str


class WireVisibleText(WireSpan):
    """A text that is shown in a segment."""

    text: str
    description: str


class WireRelation(Wire):
    """An edge between two records, named by their kind and place in the answer: `entity:0`."""

    source: str
    target: str
    kind: RelationKind
    description: str


class WireSegment(Wire):
    """The answer to DescribeSegment."""

    events: tuple[WireEvent, ...]
    entities: tuple[WireEntity, ...]
    texts: tuple[WireVisibleText, ...]
    relations: tuple[WireRelation, ...]
    summary: str


class ReadEntity(WireEntity):
    """The same, of any kind."""

    kind: str  # type: ignore[assignment]


class ReadRelation(WireRelation):
    """The same, of any kind."""

    kind: str  # type: ignore[assignment]


class ReadSegment(WireSegment):
    """An answer to DescribeSegment with kinds that nobody asked for: whoever keeps the records sees to it."""

    entities: tuple[ReadEntity, ...]
    relations: tuple[ReadRelation, ...]


class WireLine(WireSpan):
    """Words that are said."""

    text: str


class WireTranscription(Wire):
    """The answer to Transcribe."""

    lines: tuple[WireLine, ...]


def clip(span: Interval) -> dict[str, float]:
    """Where the clip lies in its video, and how long it is."""
    return {"starts_at": span.start, "length": span.duration}


def observed(observations: Sequence[WireObservation], clock: Clock) -> tuple[Observation, ...]:
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


def _locate_sections(task: LocalizeEvent) -> Mapping[str, Any]:
    return {"clip": clip(task.span), "query": task.query}


def _locate_schema(_: LocalizeEvent) -> Schema:
    return schema_of(WireLocation)


def _read_location(task: LocalizeEvent, answer: Mapping[str, Any]) -> LocalizedEvent:
    located = parsed(WireLocation, answer)
    windows = [located.window] if located.found else []
    clock = Clock(task.span, times_of([*located.timeline, *windows]))
    return LocalizedEvent(
        timeline=observed(located.timeline, clock),
        window=clock.interval(located.window) if located.found else None,
    )


def _frame_sections(task: DescribeFrame) -> Mapping[str, Any]:
    region = [round(side, 3) for side in task.frame.box] if task.frame.box is not None else []
    return {"region": region, "prompt": task.prompt}


def _frame_schema(_: DescribeFrame) -> Schema:
    return schema_of(WireText)


def _read_frame(_: DescribeFrame, answer: Mapping[str, Any]) -> FrameDescription:
    return FrameDescription(text=said(parsed(WireText, answer).text, "text"))


def _segment_sections(task: DescribeSegment) -> Mapping[str, Any]:
    return {"clip": clip(task.span), "transcript": task.transcript}


def _segment_facts(task: DescribeSegment) -> Mapping[str, Any]:
    return {
        "entity_kinds": tuple(EntityKind),
        "relation_kinds": tuple(RelationKind),
        "lasting": any(frame.until is not None for frame in task.frames),
    }


def _segment_schema(_: DescribeSegment) -> Schema:
    return schema_of(WireSegment)


def _readable_segment(_: DescribeSegment) -> Schema:
    return schema_of(ReadSegment)


def _read_segment(task: DescribeSegment, answer: Mapping[str, Any]) -> SegmentDescription:
    told = parsed(ReadSegment, answer)
    seen = [entity.first_seen for entity in told.entities]
    clock = Clock(task.span, [*times_of([*told.events, *told.texts]), *seen])
    return SegmentDescription(
        summary=told.summary,
        events=tuple(
            DescribedEvent(
                kind=event.kind,
                start=clock.raw(event.start),
                end=clock.raw(event.end),
                subject=event.subject,
                object=event.object,
                action=event.action,
                description=event.description,
            )
            for event in told.events
        ),
        entities=tuple(
            DescribedEntity(**{**entity.model_dump(), "first_seen": clock.raw(entity.first_seen)})
            for entity in told.entities
        ),
        texts=tuple(
            DescribedText(
                text=text.text,
                start=clock.raw(text.start),
                end=clock.raw(text.end),
                description=text.description,
            )
            for text in told.texts
        ),
        relations=tuple(DescribedRelation(**relation.model_dump()) for relation in told.relations),
    )


def _speech_sections(task: Transcribe) -> Mapping[str, Any]:
    return {"clip": clip(task.span), "language": task.language, "words": list(task.words)}


def _speech_schema(_: Transcribe) -> Schema:
    return schema_of(WireTranscription)


def _read_speech(task: Transcribe, answer: Mapping[str, Any]) -> Transcription:
    heard = parsed(WireTranscription, answer).lines
    clock = Clock(task.span, times_of(heard))
    lines = [
        SpokenLine(interval=clock.interval(line), text=line.text.strip())
        for line in heard
        if line.text.strip()
    ]
    return Transcription(lines=tuple(sorted(lines, key=lambda line: line.interval.start)))


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    InspectFrames: Exchange(_inspect_sections, _inspect_schema, _read_inspection),
    LocalizeEvent: Exchange(_locate_sections, _locate_schema, _read_location),
    DescribeFrame: Exchange(_frame_sections, _frame_schema, _read_frame),
    DescribeSegment: Exchange(
        _segment_sections, _segment_schema, _read_segment, _segment_facts, _readable_segment
    ),
    Transcribe: Exchange(_speech_sections, _speech_schema, _read_speech),
}
