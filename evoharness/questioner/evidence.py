"""The records behind a reference, told in English: what a Solver would read in memory about it."""

from evoharness.questioner import english
from evoharness.questioner.view import clause_of
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from evoharness.records.memory import Entity, Event, VideoMemory, VisibleText
from evoharness.records.question import Question


def supporting_records(question: Question, memory: VideoMemory) -> list[Event | Entity | VisibleText]:
    """The records that the question's reference was computed from, in order of time."""
    wanted = set(question.support)
    found: list[Event | Entity | VisibleText] = [
        record
        for segment in memory.segments
        for records in (segment.events, segment.entities, segment.texts)
        for record in records
        if record.id in wanted
    ]
    return sorted(found, key=lambda record: (when(record).start, record.id))


def when(record: Event | Entity | VisibleText) -> Interval:
    """The interval of a record; of an entity, the moment it is first seen."""
    if isinstance(record, Entity):
        return Interval(start=max(0.0, record.first_seen), end=max(0.0, record.first_seen))
    return record.interval


def told(record: Event | Entity | VisibleText) -> str:
    """One sentence about a record."""
    if isinstance(record, VisibleText):
        where = english.clean(record.description)
        return f'the text "{english.clean(record.text)}" is shown' + (f" ({where})" if where else "")
    description = english.clean(record.description)
    if isinstance(record, Event):
        clause = " ".join(part for part in clause_of(record) if part)
        if not clause or english.contains_words(description, clause):
            return description or clause
        return f"{clause} ({description})" if description else clause
    words = ", ".join(english.clean(a) for a in record.attributes if english.clean(a))
    place = english.clean(record.spatial_hint)
    name = english.noun_phrase(record.name)
    return f"{name} is seen" + (f" {place}" if place else "") + (f" ({words})" if words else "")


def supporting_evidence(question: Question, memory: VideoMemory) -> tuple[Evidence, ...]:
    """The supporting records as evidence, in order of time."""
    return tuple(
        Evidence(source="records", interval=when(record), text=told(record))
        for record in supporting_records(question, memory)
        if told(record)
    )
