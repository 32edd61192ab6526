"""Colours and other properties, what is seen together."""

import re
from collections.abc import Iterator

from evoharness.questioner import english
from evoharness.questioner.forms.base import TEXT, Candidate, Craft, Draft, distance
from evoharness.questioner.view import SLACK_S, Item, MemoryView, Thing
from evoharness.records.interval import Interval
from evoharness.records.question import FineType

_COMMON_COLOURS = ("red", "green", "blue", "yellow", "orange", "purple", "white", "black", "pink", "brown")
_TURNS = re.compile(
    r"^(?P<verb>.*\b(?:turns|becomes|changes\b.*\bto|turning|changing\b.*\bto))\s+(?P<colour>\w+)$"
)


def colours_in(text: str) -> tuple[str, ...]:
    """The different colour words of a text, in order."""
    return tuple(dict.fromkeys(word for word in english.tokens(text) if word in english.COLOURS))


def without_colours(text: str) -> str:
    """The text with its colour words left out."""
    return " ".join(word for word in text.split() if word.casefold().strip(",") not in english.COLOURS)


def _colour_candidates(view: MemoryView) -> list[Candidate]:
    """Colours that the memory names, with where; then common colours from nowhere."""
    found = [
        Candidate(colour, event.intervals, event.segments)
        for event in view.events
        for colour in colours_in(event.name)
    ]
    found += [
        Candidate(colour, (Interval(start=thing.first_seen, end=thing.first_seen),), thing.segments)
        for thing in view.things
        for colour in colours_in(" ".join((thing.name, *thing.attributes)))
    ]
    seen = {candidate.text for candidate in found}
    return found + [Candidate(colour, ()) for colour in _COMMON_COLOURS if colour not in seen]


def _same(a: str, b: str) -> bool:
    return a == b or {a, b} == {"grey", "gray"}


def colour_of_actor(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The colour of whatever does something, asked without the colour; nothing else may fit the question."""
    plain = {event.ids[0]: english.content(without_colours(event.name)) for event in view.events}
    vague = {record: english.specific(words) for record, words in plain.items()}
    for event in craft.brief_first(e for e in view.events if e.subject):
        colours, name = colours_in(event.subject), without_colours(event.subject)
        if len(colours) != 1 or colours_in(event.predicate) or len(english.content(name)) < 1:
            continue
        rivals = [
            e
            for e in view.events
            if e is not event and english.contains_in_order(plain[e.ids[0]], vague[event.ids[0]])
        ]
        when, near = "", event.interval
        moment = craft.pick(event.intervals)
        if rivals or not event.once:
            if any(e.near(moment, slack=8.0) for e in rivals):
                continue
            when, near = f" at about {english.clock(moment.start)}", moment
        wrong = craft.wrong(colours[0], _colour_candidates(view), near, event.segments, close=_same)
        if wrong is None:
            continue
        yield Draft(
            text=craft.pick(
                (
                    f"What colour is {name} that {event.predicate}{when}?",
                    f"Which colour does {name} have that {event.predicate}{when}?",
                )
            ),
            answer=colours[0],
            wrong=wrong,
            interval=near,
            support=event.ids,
            fine_type=FineType.FINDING,
            about=(event.name, "colour"),
        )


def colour_it_takes(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The colour that something turns."""
    for event in craft.brief_first(e for e in view.events if e.subject and e.once and not view.ambiguous(e)):
        match = _TURNS.match(event.predicate)
        if match is None or match["colour"].casefold() not in english.COLOURS:
            continue
        colour = match["colour"].casefold()
        changes = [
            e
            for e in view.events
            if e is not event and e.subject == event.subject and _TURNS.match(e.predicate)
        ]
        when = f" at about {english.clock(event.start)}" if changes else ""
        if any(e.near(event.interval, slack=8.0) for e in changes):
            continue
        wrong = craft.wrong(
            colour,
            _colour_candidates(view),
            event.interval,
            event.segments,
            colours_in(event.subject),
            close=_same,
        )
        if wrong is None:
            continue
        yield Draft(
            text=craft.pick(
                (
                    f"Which colour does {event.subject} take on{when}?",
                    f"{english.upper_first(event.subject)} changes colour{when}. What colour does it become?",
                )
            ),
            answer=colour,
            wrong=wrong,
            interval=event.interval,
            support=event.ids,
            fine_type=FineType.FINDING,
            about=(event.name, "becomes"),
        )


def _moment_of(view: MemoryView, thing: Thing, craft: Craft) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """A phrase for the first sight of a thing: by a text shown then, or by the clock."""
    at = Interval(start=thing.first_seen, end=thing.first_seen)
    cues = [a for a in view.anchors if a.kind == TEXT and a.interval.overlaps(at)]
    if cues:
        anchor = craft.anchor(view, craft.pick(cues))
        return anchor.during, anchor.ids, anchor.names
    return f"at about {english.clock(thing.first_seen)}", (), ()


def property_of_thing(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """A colour, or another recorded property, of a thing that is named without it."""
    for thing in craft.shuffled(view.things):
        colours = colours_in(" ".join((thing.name, *thing.attributes)))
        name = without_colours(thing.name)
        if len(colours) != 1 or not name:
            continue
        words = english.specific(english.content(name))
        alike = [
            t
            for t in view.things
            if t is not thing and (not words or english.contains_in_order(english.content(t.name), words))
        ]
        if any(
            distance(_sight(t), _sight(thing)) < 8.0 or set(t.segments) & set(thing.segments) for t in alike
        ):
            continue
        when, ids, names = _moment_of(view, thing, craft)
        wrong = craft.wrong(
            colours[0], _colour_candidates(view), _sight(thing), thing.segments, names, close=_same
        )
        if wrong is None:
            continue
        yield Draft(
            text=craft.pick(
                (
                    f"What colour is {english.noun_phrase(name)} that comes into view {when}?",
                    f"Which colour does {english.noun_phrase(name)} have that is seen {when}?",
                )
            ),
            answer=colours[0],
            wrong=wrong,
            interval=_sight(thing),
            support=(*ids, *thing.ids),
            fine_type=FineType.FINDING,
            about=(thing.name, "colour"),
        )


def _sight(thing: Thing) -> Interval:
    """A second on each side of the first sight of a thing."""
    return Interval(start=max(0.0, thing.first_seen - 1.0), end=thing.first_seen + 1.0)


def surrounding(subject: str) -> bool:
    """Whether it is what is always there, such as the background."""
    return bool(english.SURROUNDINGS & set(english.tokens(subject)))


def _present(item: Item, interval: Interval) -> bool:
    return any(i.overlaps(interval) for i in item.intervals)


def seen_while(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """What is seen moving or acting while a text is shown, among things that act only elsewhere."""
    for cue in craft.brief_first(a for a in view.anchors if a.kind == TEXT):
        actors = [
            e for e in view.events if e.subject and not surrounding(e.subject) and _present(e, cue.interval)
        ]
        for event in craft.shuffled(actors)[:1]:
            moment = next(i for i in event.intervals if i.overlaps(cue.interval))
            seen = {english.content(t.name) for t in view.things if set(t.segments) & set(cue.segments)}
            around = cue.interval.widened(2 * SLACK_S, view.duration)
            there = {o.subject for o in view.events if o.subject and o.near(around, slack=0.0)}
            absent = [
                e
                for e in view.events
                if e.subject
                and not surrounding(e.subject)
                and not any(o.subject in there for o in view.of_actor(e.subject))
                and english.content(e.subject) not in seen
            ]
            options = [Candidate(e.subject, e.intervals, e.segments) for e in absent]
            anchor = craft.anchor(view, cue)
            wrong = craft.wrong(event.subject, options, moment, event.segments, anchor.names)
            if wrong is None:
                continue
            yield Draft(
                text=craft.pick(
                    (
                        f"Which of these can be seen {anchor.during}?",
                        f"What is visible besides the text {anchor.during}?",
                    )
                ),
                answer=event.subject,
                wrong=wrong,
                interval=Interval(
                    start=min(anchor.interval.start, moment.start),
                    end=max(moment.end, min(anchor.interval.end, moment.start + 4.0)),
                ),
                support=(*anchor.ids, *event.ids),
                fine_type=FineType.INSTRUMENT,
                about=(cue.name, event.subject),
            )


def seen_alongside(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """What is recorded in the same segment as a named thing (entity co-occurrence, C.1)."""
    for segment in craft.shuffled(view.segments):
        own = {entity.id for entity in segment.entities}
        here = [t for t in view.things if segment.id in view.segments_of(t)]
        absent = [
            t
            for t in view.things
            if not set(view.segments_of(t))
            & set(view.segments_in(segment.interval.widened(SLACK_S, view.duration)))
            and not any(english.confusable(t.name, h.name) for h in here)
        ]
        options = [Candidate(t.name, tuple(_sight(t) for _ in t.segments), t.segments) for t in absent]
        recorded = [t for t in here if own & set(t.ids)]
        for thing in craft.shuffled(recorded)[:4]:
            mates = [t for t in recorded if t is not thing and not english.confusable(t.name, thing.name)]
            if not mates:
                continue
            mate = craft.pick(mates)
            wrong = craft.wrong(mate.name, options, _sight(mate), (segment.id,), (thing.name,))
            if wrong is None:
                continue
            start, end = english.clock(segment.interval.start), english.clock(segment.interval.end)
            yield Draft(
                text=craft.pick(
                    (
                        f"Besides the {thing.name}, which of these is seen between {start} and {end}?",
                        f"What is seen between {start} and {end}, as well as the {thing.name}?",
                    )
                ),
                answer=mate.name,
                wrong=wrong,
                interval=segment.interval,
                support=tuple(r for t in (thing, mate) for r in t.ids if r in own),
                fine_type=FineType.INSTRUMENT,
                about=(segment.id, mate.name),
            )
