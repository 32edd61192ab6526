"""Memories written by hand, in the words of different describers."""

from itertools import pairwise

from evoharness.records.interval import Interval
from evoharness.records.memory import (
    Entity,
    EntityKind,
    Event,
    Relation,
    RelationKind,
    Segment,
    SuperEvent,
    VideoMemory,
    VisibleText,
)


def span(start: float, end: float) -> Interval:
    return Interval(start=start, end=end)


class Scribe:
    """Writes segments with running ids."""

    def __init__(self, duration: float, borders: tuple[float, ...]) -> None:
        self.duration = duration
        edges = (0.0, *borders, duration)
        self.segments = [
            Segment(id=f"s{n:04d}", interval=span(a, b), summary=f"Part {n + 1} of the recording.")
            for n, (a, b) in enumerate(pairwise(edges))
        ]

    def _at(self, time: float) -> int:
        return next(n for n, s in enumerate(self.segments) if time <= s.interval.end)

    def _add(self, index: int, **fields: object) -> None:
        self.segments[index] = self.segments[index].model_copy(update=fields)

    def text(self, words: str, start: float, end: float, description: str = "") -> str:
        index = self._at(start)
        segment = self.segments[index]
        record = VisibleText(
            id=f"{segment.id}/t{len(segment.texts):04d}",
            text=words,
            interval=span(start, end),
            description=description,
        )
        self._add(index, texts=(*segment.texts, record))
        return record.id

    def event(
        self, subject: str, action: str, start: float, end: float, kind: str = "motion", about: str = ""
    ) -> str:
        index = self._at(start)
        segment = self.segments[index]
        record = Event(
            id=f"{segment.id}/e{len(segment.events):04d}",
            kind=kind,
            interval=span(start, end),
            subject=subject,
            object="",
            action=action,
            description=about or f"{subject} {action}".strip(),
        )
        self._add(index, events=(*segment.events, record))
        return record.id

    def thing(self, name: str, first_seen: float, *attributes: str, where: str = "") -> str:
        index = self._at(first_seen)
        segment = self.segments[index]
        record = Entity(
            id=f"{segment.id}/n{len(segment.entities):04d}",
            kind=EntityKind.OBJECT,
            name=name,
            attributes=attributes,
            first_seen=first_seen,
            spatial_hint=where,
        )
        self._add(index, entities=(*segment.entities, record))
        return record.id

    def relate(self, source: str, kind: RelationKind, target: str) -> None:
        index = (
            self._at(0) if False else next(n for n, s in enumerate(self.segments) if source.startswith(s.id))
        )
        relations = self.segments[index].relations
        self._add(index, relations=(*relations, Relation(source=source, target=target, kind=kind)))

    def memory(self, labels: tuple[str, ...] = ()) -> VideoMemory:
        supers = tuple(
            SuperEvent(
                id=f"v{n}", label=label, description="", segment_ids=(segment.id,), interval=segment.interval
            )
            for n, (label, segment) in enumerate(zip(labels, self.segments, strict=False))
        )
        return VideoMemory(
            video="0" * 16,
            duration=self.duration,
            root="A recording.",
            super_events=supers,
            segments=tuple(self.segments),
        )


def workshop() -> VideoMemory:
    """Four minutes of a workshop: cards, captions, labels, shapes that move, change colour and come back."""
    s = Scribe(240.0, (60.0, 120.0, 180.0))
    card = "a title card"
    s.text("Preparing the workbench", 2, 8, f"{card} at the top")
    s.text("Mixing the resin", 62, 70, f"{card} at the top")
    s.text("Pouring the mould", 122, 130, f"{card} at the top")
    s.text("Polishing the surface", 182, 190, f"{card} at the top")
    s.text("Wear safety glasses", 12, 30, "a caption at the bottom")
    s.text("Batch 17", 20, 21, "a small label at the top right")
    s.text("Batch 18", 96, 97, "a small label at the top left")
    s.text("Stir for two minutes", 74, 90, "a caption at the bottom")
    s.text("Keep the lid closed", 100, 114, "a caption at the bottom")
    s.text("Let it cure overnight", 134, 150, "a caption at the bottom")
    s.text("Do not touch", 158, 159, "a small label on the left")
    s.text("Use a soft cloth", 194, 212, "a caption at the bottom")
    s.text("Ready to ship", 222, 236, "a caption at the bottom")
    a = s.event("red circle", "enters from the left", 14, 16)
    s.event("blue square", "leaves to the right", 24, 26)
    s.event("green triangle", "turns yellow", 40, 41, "change")
    s.event("red circle", "moves from left to right", 66, 69)
    b = s.event("star", "spins around", 78, 80)
    s.event("blue square", "enters from the top", 86, 88)
    s.event("red circle", "moves from left to right", 102, 105)
    s.event("purple cross", "falls down", 110, 112)
    s.event("orange ring", "enters from the bottom", 126, 128)
    s.event("star", "spins around", 138, 140)
    s.event("red circle", "moves from left to right", 146, 149)
    s.event("white hexagon", "grows larger", 160, 162)
    s.event("star", "spins around", 198, 200)
    s.event("green triangle", "leaves to the left", 206, 208)
    s.event("blue square", "blinks twice", 226, 228)
    s.relate(a, RelationKind.CAUSES, a.replace("e0000", "e0001"))
    s.relate(b, RelationKind.CAUSES, b.replace("e0001", "e0002"))
    s.thing("red circle", 14, "red", "round", where="at the left")
    s.thing("blue square", 20, "blue", where="in the centre")
    s.thing("green triangle", 36, "green", where="at the bottom right")
    s.thing("star", 76, "grey", where="at the top")
    s.thing("purple cross", 108, "purple", where="at the top left")
    s.thing("orange ring", 126, "orange", where="at the bottom")
    s.thing("white hexagon", 156, "white", where="at the right")
    return s.memory(("Setting up the bench", "Preparing resin", "Casting the part", "Finishing and shipping"))
