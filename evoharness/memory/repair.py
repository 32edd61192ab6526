"""From what a describer said to records that hold together; whatever is lost on the way is counted.

Ids become global, times lie inside the segment, relations join records that exist, and the summary says
something. A describer that counted from the start of its segment, instead of from the start of the video,
is understood as a whole or not at all: single times are never guessed at.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from evoharness.memory.kinds import entity_kind, relation_kind
from evoharness.models.perception_tasks import SegmentDescription
from evoharness.records.interval import Interval
from evoharness.records.memory import Entity, EntityKind, Event, Relation, RelationKind, Segment, VisibleText

CLIPPED_S = 0.5
"""A time that lies further outside its segment counts as clipped."""
Item = TypeVar("Item")

MOST_RECORDS = 1000
"""The most records of one kind in a segment."""
MOST_ATTRIBUTES = 50
"""The most attributes of an entity."""
LONGEST_FIELD = 2000
"""The most characters of one field."""
CUT = "text cut"
UNREADABLE = "letters unreadable"


def repair(
    described: SegmentDescription, segment_id: str, span: Interval, transcript: str = ""
) -> tuple[Segment, Counter[str]]:
    """The segment that a description comes to, and how often each kind of repair or loss happened."""
    work = _Repair(segment_id, span)
    work.shift = work.shift_of(described)
    events = work.events(described)
    entities = work.entities(described)
    texts = work.texts(described)
    summary = work.clean(described.summary, 4 * LONGEST_FIELD)
    if not summary:
        work.losses["summary missing"] += 1
        summary = summary_of(events, entities, texts)
    segment = Segment(
        id=segment_id,
        interval=span,
        summary=summary,
        transcript=transcript,
        events=tuple(events),
        entities=tuple(entities),
        texts=tuple(texts),
        relations=tuple(work.relations(described)),
    )
    return segment, +work.losses


def one_line(text: str, longest: int = LONGEST_FIELD) -> str:
    """The text as one line of valid letters, none of them a control character, cut to a length."""
    return _line(text, longest)[0]


def failed_segment(segment_id: str, span: Interval, reason: str, transcript: str = "") -> Segment:
    """A segment whose description failed for good."""
    summary = f"No description: {one_line(reason) or 'the describer failed'}"
    return Segment(id=segment_id, interval=span, summary=summary, transcript=transcript, status="failed")


def summary_of(events: Sequence[Event], entities: Sequence[Entity], texts: Sequence[VisibleText]) -> str:
    """A summary made of the records, for a segment whose describer gave none; never empty."""
    parts = [event.description for event in events[:6]]
    if entities:
        parts.append("Seen: " + ", ".join(dict.fromkeys(entity.name for entity in entities[:8])))
    if texts:
        parts.append("Text: " + ", ".join(dict.fromkeys(text.text for text in texts[:8])))
    return ". ".join(part.rstrip(".") for part in parts) + "." if parts else "Nothing is recorded here."


@dataclass
class _Repair:
    """The repair of one segment: what it knows, and what it has counted so far."""

    segment_id: str
    span: Interval
    losses: Counter[str] = field(default_factory=Counter)
    shift: float = 0.0
    """Seconds to add to every time."""
    ids: dict[str, str] = field(default_factory=dict)
    """What relations call a record (`event:3`) → its id."""

    def shift_of(self, described: SegmentDescription) -> float:
        """The start of the segment when all times are relative to it, else 0."""
        times = [time for event in described.events for time in (event.start, event.end)]
        times += [time for text in described.texts for time in (text.start, text.end)]
        times += [entity.first_seen for entity in described.entities]
        known = [time for time in times if math.isfinite(time)]
        span = self.span
        if known and max(known) < span.start and min(known) >= 0 and max(known) <= span.duration + CLIPPED_S:
            self.losses["times were relative to the segment"] += 1
            return span.start
        return 0.0

    def events(self, described: SegmentDescription) -> list[Event]:
        """Events that have a time and say something."""
        events: list[Event] = []
        for number, event in self.bounded(described.events):
            interval = self.interval(event.start, event.end)
            told = [self.clean(part) for part in (event.subject, event.action, event.object)]
            description = self.clean(event.description) or " ".join(part for part in told if part)
            if interval is None or not description:
                self.losses["event dropped"] += 1
                continue
            events.append(
                Event(
                    id=self.new_id(f"event:{number}", f"e{len(events):04d}"),
                    kind=self.clean(event.kind),
                    interval=interval,
                    subject=told[0],
                    action=told[1],
                    object=told[2],
                    description=description,
                )
            )
        return events

    def entities(self, described: SegmentDescription) -> list[Entity]:
        """Entities that have a name."""
        entities: list[Entity] = []
        for number, entity in self.bounded(described.entities):
            name = self.clean(entity.name)
            seen = entity.first_seen + self.shift
            if not name:
                self.losses["entity dropped"] += 1
                continue
            if not math.isfinite(seen):
                self.losses["time unreadable"] += 1
                seen = self.span.start
            kind = entity_kind(entity.kind)
            if kind is None:
                self.losses["entity of an unknown kind"] += 1
                kind = EntityKind.OBJECT
            attributes = entity.attributes[:MOST_ATTRIBUTES]
            self.losses["attribute dropped"] += len(entity.attributes) - len(attributes)
            entities.append(
                Entity(
                    id=self.new_id(f"entity:{number}", f"n{len(entities):04d}"),
                    kind=kind,
                    name=name,
                    attributes=tuple(word for word in map(self.clean, attributes) if word),
                    description=self.clean(entity.description),
                    first_seen=self.clipped(seen),
                    spatial_hint=self.clean(entity.spatial_hint),
                )
            )
        return entities

    def texts(self, described: SegmentDescription) -> list[VisibleText]:
        """Texts that have a time and words."""
        texts: list[VisibleText] = []
        for number, text in self.bounded(described.texts):
            interval = self.interval(text.start, text.end)
            words = self.clean(text.text)
            if interval is None or not words:
                self.losses["text dropped"] += 1
                continue
            texts.append(
                VisibleText(
                    id=self.new_id(f"text:{number}", f"t{len(texts):04d}"),
                    text=words,
                    interval=interval,
                    description=self.clean(text.description),
                )
            )
        return texts

    def relations(self, described: SegmentDescription) -> Iterator[Relation]:
        """Relations that join two kept records, each once."""
        seen: set[tuple[str, str, RelationKind]] = set()
        for _, relation in self.bounded(described.relations):
            source, target = (
                self.ids.get(end.strip().casefold()) for end in (relation.source, relation.target)
            )
            kind, turned = relation_kind(relation.kind)
            if turned:
                source, target = target, source
            if kind is None:
                self.losses["relation of an unknown kind"] += 1
            elif source is None or target is None:
                self.losses["relation to an unknown record"] += 1
            elif source == target or (source, target, kind) in seen:
                self.losses["relation without content"] += 1
            else:
                seen.add((source, target, kind))
                yield Relation(
                    source=source,
                    target=target,
                    kind=kind,
                    description=self.clean(relation.description),
                )

    def new_id(self, called: str, name: str) -> str:
        """The global id of a record that is kept."""
        self.ids[called] = node_id = f"{self.segment_id}/{name}"
        return node_id

    def interval(self, start: float, end: float) -> Interval | None:
        """The stretch inside the segment; None when it is unreadable or lies wholly outside."""
        start, end = start + self.shift, end + self.shift
        if not (math.isfinite(start) and math.isfinite(end)):
            self.losses["time unreadable"] += 1
            return None
        if end < start:
            self.losses["time reversed"] += 1
            start, end = end, start
        if end < self.span.start - CLIPPED_S or start > self.span.end + CLIPPED_S:
            self.losses["time outside its segment"] += 1
            return None
        return Interval(start=self.clipped(start), end=self.clipped(end))

    def clipped(self, time: float) -> float:
        """The nearest time inside the segment."""
        inside = min(max(time, self.span.start), self.span.end)
        if abs(inside - time) > CLIPPED_S:
            self.losses["time clipped"] += 1
        return inside

    def bounded(self, items: Sequence[Item]) -> Iterable[tuple[int, Item]]:
        """The first so many, numbered."""
        if len(items) > MOST_RECORDS:
            self.losses["records beyond the limit"] += len(items) - MOST_RECORDS
        return enumerate(items[:MOST_RECORDS])

    def clean(self, text: str, longest: int = LONGEST_FIELD) -> str:
        """One line of valid text without control characters, cut to a length; both are counted."""
        line, cut, unreadable = _line(text, longest)
        self.losses[CUT] += cut
        self.losses[UNREADABLE] += unreadable
        return line


def _line(text: str, longest: int) -> tuple[str, bool, bool]:
    """The text as one line, whether it had to be cut, and whether letters of it could not be read."""
    part = text[: 2 * longest]
    valid = part.encode("utf-8", "replace").decode()
    visible = "".join(letter if letter.isprintable() else " " for letter in valid)
    line = " ".join(visible.split())
    cut = len(line) > longest or len(text) > len(part)
    return line[:longest].rstrip(), cut, valid != part
