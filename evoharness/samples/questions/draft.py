"""A question in the making, and the facts of a timeline that questions are made from."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evoharness.records.interval import Interval
from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.composer import TIMES
from evoharness.samples.timeline import Chapter, Happening, Text, Thing, Timeline
from evoharness.samples.vocabulary import PLACES, SHAPES

Demand = Literal["", "brief", "small", "window"]
"""What makes a question demanding: a moment of a second or less, small print, an answer beside the anchor."""

COUNTS = tuple(str(n) for n in TIMES)
TIMES_APART = 12.0
"""Seconds between two times that one question offers."""
SIDES = ("left", "right", "top", "bottom")


@dataclass(frozen=True)
class Draft:
    """A question with its answer and everything that may stand beside it."""

    kind: QuestionKind
    form: str
    fine_type: FineType
    wordings: tuple[str, ...]
    """Ways to ask, of which one is chosen."""
    answer: str
    others: tuple[str, ...]
    """Wrong answers to choose distractors from; what occurs more often is chosen more often."""
    interval: Interval
    support: tuple[str, ...]
    """Ids of the timeline from which the answer follows, the one it is about first."""
    demand: Demand = ""

    @property
    def reads(self) -> bool:
        """Whether text on the screen is needed to answer."""
        return any(identifier.startswith("text/") for identifier in self.support)


class Facts:
    """What questions want to know about a timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.things = sorted(timeline.things, key=lambda thing: thing.first)
        self.events = sorted(timeline.events, key=lambda event: event.interval.start)
        self._events_of: dict[str, list[Happening]] = defaultdict(list)
        for event in self.events:
            self._events_of[event.thing].append(event)
        self._by_id = {thing.id: thing for thing in timeline.things}
        self._names: dict[str, list[str]] = {}
        owners: dict[str, set[str]] = defaultdict(set)
        for thing in self.things:
            later = [e.after for e in self._events_of[thing.id] if e.kind == "turns" and e.after]
            colours = dict.fromkeys([thing.colour, *later])
            self._names[thing.id] = [f"{colour} {thing.shape}" for colour in colours]
            in_group = thing.together is not None and thing.role in ("group", "row")
            for name in self._names[thing.id]:
                owners[name].add(str(thing.together) if in_group else thing.id)
        self._owners = {name: len(units) for name, units in owners.items()}
        self._alone = [
            thing
            for thing in self.things
            if thing.role not in ("group", "row") and all(self._owners[n] == 1 for n in self._names[thing.id])
        ]
        self._alone_ids = {thing.id for thing in self._alone}
        cards = {text.id for text in timeline.texts if text.role == "step"}
        self.colours = sorted({thing.colour for thing in self.things})
        self.steps = [chapter for chapter in timeline.chapters if chapter.text in cards]

    def names(self, thing: Thing) -> list[str]:
        """What a thing could be called over time: one name for each colour that it has."""
        return self._names[thing.id]

    def owners(self, name: str) -> int:
        """How many things (a group or row counts once) are ever called so."""
        return self._owners.get(name, 0)

    def alone(self, thing: Thing) -> bool:
        """Whether each name of the thing means it and nothing else in the whole recording."""
        return thing.id in self._alone_ids

    def thing(self, identifier: str) -> Thing:
        """The thing of that id."""
        return self._by_id[identifier]

    def events_of(self, thing: Thing) -> list[Happening]:
        """What happens to a thing, in order."""
        return self._events_of[thing.id]

    def single(self, *roles: str) -> list[Thing]:
        """Things known by their name alone, in order of time; of the given roles, if any are given."""
        return [t for t in self._alone if not roles or t.role in roles]

    def texts(self, *roles: str) -> list[Text]:
        """Texts of those roles in order of time."""
        found = [t for t in self.timeline.texts if t.role in roles]
        return sorted(found, key=lambda t: t.interval.start)

    def step_text(self, chapter: Chapter) -> Text:
        """The text of a step's card."""
        return self.timeline.text(chapter.text)

    def chapter_of(self, time: float) -> Chapter | None:
        """The step in progress at `time`, once its card has gone."""
        for chapter in self.steps:
            if chapter.card.end <= time < chapter.interval.end:
                return chapter
        return None

    def other_names(self, *things: Thing) -> tuple[str, ...]:
        """Names of the other things that are known by their name alone, each as "the red star"."""
        taken = {name for thing in things for name in self.names(thing)}
        return tuple(
            dict.fromkeys(f"the {t.name}" for t in self.single() if t.name not in taken and t not in things)
        )

    def other_steps(self, *chapters: Chapter) -> tuple[str, ...]:
        """Sentences of all other steps."""
        return tuple(self.step_text(c).text for c in self.steps if c not in chapters)

    def other_times(self, time: float) -> tuple[str, ...]:
        """Times at which something else happens, as they are written."""
        starts = [e.interval.start for e in self.events]
        starts += [t.interval.start for t in self.texts("blink", "reading", "label")]
        return times_apart(time, starts)

    def like(self, thing: Thing, *others: Thing) -> tuple[str, ...]:
        """What might be taken for a look-alike of `thing`: its colour in another shape, or its shape in
        another colour. Not what `thing` or the `others` are called."""
        taken = {name for t in (thing, *others) for name in self.names(t)}
        near = [f"{thing.colour} {shape}" for shape in SHAPES] + [f"{c} {thing.shape}" for c in self.colours]
        return tuple(f"the {name}" for name in dict.fromkeys(near) if name not in taken)


def clock(seconds: float) -> str:
    """A time as one reads it on a player: "3:07" or "1:03:07"."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def place_of(x: float, y: float) -> str:
    """The name of the nearest of the nine places."""
    return min(PLACES, key=lambda name: abs(PLACES[name][0] - x) + abs(PLACES[name][1] - y))


def other_places(place: str) -> tuple[str, ...]:
    """The other eight."""
    return tuple(name for name in PLACES if name != place)


def without(values: Iterable[str], *taken: str) -> tuple[str, ...]:
    """The values, as often as they occur, but none of those taken."""
    return tuple(value for value in values if value not in taken)


def times_apart(time: float, starts: Iterable[float]) -> tuple[str, ...]:
    """Those of `starts` that lie clearly apart from `time` and from each other, as they are written.

    Thinned evenly, so that the right time is not given away by being the one that stands alone.
    """
    kept = [time]
    for start in sorted(starts, key=lambda s: abs(s - time)):
        if all(abs(start - other) >= TIMES_APART for other in kept):
            kept.append(start)
    return tuple(clock(start) for start in kept[1:])


def hull(intervals: Sequence[Interval]) -> Interval:
    """From the start of the first to the end of the last."""
    return Interval(start=min(i.start for i in intervals), end=max(i.end for i in intervals))
