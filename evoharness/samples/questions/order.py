"""Questions about which thing comes first, next or last, and when."""

import itertools
from collections.abc import Iterator

from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.questions.draft import Draft, Facts, clock, hull
from evoharness.samples.timeline import Thing

APART = 2.5
"""Seconds between two appearances that a question asks to put in order."""
CLEARLY = 0.3
"""Seconds by which a thing must be the next or the last one."""


def order_drafts(facts: Facts) -> Iterator[Draft]:
    """All drafts of this module."""
    once = [t for t in facts.single() if len(t.shown) == 1]
    yield from _first_of(once)
    yield from _neighbours(facts, once)
    yield from _three(once)
    yield from _times(facts, once)
    yield from _stretches(facts)


def _first_of(once: list[Thing]) -> Iterator[Draft]:
    """Which of four comes first or last; the four are spread over a stretch of the recording."""
    for step in (2, 4, 7):
        for first in range(0, len(once) - 3 * step, 3 * step + 1):
            four = [once[first + i * step] for i in range(4)]
            if any(b.first - a.first < APART for a, b in itertools.pairwise(four)):
                continue
            names, ids = [f"the {t.name}" for t in four], tuple(t.id for t in four)
            interval = hull([t.shown[0] for t in four])
            brief = sum(t.brief for t in four) >= 2
            yield Draft(
                QuestionKind.TEMPORAL_ORDER,
                "first_of_four",
                FineType.LONG_RANGE_TEMPORAL,
                ("Which of these is seen first?", "Which of these things appears before the other three?"),
                names[0],
                tuple(names[1:]),
                interval,
                ids,
                "brief" if brief else "",
            )
            yield Draft(
                QuestionKind.TEMPORAL_ORDER,
                "last_of_four",
                FineType.LONG_RANGE_TEMPORAL,
                ("Which of these is seen last?", "Which of these things appears after the other three?"),
                names[3],
                tuple(names[:3]),
                interval,
                (ids[3], *ids[:3]),
                "brief" if brief else "",
            )


def _neighbours(facts: Facts, once: list[Thing]) -> Iterator[Draft]:
    """What appears next after a thing has gone, or was there last before it came."""
    showings = sorted(((s.start, s.end, t) for t in facts.things for s in t.shown), key=lambda s: s[:2])
    for position, (start, _, following) in enumerate(showings):
        earlier = sorted(showings[:position], key=lambda s: s[1])[-2:]
        if not earlier or earlier[-1][1] > start:
            continue
        _, end, thing = earlier[-1]
        last_alone = len(earlier) < 2 or earlier[0][1] < end - CLEARLY
        next_alone = position + 1 == len(showings) or showings[position + 1][0] > start + CLEARLY
        if not (last_alone and next_alone) or thing not in once or following not in once:
            continue
        if thing.brief and following.brief:
            continue
        called = facts.names(thing)[-1]
        yield Draft(
            QuestionKind.TEMPORAL_ORDER,
            "thing_next",
            FineType.TEMPORAL_AFTER,
            (
                f"Which thing appears next once the {called} has gone?",
                f"After the {called} is gone, what is the next coloured thing to be seen?",
            ),
            f"the {following.name}",
            facts.other_names(thing, following),
            following.shown[0],
            (following.id, thing.id),
            "brief" if following.brief else "window",
        )
        yield Draft(
            QuestionKind.TEMPORAL_ORDER,
            "thing_previous",
            FineType.TEMPORAL_BEFORE,
            (
                f"Which thing was the last to be seen before the {following.name} appeared?",
                f"What was on the screen last before the {following.name} came?",
            ),
            f"the {called}",
            facts.other_names(thing, following),
            thing.shown[0],
            (thing.id, following.id),
            "brief" if thing.brief else "window",
        )


def _three(once: list[Thing]) -> Iterator[Draft]:
    """In which order three things appear."""
    for first in range(0, len(once) - 12, 5):
        three = [once[first], once[first + 5], once[first + 11]]
        if any(b.first - a.first < APART for a, b in itertools.pairwise(three)):
            continue
        names = [f"the {t.name}" for t in three]
        orders = [", then ".join(order) for order in itertools.permutations(names)]
        yield Draft(
            QuestionKind.TEMPORAL_ORDER,
            "order_of_three",
            FineType.LONG_RANGE_TEMPORAL,
            ("In which order do these appear?", "What is the right order of these things?"),
            orders[0],
            tuple(orders[1:]),
            hull([t.shown[0] for t in three]),
            tuple(t.id for t in three),
        )


def _times(facts: Facts, once: list[Thing]) -> Iterator[Draft]:
    for thing in once:
        if thing.role in ("labelled", "host", "visitor", "pair", "toucher"):
            yield Draft(
                QuestionKind.RETRIEVAL_LOCALIZATION,
                "thing_time",
                FineType.SEGMENT_CONTENT,
                (
                    f"At about what time does the {thing.name} appear?",
                    f"When is the {thing.name} first seen?",
                ),
                clock(thing.first),
                facts.other_times(thing.first),
                thing.shown[0],
                (thing.id,),
            )


def _stretches(facts: Facts) -> Iterator[Draft]:
    """Which three things, in order, a stretch without cards shows."""
    for chapter in facts.steps:
        inside = [t for t in facts.things if chapter.card.end <= t.first and t.last <= chapter.interval.end]
        units = [t for t in inside if facts.alone(t) and len(t.shown) == 1 and t.role != "odd"]
        if len(units) < 4:
            continue
        three = units[:3]
        if any(b.first - a.first < 1 for a, b in itertools.pairwise(three)):
            continue
        names = [f"the {t.name}" for t in three]
        orders = [", ".join(order) for order in itertools.permutations(names)]
        anchor = units[3]
        yield Draft(
            QuestionKind.SUMMARIZATION,
            "stretch",
            FineType.SEGMENT_CONTENT,
            (
                f"Which list sums up, in the right order, what is seen before the {anchor.name} appears?",
                f"Which of these lists has the right order of what leads up to the {anchor.name}?",
            ),
            orders[0],
            tuple(orders[1:]),
            hull([t.shown[0] for t in units[:4]]),
            tuple(t.id for t in units[:4]),
        )
