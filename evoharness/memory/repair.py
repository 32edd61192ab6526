"""From what a describer said to records that hold together; whatever is lost on the way is counted.

Ids become global, times lie inside the segment, relations join records that exist, and the summary says
something. A describer that counted from the start of its segment, instead of from the start of the video,
is understood as a whole or not at all: single times are never guessed at.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from evoharness.models.perception_tasks import SegmentDescription
from evoharness.records.interval import Interval
from evoharness.records.memory import Entity, Event, Relation, RelationKind, Segment, VisibleText

CLIPPED_S = 0.5
"""A time that lies further outside its segment counts as clipped."""
Item = TypeVar("Item")

MOST_RECORDS = 1000
"""The most records of one kind in a segment."""
LONGEST_FIELD = 2000
"""The most characters of one field."""


def repair(
    described: SegmentDescription, segment_id: str, span: Interval, transcript: str = ""
) -> tuple[Segment, Counter[str]]:
    """The segment that a description comes to, and how often each kind of repair or loss happened."""
    losses: Counter[str] = Counter()
    shift = _shift(described, span, losses)
    ids: dict[str, str] = {}
    events = _events(described, segment_id, span, shift, ids, losses)
    entities = _entities(described, segment_id, span, shift, ids, losses)
    texts = _texts(described, segment_id, span, shift, ids, losses)
    summary = _clean(described.summary, 4 * LONGEST_FIELD)
    if not summary:
        losses["summary missing"] += 1
        summary = summary_of(events, entities, texts)
    segment = Segment(
        id=segment_id,
        interval=span,
        summary=summary,
        transcript=transcript,
        events=tuple(events),
        entities=tuple(entities),
        texts=tuple(texts),
        relations=tuple(_relations(described, ids, losses)),
    )
    return segment, losses


def failed_segment(segment_id: str, span: Interval, reason: str, transcript: str = "") -> Segment:
    """A segment whose description failed for good."""
    summary = f"No description: {_clean(reason) or 'the describer failed'}"
    return Segment(id=segment_id, interval=span, summary=summary, transcript=transcript, status="failed")


def summary_of(events: Sequence[Event], entities: Sequence[Entity], texts: Sequence[VisibleText]) -> str:
    """A summary made of the records, for a segment whose describer gave none; never empty."""
    parts = [event.description for event in events[:6]]
    if entities:
        parts.append("Seen: " + ", ".join(dict.fromkeys(entity.name for entity in entities[:8])))
    if texts:
        parts.append("Text: " + ", ".join(dict.fromkeys(text.text for text in texts[:8])))
    return ". ".join(part.rstrip(".") for part in parts) + "." if parts else "Nothing is recorded here."


def _shift(described: SegmentDescription, span: Interval, losses: Counter[str]) -> float:
    """Seconds to add to every time: the start of the segment when all times are relative to it, else 0."""
    times = [time for event in described.events for time in (event.start, event.end)]
    times += [time for text in described.texts for time in (text.start, text.end)]
    times += [entity.first_seen for entity in described.entities]
    known = [time for time in times if math.isfinite(time)]
    if known and max(known) < span.start and min(known) >= 0 and max(known) <= span.duration + CLIPPED_S:
        losses["times were relative to the segment"] += 1
        return span.start
    return 0.0


def _events(
    described: SegmentDescription,
    segment_id: str,
    span: Interval,
    shift: float,
    ids: dict[str, str],
    losses: Counter[str],
) -> list[Event]:
    events: list[Event] = []
    for number, event in _bounded(described.events, losses):
        interval = _interval(event.start + shift, event.end + shift, span, losses)
        told = [_clean(part) for part in (event.subject, event.action, event.object)]
        description = _clean(event.description) or " ".join(part for part in told if part)
        if interval is None or not description:
            losses["event dropped"] += 1
            continue
        ids[f"event:{number}"] = node_id = f"{segment_id}/e{len(events):04d}"
        events.append(
            Event(
                id=node_id,
                kind=_clean(event.kind),
                interval=interval,
                subject=told[0],
                action=told[1],
                object=told[2],
                description=description,
            )
        )
    return events


def _entities(
    described: SegmentDescription,
    segment_id: str,
    span: Interval,
    shift: float,
    ids: dict[str, str],
    losses: Counter[str],
) -> list[Entity]:
    entities: list[Entity] = []
    for number, entity in _bounded(described.entities, losses):
        name = _clean(entity.name)
        seen = entity.first_seen + shift
        if not name:
            losses["entity dropped"] += 1
            continue
        if not math.isfinite(seen):
            losses["time unreadable"] += 1
            seen = span.start
        ids[f"entity:{number}"] = node_id = f"{segment_id}/n{len(entities):04d}"
        entities.append(
            Entity(
                id=node_id,
                kind=entity.kind,
                name=name,
                attributes=tuple(word for word in map(_clean, entity.attributes[:50]) if word),
                description=_clean(entity.description),
                first_seen=_clipped(seen, span, losses),
                spatial_hint=_clean(entity.spatial_hint),
            )
        )
    return entities


def _texts(
    described: SegmentDescription,
    segment_id: str,
    span: Interval,
    shift: float,
    ids: dict[str, str],
    losses: Counter[str],
) -> list[VisibleText]:
    texts: list[VisibleText] = []
    for number, text in _bounded(described.texts, losses):
        interval = _interval(text.start + shift, text.end + shift, span, losses)
        words = _clean(text.text)
        if interval is None or not words:
            losses["text dropped"] += 1
            continue
        ids[f"text:{number}"] = node_id = f"{segment_id}/t{len(texts):04d}"
        texts.append(
            VisibleText(id=node_id, text=words, interval=interval, description=_clean(text.description))
        )
    return texts


def _relations(
    described: SegmentDescription, ids: dict[str, str], losses: Counter[str]
) -> Iterable[Relation]:
    seen: set[tuple[str, str, RelationKind]] = set()
    for _, relation in _bounded(described.relations, losses):
        source, target = (ids.get(end.strip().casefold()) for end in (relation.source, relation.target))
        if source is None or target is None:
            losses["relation to an unknown record"] += 1
        elif source == target or (source, target, relation.kind) in seen:
            losses["relation without content"] += 1
        else:
            seen.add((source, target, relation.kind))
            yield Relation(
                source=source, target=target, kind=relation.kind, description=_clean(relation.description)
            )


def _interval(start: float, end: float, span: Interval, losses: Counter[str]) -> Interval | None:
    """The stretch inside the segment; None when it is unreadable or lies wholly outside."""
    if not (math.isfinite(start) and math.isfinite(end)):
        losses["time unreadable"] += 1
        return None
    if end < start:
        losses["time reversed"] += 1
        start, end = end, start
    if end < span.start - CLIPPED_S or start > span.end + CLIPPED_S:
        losses["time outside its segment"] += 1
        return None
    return Interval(start=_clipped(start, span, losses), end=_clipped(end, span, losses))


def _clipped(time: float, span: Interval, losses: Counter[str]) -> float:
    inside = min(max(time, span.start), span.end)
    if abs(inside - time) > CLIPPED_S:
        losses["time clipped"] += 1
    return inside


def _bounded(items: Sequence[Item], losses: Counter[str]) -> Iterable[tuple[int, Item]]:
    if len(items) > MOST_RECORDS:
        losses["records beyond the limit"] += len(items) - MOST_RECORDS
    return enumerate(items[:MOST_RECORDS])


def _clean(text: str, longest: int = LONGEST_FIELD) -> str:
    """One line of valid text without control characters, cut to a length."""
    valid = text[: 2 * longest].encode("utf-8", "replace").decode()
    visible = "".join(letter if letter.isprintable() else " " for letter in valid)
    return " ".join(visible.split())[:longest].rstrip()
