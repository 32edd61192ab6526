"""What comes next, before, first, last, and in which order."""

from collections.abc import Iterator
from itertools import permutations

from evoharness.questioner.forms.base import EVENT, TEXT, Craft, Draft, candidates, hull, opening
from evoharness.questioner.policy import DistractorMode
from evoharness.questioner.view import APART_S, Item, MemoryView
from evoharness.records.interval import Interval
from evoharness.records.question import FineType

ADJACENT_S = 45.0
"""How far the window next to an anchor reaches."""


def _starts(items: tuple[Item, ...]) -> list[tuple[Interval, Item]]:
    """Every occurrence with its item, in order of time."""
    return sorted(((i, item) for item in items for i in item.intervals), key=lambda pair: pair[0].start)


def _adjacent(view: MemoryView, craft: Craft, kind: str, after: bool) -> Iterator[Draft]:
    items = view.texts if kind == TEXT else view.events
    occurrences = _starts(items)
    for cue in craft.brief_first(view.anchors):
        if after:
            edge = cue.start if cue.kind == TEXT else cue.interval.end - 0.5
            window = [
                (i, o)
                for i, o in occurrences
                if o is not cue and i.start > edge and i.start >= cue.start + APART_S
            ]
        else:
            window = [(i, o) for i, o in occurrences if o is not cue and i.start <= cue.start - APART_S][::-1]
        if not window:
            continue
        span, item = window[0]
        if view.ambiguous(item) or abs(span.start - cue.start) > ADJACENT_S + cue.interval.duration:
            continue
        low, high = sorted((span.start, cue.start))
        barred_span = (low - APART_S, high + APART_S)
        anchor = craft.anchor(view, cue, barred=(item.name,))
        rivals = [
            other
            for other in items
            if other is not item
            and not any(barred_span[0] <= i.start <= barred_span[1] for i in other.intervals)
        ]
        wrong = craft.wrong(item.name, candidates(rivals), span, item.segments, anchor.names)
        if wrong is None:
            continue
        yield Draft(
            text=craft.pick(_phrases(kind, after)).format(anchor=anchor.appears),
            answer=item.name,
            wrong=wrong,
            interval=hull((_near_part(anchor.interval, span, after), opening(span))),
            support=(*anchor.ids, *item.ids),
            fine_type=FineType.TEMPORAL_AFTER if after else FineType.TEMPORAL_BEFORE,
            about=(cue.name, item.name),
        )


def _near_part(anchor: Interval, span: Interval, after: bool) -> Interval:
    """The anchor's start, and no more of a long anchor than the reference needs."""
    end = (
        min(anchor.end, max(span.start, anchor.start + 4.0)) if after else min(anchor.end, anchor.start + 4.0)
    )
    return Interval(start=anchor.start, end=end)


def _phrases(kind: str, after: bool) -> tuple[str, ...]:
    if kind == TEXT and after:
        return (
            "Which of these texts is the next to appear after {anchor}?",
            "After {anchor}, which of these texts comes on screen next?",
            "Which text follows next after {anchor}?",
        )
    if kind == TEXT:
        return (
            "Which of these texts is the last to appear before {anchor}?",
            "Right before {anchor}, which of these texts came on screen?",
            "Which text appeared last before {anchor}?",
        )
    if after:
        return (
            "What happens next after {anchor}?",
            "Which of these happens right after {anchor}?",
            "After {anchor}, what is the next thing to happen?",
        )
    return (
        "What happens right before {anchor}?",
        "Which of these begins last before {anchor}?",
        "What was the last thing to happen before {anchor}?",
    )


def next_text(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The next text to appear after a named moment."""
    return _adjacent(view, craft, TEXT, after=True)


def previous_text(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The last text to appear before a named moment."""
    return _adjacent(view, craft, TEXT, after=False)


def next_event(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The next event to begin after a named moment."""
    return _adjacent(view, craft, EVENT, after=True)


def previous_event(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The last event to begin before a named moment."""
    return _adjacent(view, craft, EVENT, after=False)


def earliest_or_latest(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """Which of several unambiguous texts, or events, comes first or last; 3 s lie between them."""
    for item in craft.brief_first(view.anchors):
        first = craft.pick((True, False))
        peers = [a for a in view.anchors if a.kind == item.kind and a is not item]
        rivals = [p for p in peers if (p.start - item.start if first else item.start - p.start) >= 3.0]
        wrong = craft.wrong(item.name, candidates(rivals), item.interval, item.segments)
        if wrong is None:
            continue
        chosen = [p for p in rivals if p.name in wrong]
        word, which = ("first", "earliest") if first else ("last", "latest")
        verb = "appears" if item.kind == TEXT else "happens"
        noun = "texts" if item.kind == TEXT else "events"
        yield Draft(
            text=craft.pick(
                (f"Which of these {verb} {word} in the video?", f"Of these {noun}, which one comes {which}?")
            ),
            answer=item.name,
            wrong=wrong,
            interval=hull(opening(i.interval) for i in (item, *chosen)),
            support=(*item.ids, *(record for p in chosen for record in p.ids)),
            fine_type=FineType.LONG_RANGE_TEMPORAL,
            about=(item.name, word),
        )


def order_of_three(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The order of three texts, or three events, whose starts lie 3 s or more apart."""
    for item in craft.shuffled(view.anchors):
        peers = [a for a in view.anchors if a.kind == item.kind and len(a.name) <= 50]
        later = [p for p in peers if p.start >= item.start + 3.0]
        if len(item.name) > 50 or len(later) < 2:
            continue
        reach = len(later) if craft.mode is DistractorMode.FAR else 4
        second = craft.pick(later[:reach])
        third_ones = [p for p in later if p.start >= second.start + 3.0]
        if not third_ones:
            continue
        third = craft.pick(third_ones[:reach])
        three = (item, second, third)
        orders = [
            "; then ".join(f'"{i.name}"' if i.kind == TEXT else i.name for i in o)
            for o in permutations(three)
        ]
        if craft.options > len(orders):
            return
        verb = "texts appear" if item.kind == TEXT else "things happen"
        yield Draft(
            text=craft.pick(
                (f"In which order do these {verb}?", f"What is the order in which these {verb}?")
            ),
            answer=orders[0],
            wrong=tuple(craft.rng.sample(orders[1:], craft.options - 1)),
            interval=hull(opening(i.interval) for i in three),
            support=tuple(record for i in three for record in i.ids),
            fine_type=FineType.LONG_RANGE_TEMPORAL,
            about=tuple(sorted(i.name for i in three)),
        )
