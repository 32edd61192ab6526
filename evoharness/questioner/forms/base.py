"""What a question form is, what it drafts, and its tools: random choices, anchors, wrong options."""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evoharness.questioner import english
from evoharness.questioner.policy import DistractorMode
from evoharness.questioner.view import APART_S, EVENT, TEXT, Item, MemoryView
from evoharness.records.interval import Interval
from evoharness.records.question import FineType, QuestionKind

T = TypeVar("T")


@dataclass(frozen=True)
class Draft:
    """A question before it is written out: options are still apart from the reference."""

    text: str
    """The question."""
    answer: str
    """The reference, computed from records."""
    wrong: tuple[str, ...]
    """K − 1 options that the records show to be wrong."""
    interval: Interval
    """Tight stretch in which reference and anchor can be seen."""
    support: tuple[str, ...]
    """Ids of the records behind the reference and the anchor."""
    fine_type: FineType
    ordered: bool = False
    """Options have an order of their own (numbers, times) and are not shuffled."""
    options: tuple[str, ...] = ()
    """All options in that order, when `ordered`."""
    about: tuple[str, ...] = ()
    """What the question turns on; two drafts of a form about the same are near-duplicates."""


@dataclass(frozen=True)
class Candidate:
    """A value that may serve as a wrong option, and where it is true."""

    text: str
    intervals: tuple[Interval, ...]
    segments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Anchor:
    """An item by which a moment is named, in the shapes a question needs."""

    during: str
    """`while the text "X" is on screen`."""
    appears: str
    """`the text "X" appears`: what may follow `after` or `before`."""
    interval: Interval
    """Where it, and what it is named by, can be seen."""
    moment: Interval
    """When the item itself is there."""
    ids: tuple[str, ...]
    names: tuple[str, ...]
    """Names that stand in the phrase; they may not be options."""


FAVOUR = 8.0
"""How much more often something fleeting or small comes first when `policy.brief` is 1."""


@dataclass
class Craft:
    """The choices a form may make, all from one seeded generator and the policy."""

    rng: random.Random
    options: int
    """K."""
    mode: DistractorMode
    relate: float
    brief: float

    def pick(self, choices: Sequence[T]) -> T:
        """One of several, at random."""
        return choices[self.rng.randrange(len(choices))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """All of them in random order."""
        found = list(items)
        self.rng.shuffle(found)
        return found

    def brief_first(self, items: Iterable[Item]) -> list[Item]:
        """Random order; fleeting items and small labels come early more often, by `policy.brief`."""

        def rank(item: Item) -> float:
            small = "label" in item.description or "small" in item.description
            weight = 1.0 + FAVOUR * self.brief * (item.fleeting + small)
            return -float(self.rng.random() ** (1.0 / weight))

        return [item for _, item in sorted(((rank(i), i) for i in items), key=lambda pair: pair[0])]

    def wrong(
        self,
        answer: str,
        candidates: Iterable[Candidate],
        around: Interval,
        segments: Sequence[str] = (),
        barred: Sequence[str] = (),
        close: Callable[[str, str], bool] = english.confusable,
    ) -> tuple[str, ...] | None:
        """K − 1 wrong options by the policy's distractor mode; None when there are too few.

        `barred` are wordings that stand in the question. Candidates must already be known to be untrue.
        `close` tells which two values are too alike to be told apart.
        """
        taken: list[str] = []
        for candidate in self._by_mode(list(candidates), around, frozenset(segments)):
            text = candidate.text
            if any(close(text, other) for other in (answer, *taken, *barred)):
                continue
            taken.append(text)
            if len(taken) == self.options - 1:
                return tuple(taken)
        return None

    def _by_mode(
        self, candidates: list[Candidate], around: Interval, segments: frozenset[str]
    ) -> list[Candidate]:
        self.rng.shuffle(candidates)

        def away(candidate: Candidate) -> float:
            return min((distance(i, around) for i in candidate.intervals), default=math.inf)

        if self.mode is DistractorMode.FAR:
            ranked = sorted(candidates, key=away, reverse=True)
            half = (len(ranked) + 1) // 2
            return self.shuffled(ranked[:half]) + self.shuffled(ranked[half:])
        if self.mode is DistractorMode.SAME_SEGMENT:
            return sorted(candidates, key=lambda c: (0, 0.0) if segments & set(c.segments) else (1, away(c)))
        return sorted(candidates, key=away)

    def anchor(self, view: MemoryView, item: Item, barred: Sequence[str] = ()) -> Anchor:
        """How to name the moment of an unambiguous item: described, or related to another (the cue style).

        The names in `barred`, such as the answer, are not used for relating it.
        """
        if self.relate and self.rng.random() < self.relate:
            related = _related(view, item, self)
            if related is not None and not set(barred) & set(related.names):
                return related
        return described(item, self)


def distance(a: Interval, b: Interval) -> float:
    """Seconds between two intervals; 0 when they share an instant."""
    return max(0.0, a.start - b.end, b.start - a.end)


def hull(intervals: Iterable[Interval]) -> Interval:
    """The smallest interval that holds them all."""
    found = list(intervals)
    return Interval(start=min(i.start for i in found), end=max(i.end for i in found))


def opening(interval: Interval, seconds: float = 4.0) -> Interval:
    """The first seconds of an interval: enough to see that something has begun."""
    return Interval(start=interval.start, end=min(interval.end, interval.start + seconds))


def quoted(name: str) -> str:
    """A text in double quotes."""
    return f'"{name}"'


def described(item: Item, craft: Craft) -> Anchor:
    """The anchor in its own words."""
    if item.kind == TEXT:
        name = quoted(item.name)
        during = craft.pick((f"while the text {name} is on screen", f"while {name} is shown"))
        appears = craft.pick((f"the text {name} appears", f"{name} comes on screen"))
    else:
        during, appears = f"while {item.name}", item.name
    return Anchor(
        during=during,
        appears=appears,
        interval=item.interval,
        moment=item.interval,
        ids=item.ids,
        names=(item.name,),
    )


def _related(view: MemoryView, item: Item, craft: Craft) -> Anchor | None:
    """The anchor by its relation to another observation: the next text, or event, after a unique text.

    None when no unique text starts shortly before with nothing of the item's type in between.
    """
    peers = view.texts if item.kind == TEXT else view.events
    starts = [(interval.start, peer) for peer in peers for interval in peer.intervals]
    for cue in craft.shuffled(view.anchors):
        if cue.kind != TEXT or cue is item or not APART_S <= item.start - cue.start <= 30.0:
            continue
        near = [p for t, p in starts if cue.start - 1.0 < t < item.start + APART_S and p is not cue]
        if len(near) != 1 or near[0] is not item:
            continue
        name = quoted(cue.name)
        if item.kind == TEXT:
            noun = f"the text that is the first to appear after {name}"
            during, appears = f"while {noun} is on screen", f"{noun} appears"
        else:
            noun = f"the first event after {name} comes on screen"
            during, appears = f"during {noun}", noun
        return Anchor(
            during=during,
            appears=appears,
            interval=Interval(start=cue.start, end=item.interval.end),
            moment=item.interval,
            ids=(*cue.ids, *item.ids),
            names=(item.name, cue.name),
        )
    return None


def candidates(
    items: Iterable[Item], value: Callable[[Item], str] = lambda item: item.name
) -> list[Candidate]:
    """Items as possible wrong options."""
    return [Candidate(value(item), item.intervals, item.segments) for item in items]


Maker = Callable[[MemoryView, Craft], Iterator[Draft]]


@dataclass(frozen=True)
class Form:
    """A way to make questions of one kind: `make` drafts what the memory supports, in random order."""

    name: str
    kind: QuestionKind
    make: Maker


__all__ = [
    "EVENT",
    "TEXT",
    "Anchor",
    "Candidate",
    "Craft",
    "Draft",
    "Form",
    "candidates",
    "described",
    "distance",
    "hull",
    "opening",
    "quoted",
]
