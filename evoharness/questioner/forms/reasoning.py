"""Causes and topics."""

from collections.abc import Iterator

from evoharness.questioner import english
from evoharness.questioner.forms.base import Candidate, Craft, Draft, candidates, hull
from evoharness.questioner.view import Item, MemoryView
from evoharness.records.interval import Interval, merged
from evoharness.records.memory import RelationKind
from evoharness.records.question import FineType


def _causes(view: MemoryView) -> list[tuple[Item, Item]]:
    events = {record: item for item in view.events for record in item.ids}
    return [
        (events[r.source], events[r.target])
        for segment in view.segments
        for r in segment.relations
        if r.kind is RelationKind.CAUSES
        and r.source in events
        and r.target in events
        and events[r.source] is not events[r.target]
    ]


def cause_of(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """What a recorded `causes` relation gives as the cause of an event."""
    pairs = _causes(view)
    for cause, effect in craft.shuffled(pairs):
        if view.ambiguous(effect):
            continue
        related = [a for a, b in pairs if b is effect] + [effect]
        others = [e for e in view.events if e not in related]
        wrong = craft.wrong(cause.name, candidates(others), effect.interval, effect.segments, (effect.name,))
        if wrong is not None:
            yield Draft(
                text=craft.pick(
                    (f"What is the reason that {effect.name}?", f"What brings it about that {effect.name}?")
                ),
                answer=cause.name,
                wrong=wrong,
                interval=hull((cause.interval, effect.interval)),
                support=(*cause.ids, *effect.ids),
                fine_type=FineType.CASE_SPECIFIC,
                about=(cause.name, effect.name),
            )


def effect_of(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """What a recorded `causes` relation gives as the consequence of an event."""
    pairs = _causes(view)
    for cause, effect in craft.shuffled(pairs):
        if view.ambiguous(cause):
            continue
        related = [b for a, b in pairs if a is cause] + [cause]
        others = [e for e in view.events if e not in related]
        wrong = craft.wrong(effect.name, candidates(others), cause.interval, cause.segments, (cause.name,))
        if wrong is not None:
            yield Draft(
                text=craft.pick(
                    (
                        f"What is the consequence when {cause.name}?",
                        f"What results from the fact that {cause.name}?",
                    )
                ),
                answer=effect.name,
                wrong=wrong,
                interval=hull((cause.interval, effect.interval)),
                support=(*cause.ids, *effect.ids),
                fine_type=FineType.CASE_SPECIFIC,
                about=(cause.name, effect.name),
            )


def topic_of_part(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The label of a super event, among the labels of the others."""
    parts = [s for s in view.memory.super_events if 3 <= len(english.clean(s.label)) <= 90]
    for part in craft.shuffled(parts):
        options = [
            Candidate(english.clean(p.label), (p.interval,), p.segment_ids)
            for p in parts
            if p is not part and not p.interval.overlaps(_inner(part.interval))
        ]
        label = english.clean(part.label)
        wrong = craft.wrong(label, options, part.interval, part.segment_ids)
        if wrong is not None:
            where = f"from {english.clock(part.interval.start)} to {english.clock(part.interval.end)}"
            yield Draft(
                text=craft.pick(
                    (
                        f"What is the part of the video {where} mainly about?",
                        f"Which of these is the main topic {where}?",
                    )
                ),
                answer=label,
                wrong=wrong,
                interval=part.interval,
                support=tuple(
                    record
                    for segment in view.segments
                    if segment.id in part.segment_ids
                    for record in (*(t.id for t in segment.texts), *(e.id for e in segment.events))
                ),
                fine_type=FineType.CASE_SPECIFIC,
                about=(part.id,),
            )


def _inner(interval: Interval) -> Interval:
    trim = min(0.1, interval.duration / 2)
    return Interval(start=interval.start + trim, end=interval.end - trim)


def main_subject(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The actor of at least three stretches of the video, twice as many as any of the other options has."""
    events: dict[str, list[Item]] = {}
    for event in view.events:
        if event.subject:
            events.setdefault(event.subject, []).append(event)
    stretches = {
        subject: merged([i for event in found for i in event.intervals], gap=5.0)
        for subject, found in events.items()
        if not english.SURROUNDINGS & set(english.tokens(subject))
    }
    for subject, own in craft.shuffled(stretches.items()):
        if len(own) < 3:
            continue
        options = [
            Candidate(s, tuple(i), events[s][0].segments)
            for s, i in stretches.items()
            if 2 * len(i) <= len(own) and len(events[s]) < len(events[subject])
        ]
        wrong = craft.wrong(subject, options, own[0], events[subject][0].segments)
        if wrong is not None:
            yield Draft(
                text=craft.pick(
                    (
                        "Which of these plays the largest part in what happens in the video?",
                        "To which of these do the most things happen in the course of the video?",
                    )
                ),
                answer=subject,
                wrong=wrong,
                interval=hull(own),
                support=tuple(r for s in (subject, *wrong) for e in events[s] for r in e.ids),
                fine_type=FineType.CASE_SPECIFIC,
                about=(subject,),
            )


_HEADINGS = frozenset({"title", "heading", "headline", "header", "chapter"})


def heading_over(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The heading under which something happens: the last title before it, where descriptions tell titles."""
    headings = [t for t in view.texts if _HEADINGS & set(english.tokens(t.description)) and t.once]
    if len(headings) < craft.options:
        return
    for item in craft.brief_first(a for a in view.anchors if a not in headings):
        before = [h for h in headings if h.start <= item.start - 1.0]
        if not before or any(0 <= h.start - item.start < 2.0 for h in headings):
            continue
        heading = before[-1]
        later = [h for h in headings if abs(h.start - heading.start) > 10.0]
        anchor = craft.anchor(view, item, barred=[h.name for h in headings])
        wrong = craft.wrong(
            heading.name,
            candidates(later),
            item.interval,
            item.segments,
            anchor.names,
        )
        if wrong is not None and item.start - heading.start <= 90:
            yield Draft(
                text=craft.pick(
                    (
                        f"Under which heading does the video stand when {anchor.appears}?",
                        f"Which topic has been announced last when {anchor.appears}?",
                    )
                ),
                answer=heading.name,
                wrong=wrong,
                interval=Interval(start=heading.start, end=anchor.interval.end),
                support=(*heading.ids, *anchor.ids),
                fine_type=FineType.CASE_SPECIFIC,
                about=(item.name, heading.name),
            )
