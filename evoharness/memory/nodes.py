"""A memory as a flat list of things that can be found."""

from collections.abc import Iterator
from typing import Literal

from evoharness.memory.transcripts import cues_of
from evoharness.records.base import Record
from evoharness.records.interval import Interval
from evoharness.records.memory import Entity, Event, Segment, VideoMemory, VisibleText
from evoharness.retrieval import words

NodeKind = Literal["segment", "event", "entity", "text", "transcript"]
RECORD_KINDS: tuple[NodeKind, ...] = ("event", "entity", "text")


class Node(Record):
    """One thing in a memory, in words and with its time."""

    id: str
    """Global node id; for a line of a transcript the id of its segment with a number."""
    kind: NodeKind
    segment: str
    """Id of the segment that it belongs to."""
    interval: Interval
    """When it is; an instant for an entity, which is known by the time it was first seen."""
    text: str
    """What it says."""


def record_nodes(memory: VideoMemory) -> Iterator[Node]:
    """Events, entities and visible texts of all described segments, segment by segment."""
    for segment in memory.segments:
        for record in records_of(segment):
            yield node_of(record, segment)


def records_of(segment: Segment) -> list[Event | Entity | VisibleText]:
    """Events, then entities, then visible texts of one segment."""
    return [*segment.events, *segment.entities, *segment.texts]


def node_of(record: Event | Entity | VisibleText, segment: Segment) -> Node:
    """One record as a node: `action: description`, `name: description` or the words of a text."""
    kind: NodeKind
    if isinstance(record, Event):
        kind, interval = "event", record.interval
        text = _told(record.action, record.description)
    elif isinstance(record, Entity):
        kind, interval = "entity", Interval(start=record.first_seen, end=record.first_seen)
        name = " ".join(dict.fromkeys((*record.attributes, record.name)))
        text = _told(record.name, record.description) if record.description else name
    else:
        kind, interval, text = "text", record.interval, record.text
    return Node(id=record.id, kind=kind, segment=segment.id, interval=interval, text=text)


def segment_node(segment: Segment) -> Node:
    """A whole segment as a node: its summary, then the names and texts in it."""
    names = dict.fromkeys(entity.name for entity in segment.entities[:20])
    texts = dict.fromkeys(text.text for text in segment.texts[:20])
    told = [segment.summary, ", ".join(names), ", ".join(texts)]
    text = "\n".join(part for part in told if part)
    return Node(id=segment.id, kind="segment", segment=segment.id, interval=segment.interval, text=text)


def transcript_nodes(memory: VideoMemory) -> Iterator[Node]:
    """Every line that is said."""
    for segment in memory.segments:
        for number, cue in enumerate(cues_of(segment.transcript)):
            yield Node(
                id=f"{segment.id}/c{number:04d}",
                kind="transcript",
                segment=segment.id,
                interval=Interval(start=cue.start, end=cue.end),
                text=cue.text,
            )


def _told(head: str, description: str) -> str:
    if set(words(head)) <= set(words(description)):
        return description
    return f"{head}: {description}" if description else head
