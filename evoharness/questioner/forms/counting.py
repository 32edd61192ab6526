"""How many: repeats of an event, kinds of things, texts."""

import re
from collections.abc import Iterator
from itertools import pairwise

from evoharness.questioner import english
from evoharness.questioner.forms.base import Craft, Draft, hull
from evoharness.questioner.view import SLACK_S, Item, MemoryView
from evoharness.records.interval import Interval
from evoharness.records.question import FineType

MOST = 9
"""Larger numbers are not asked for: nobody counts them reliably."""


LONGEST_S = 60.0
"""Longer stretches are not counted in: what a describer misses grows with them."""


def number_options(craft: Craft, reference: int, least: int = 0) -> tuple[str, ...]:
    """K consecutive numbers with the reference at a random place among them, none below `least`."""
    before = craft.rng.randrange(min(craft.options, reference - least + 1))
    return tuple(str(reference - before + step) for step in range(craft.options))


def _draft(
    craft: Craft,
    text: str,
    reference: int,
    interval: Interval,
    support: tuple[str, ...],
    about: tuple[str, ...],
) -> Draft:
    options = number_options(craft, reference, least=0 if reference == 0 else 1)
    return Draft(
        text=text,
        answer=str(reference),
        wrong=tuple(o for o in options if o != str(reference)),
        interval=interval,
        support=support,
        fine_type=FineType.COUNTING,
        ordered=True,
        options=options,
        about=about,
    )


def repeats(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """How often an event happens in the video; its wording must not stand for any other event."""
    events = craft.shuffled(view.events)
    several = sum(not event.once for event in events)
    for event in sorted(events, key=lambda e: e.once):
        count = len(event.intervals)
        gaps = [b.start - a.end for a, b in pairwise(event.intervals)]
        if view.ambiguous(event) or count > MOST or not event.subject or any(gap < SLACK_S for gap in gaps):
            continue
        if count == 1:
            several -= 1
            if several < 0:
                return
        yield _draft(
            craft,
            craft.pick(
                (
                    f"How many times does it happen that {event.name}?",
                    f"Count the times that {event.name} in this video. How many are there?",
                )
            ),
            count,
            hull(event.intervals),
            event.ids,
            (event.name,),
        )


def repeats_of_verb(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """How often an actor does something, wherever and however: `the star appears`, at whatever place."""
    groups: dict[tuple[str, str], list[tuple[Interval, str]]] = {}
    for event in view.events:
        if event.subject and (verb := _verb(event)):
            groups.setdefault((event.subject, verb), []).extend(_occurrences(event))
    for (subject, verb), found in craft.shuffled(groups.items()):
        found.sort(key=lambda pair: (pair[0].start, pair[0].end))
        starts = [i.start for i, _ in found]
        others = [s for s, v in groups if v == verb and s != subject and english.contains_words(s, subject)]
        if not 2 <= len(found) <= MOST or others or any(b - a < SLACK_S for a, b in pairwise(starts)):
            continue
        yield _draft(
            craft,
            craft.pick(
                (
                    f"How many times in the video is it seen that {subject} {verb}?",
                    f"In the whole video, how often is it that {subject} {verb}?",
                )
            ),
            len(found),
            hull(i for i, _ in found),
            tuple(record for _, record in found),
            (subject, verb),
        )


def _verb(event: Item) -> str:
    """The verb of an event where it can stand alone; empty for an auxiliary."""
    verb = event.predicate.split()[0]
    return verb if verb.isalpha() and verb.endswith("s") and verb not in _NO_VERBS else ""


_NO_VERBS = frozenset({"is", "has", "was", "does"})


def _occurrences(event: Item) -> list[tuple[Interval, str]]:
    return [(i, event.ids[min(k, len(event.ids) - 1)]) for k, i in enumerate(event.intervals)]


_COUNTED = re.compile(
    r"^(?P<number>\d+|two|three|four|five|six|seven|eight|nine) (?P<what>[^,:;]+?) (?:are|can be) "
    r"(?:visible|seen|shown|present|in view|on screen)$"
)
_WORDS = dict(zip("two three four five six seven eight nine".split(), range(2, 10), strict=True))  # noqa: SIM905


def counted_at(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """How many things of a kind are in view at a moment, where the describer counted them."""
    found = []
    for item in view.states:
        match = _COUNTED.match(item.name)
        if match:
            number = _WORDS.get(match["number"]) or int(match["number"])
            found += [(i, number, match["what"], item) for i in item.intervals]
    for interval, number, what, item in craft.shuffled(found):
        when = round(interval.middle)
        others = [n for i, n, w, _ in found if w == what and i is not interval and abs(i.middle - when) < 4]
        if not 1 <= number <= MOST or others or not interval.start <= when <= interval.end:
            continue
        yield _draft(
            craft,
            craft.pick(
                (
                    f"How many {what} are visible at about {english.clock(when)}?",
                    f"At about {english.clock(when)}, how many {what} can be seen at the same time?",
                )
            ),
            number,
            interval if interval.duration <= 8 else Interval(start=max(0.0, when - 2.0), end=when + 2.0),
            item.ids,
            (what, str(when)),
        )


def _scopes(view: MemoryView, craft: Craft) -> list[tuple[Interval, str]]:
    """Stretches to count in: from segment to segment, and windows of whole seconds inside them."""
    found = []
    for segment in view.segments:
        start, end = int(segment.interval.start), int(segment.interval.end)
        found.append((Interval(start=start, end=max(start, end)), segment.id))
        for length in (15, 30, 45):
            if end - start > length + 10:
                low = craft.rng.randrange(start, end - length)
                found.append((Interval(start=low, end=low + length), segment.id))
    return craft.shuffled(found)


def _between(scope: Interval) -> str:
    return f"between {english.clock(scope.start)} and {english.clock(scope.end)}"


def _settled(items: tuple[Item, ...], scope: Interval) -> list[Item] | None:
    """Items that occur inside the scope; None when one lies across a border within the describer's error."""
    inside = []
    for item in items:
        hits = [i for i in item.intervals if i.overlaps(scope)]
        for border in (scope.start, scope.end):
            for i in item.intervals:
                if abs(i.start - border) < SLACK_S or abs(i.end - border) < SLACK_S:
                    return None
        if hits:
            inside.append(item)
    return inside


def texts_shown(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """How many different texts can be read in a stretch of the video."""
    for scope, _segment in _scopes(view, craft):
        if scope.duration > LONGEST_S:
            continue
        inside = _settled(view.texts, scope)
        if inside is None or not 1 <= len(inside) <= MOST:
            continue
        if any(english.confusable(a.name, b.name) for a in inside for b in inside if a is not b):
            continue
        yield _draft(
            craft,
            craft.pick(
                (
                    f"How many different texts are shown {_between(scope)}?",
                    f"{english.upper_first(_between(scope))}, how many different texts can be read?",
                )
            ),
            len(inside),
            scope,
            tuple(record for item in inside for record in item.ids),
            (_between(scope), "texts"),
        )


def times_of_verb(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """How many times something of one verb happens in a stretch: `how many times does something enter …`."""
    verbs: dict[str, list[tuple[Interval, str]]] = {}
    for event in view.events:
        if event.subject and (verb := _verb(event)):
            verbs.setdefault(verb, []).extend(_occurrences(event))
    for scope, _segment in _scopes(view, craft):
        if scope.duration > LONGEST_S:
            continue
        for verb, found in craft.shuffled(verbs.items()):
            near = [min(abs(i.start - b), abs(i.end - b)) for i, _ in found for b in (scope.start, scope.end)]
            inside = sorted(((i, r) for i, r in found if i.overlaps(scope)), key=lambda pair: pair[0].start)
            starts = [i.start for i, _ in inside]
            if (near and min(near) < 1.0) or not 1 <= len(inside) <= MOST:
                continue
            if any(b - a < 1.0 for a, b in pairwise(starts)):
                continue
            yield _draft(
                craft,
                craft.pick(
                    (
                        f"How many times can it be seen {_between(scope)} that something {verb}?",
                        f"Count how often something {verb} {_between(scope)}. What is the number?",
                    )
                ),
                len(inside),
                scope,
                tuple(record for _, record in inside),
                (verb, str(int(scope.start // 20))),
            )
            break


def kinds_of_thing(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """How many different entities of one type a segment records: `how many different circles`."""
    for segment in craft.shuffled(s for s in view.segments if s.interval.duration <= 2 * LONGEST_S):
        groups: dict[str, list[tuple[str, str]]] = {}
        own = {entity.id for entity in segment.entities}
        for thing in view.things:
            words = english.tokens(thing.name)
            if segment.id in thing.segments and len(words) >= 2 and words[-1].isalpha():
                record = next(r.id for r in thing.records if r.id in own)
                groups.setdefault(words[-1], []).append((thing.name, record))
        for noun, found in craft.shuffled(groups.items()):
            names = [name for name, _ in found]
            if not 2 <= len(names) <= MOST or noun.endswith("s"):
                continue
            if any(english.contains_words(a, b) for a in names for b in names if a != b):
                continue
            start, end = int(segment.interval.start), int(segment.interval.end)
            where = f"between {english.clock(start)} and {english.clock(end)}"
            many = noun + ("es" if noun.endswith(("x", "ch", "sh")) else "s")
            yield _draft(
                craft,
                craft.pick(
                    (
                        f"How many different {many} are seen {where}?",
                        f"{english.upper_first(where)}, how many different {many} come into view?",
                    )
                ),
                len(names),
                segment.interval,
                tuple(record for _, record in found),
                (noun, segment.id),
            )
