"""Recording one segment: events, entities, texts, relations and a summary, out of a scene."""

from collections.abc import Sequence

from evoharness.models.embedded.describing import Scene
from evoharness.models.embedded.describing_things import thing_subject
from evoharness.models.embedded.places import place, size_word
from evoharness.models.embedded.remarks import Remark
from evoharness.models.embedded.tracking import TextTrack, ThingTrack
from evoharness.models.perception_tasks import (
    DescribedEntity,
    DescribedEvent,
    DescribedRelation,
    DescribedText,
    SegmentDescription,
)
from evoharness.records.interval import Interval
from evoharness.records.memory import EntityKind, RelationKind

EVENT_KINDS = {
    "appearance": "appearance",
    "departure": "departure",
    "motion": "motion",
    "change": "change",
    "contact": "contact",
    "text": "text",
    "count": "count",
    "repetition": "repetition",
}
"""Kinds of remarks that are events, and what they are called as events."""
MOST_EVENTS, MOST_ENTITIES, MOST_TEXTS, MOST_RELATIONS = 120, 40, 60, 120
SUMMARY_CHARACTERS = 900


def describe_segment(scene: Scene, span: Interval, transcript: str = "") -> SegmentDescription:
    """The local graph of a segment, out of what its frames show."""
    entities, of_subject = _entities(scene, span)
    kept = sorted(
        (remark for remark in scene.remarks if remark.kind in EVENT_KINDS),
        key=lambda remark: (-remark.weight, remark.start),
    )[:MOST_EVENTS]
    remarks = sorted(kept, key=lambda remark: (remark.start, remark.end, remark.text))
    events = tuple(_event(remark, span) for remark in remarks)
    texts = _texts(scene, span)
    relations = _relations(remarks, texts, scene, of_subject)
    return SegmentDescription(
        summary=_summary(scene, remarks, entities, transcript),
        events=events,
        entities=tuple(entities),
        texts=tuple(texts),
        relations=tuple(relations[:MOST_RELATIONS]),
    )


def _within(time: float, span: Interval) -> float:
    return min(span.end, max(span.start, time))


def _event(remark: Remark, span: Interval) -> DescribedEvent:
    return DescribedEvent(
        kind=EVENT_KINDS[remark.kind],
        start=_within(remark.start, span),
        end=_within(remark.end, span),
        subject=remark.subject,
        object=remark.object,
        action=remark.action,
        description=remark.text,
    )


def _entities(scene: Scene, span: Interval) -> tuple[list[DescribedEntity], dict[str, int]]:
    """One entity for each name, the most lasting ones; and the entity that each subject stands for."""
    groups: dict[str, list[ThingTrack]] = {}
    for track in scene.things:
        groups.setdefault(thing_subject(track), []).append(track)
    lasting = sorted(groups, key=lambda name: (-sum(len(track.frames) for track in groups[name]), name))
    chosen = sorted(lasting[:MOST_ENTITIES], key=lambda name: (groups[name][0].frames[0], name))
    entities: list[DescribedEntity] = []
    of_subject: dict[str, int] = {}
    for name in chosen:
        track = groups[name][0]
        size = size_word(track.things[len(track.things) // 2].area).strip()
        places = list(dict.fromkeys(place(thing.box) for each in groups[name] for thing in each.things))
        attributes = tuple(word for word in (track.colour, track.shape, size) if word)
        times = f", {len(groups[name])} times" if len(groups[name]) > 1 else ""
        of_subject[name] = len(entities)
        entities.append(
            DescribedEntity(
                kind=EntityKind.OBJECT,
                name=name,
                attributes=attributes,
                description=f"{_sized(size, name)} seen {', then '.join(places[:3])}{times}",
                first_seen=_within(scene.timeline.start(track.frames[0]), span),
                spatial_hint=places[0],
            )
        )
    return entities, of_subject


def _sized(size: str, name: str) -> str:
    words = f"{size} {name}".strip()
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _texts(scene: Scene, span: Interval) -> list[DescribedText]:
    remarks = {(remark.start, remark.subject): remark for remark in scene.remarks if remark.kind == "text"}
    read = [track for track in scene.texts if track.text]
    tracks = sorted(read, key=lambda track: (-len(track.frames), track.frames[0], track.text))
    texts = []
    for track in sorted(tracks[:MOST_TEXTS], key=lambda track: (track.frames[0], track.box)):
        start, end = scene.timeline.start(track.frames[0]), scene.timeline.end(track.frames[-1])
        shown = next(
            (
                remark.text
                for (begin, subject), remark in remarks.items()
                if abs(begin - start) < 0.02 and track.text.replace('"', "'") in subject
            ),
            "",
        )
        texts.append(
            DescribedText(
                text=track.text, start=_within(start, span), end=_within(end, span), description=shown
            )
        )
    return texts


def _relations(
    remarks: Sequence[Remark], texts: Sequence[DescribedText], scene: Scene, of_subject: dict[str, int]
) -> list[DescribedRelation]:
    relations = []
    for index, remark in enumerate(remarks):
        if remark.subject in of_subject:
            relations.append(
                _edge(f"entity:{of_subject[remark.subject]}", f"event:{index}", RelationKind.PERFORMS)
            )
    for index, text in enumerate(texts):
        for remark in remarks:
            if remark.kind == "text" and remark.text == text.description and remark.object in of_subject:
                target = f"entity:{of_subject[remark.object]}"
                relations.append(_edge(f"text:{index}", target, RelationKind.ANNOTATES, text.description))
                break
    told = set()
    for remark in scene.remarks:
        pair = (remark.subject, remark.object)
        if remark.kind != "relation" or pair in told or not set(pair) <= set(of_subject):
            continue
        told.add(pair)
        kind = RelationKind.NEXT_TO
        source, target = f"entity:{of_subject[remark.subject]}", f"entity:{of_subject[remark.object]}"
        relations.append(_edge(source, target, kind, remark.text))
    return relations


def _edge(source: str, target: str, kind: RelationKind, description: str = "") -> DescribedRelation:
    return DescribedRelation(source=source, target=target, kind=kind, description=description)


def _summary(
    scene: Scene, remarks: Sequence[Remark], entities: Sequence[DescribedEntity], transcript: str
) -> str:
    """The texts in order, what is there, and the weightiest happenings, in that order of importance."""
    parts = []
    shown = list(dict.fromkeys(track.text for track in _prominent(scene)))
    if shown:
        parts.append("The text reads " + ", then ".join(f'"{text}"' for text in shown[:6]) + ".")
    if entities:
        parts.append("Visible: " + ", ".join(entity.name for entity in entities[:8]) + ".")
    happenings = [
        remark
        for remark in remarks
        if remark.kind in ("change", "contact", "motion", "appearance", "departure")
    ]
    best = sorted(happenings, key=lambda remark: (-remark.weight, remark.start))[:8]
    for remark in sorted(best, key=lambda remark: remark.start):
        parts.append(remark.text[0].upper() + remark.text[1:] + ".")
    if not parts:
        colours = "; ".join(dict.fromkeys(remark.text for remark in scene.remarks))[:200]
        parts.append(colours or "Nothing that can be named is visible.")
    if transcript.strip():
        parts.append("It is said: " + " ".join(transcript.split())[:200])
    return " ".join(parts)[:SUMMARY_CHARACTERS]


def _prominent(scene: Scene) -> list[TextTrack]:
    """The most visible texts, in order of time."""
    ranked = sorted(
        (track for track in scene.texts if track.text),
        key=lambda track: (-(track.box[3] - track.box[1]) * min(6, len(track.frames)), track.frames[0]),
    )
    return sorted(ranked[:6], key=lambda track: (track.frames[0], track.box))
