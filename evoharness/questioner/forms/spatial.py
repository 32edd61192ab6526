"""Where in the picture, from which side, in which direction."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evoharness.questioner import english
from evoharness.questioner.forms.base import Craft, Draft, opening
from evoharness.questioner.view import MemoryView
from evoharness.records.interval import Interval
from evoharness.records.question import FineType

_ACROSS = {"left": "left", "right": "right", "center": "centre", "centre": "centre", "middle": "centre"}
_DOWN = {
    "top": "top",
    "upper": "top",
    "above": "top",
    "bottom": "bottom",
    "lower": "bottom",
    "below": "bottom",
}
_SIDE = r"(?:the )?(left|right|top|bottom|above|below)(?: (?:side|edge))?(?! (?:left|right|corner))\b"
_FROM = re.compile(rf"\s*\bfrom {_SIDE}")
_TO = re.compile(rf"\s*\b(?:to|towards|through) {_SIDE}")
_HEADED = re.compile(
    r"^(?:\w+s|(?:is|are) \w+ing) (?:to the )?(?P<way>left|right|up|down)(?:wards?)?"
    r"(?=$|[,;]| (?:from|to|into|and|while)\b)"
)
_WAYS = {"left": "to the left", "right": "to the right", "up": "upwards", "down": "downwards"}
_SIDES = {
    "left": "left",
    "right": "right",
    "top": "top",
    "bottom": "bottom",
    "above": "top",
    "below": "bottom",
}


@dataclass(frozen=True)
class Place:
    """A coarse position in the picture; an empty axis was not told."""

    across: str
    down: str

    @property
    def name(self) -> str:
        """`at the top left`."""
        if self.across == "centre" and self.down in ("", "middle"):
            return "in the centre"
        if self.across in ("", "centre"):
            return f"at the {self.down}"
        if self.down in ("", "middle"):
            return f"on the {self.across}"
        return f"at the {self.down} {self.across}"

    def fits(self, other: "Place") -> bool:
        """Whether one could be said where the other is true."""

        def agree(a: str, b: str) -> bool:
            return not a or not b or a == b

        return agree(self.across, other.across) and agree(self.down, other.down)


_PLACES = tuple(
    Place(a, d)
    for a, d in (
        ("left", ""), ("right", ""), ("centre", "middle"), ("", "top"), ("", "bottom"),
        ("left", "top"), ("right", "top"), ("left", "bottom"), ("right", "bottom"),
    )
)  # fmt: skip


def place_in(text: str) -> Place | None:
    """The one place that a phrase names; None when it names none, several or a movement."""
    words = english.tokens(text)
    if {"from", "to", "towards", "of", "beside", "near"} & set(words):
        return None
    across = {_ACROSS[w] for w in words if w in _ACROSS}
    down = {_DOWN[w] for w in words if w in _DOWN}
    if (
        len(across) > 1
        and "centre" in across
        and ("center" in words or "centre" in words or "middle" in words)
    ):
        across.discard("centre")
        down = down or {"middle"}
    if len(across) > 1 or len(down) > 1 or not (across or down):
        return None
    one, two = "".join(across), "".join(down)
    if one == "centre" and not two:
        two = "middle"
    return Place(one, two)


def place_options(craft: Craft, place: Place) -> tuple[str, ...]:
    """K − 1 places that cannot be said of that place; as coarse as it first."""
    wrong = [p for p in craft.shuffled(_PLACES) if not p.fits(place) and p.name != place.name]
    fine = bool(place.across and place.down)
    wrong.sort(key=lambda p: bool(p.across and p.down) != fine)
    return tuple(p.name for p in wrong[: craft.options - 1])


def place_of_text(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """Where a text stands, from its description; every record of it must say the same place."""
    descriptions: dict[str, str] = {t.id: t.description for s in view.segments for t in s.texts}
    for item in craft.brief_first(t for t in view.texts if not view.ambiguous(t)):
        places = {place_in(descriptions[record]) for record in item.ids}
        place = places.pop()
        if place is None or places:
            continue
        wrong = place_options(craft, place)
        if len(wrong) == craft.options - 1:
            yield Draft(
                text=craft.pick(
                    (
                        f'Where on the screen is the text "{item.name}" shown?',
                        f'In which part of the picture does "{item.name}" appear?',
                    )
                ),
                answer=place.name,
                wrong=wrong,
                interval=opening(item.interval),
                support=item.ids,
                fine_type=FineType.FINDING,
                about=(item.name,),
            )


def place_of_thing(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """Where a thing is when it is first seen, from its spatial hint."""
    for thing in craft.shuffled(view.things):
        record = min(thing.records, key=lambda r: r.first_seen)
        place = place_in(record.spatial_hint)
        alike = [t for t in view.things if t is not thing and english.contains_words(t.name, thing.name)]
        if place is None or alike:
            continue
        wrong = place_options(craft, place)
        at = record.first_seen
        if len(wrong) < craft.options - 1:
            continue
        when = craft.pick(
            (f"when it is first seen, at about {english.clock(at)}", f"at about {english.clock(at)}")
        )
        yield Draft(
            text=craft.pick(
                (
                    f"Where in the picture is {english.noun_phrase(thing.name)} {when}?",
                    f"In which part of the picture can {english.noun_phrase(thing.name)} be seen {when}?",
                )
            ),
            answer=place.name,
            wrong=wrong,
            interval=Interval(start=max(0.0, at - 0.5), end=at + 0.5),
            support=(record.id,),
            fine_type=FineType.FINDING,
            about=(thing.name,),
        )


_AT = re.compile(
    r"\s+(?P<place>(?:at|in|on|near) the (?:\w+ ){0,2}"
    r"(?:left|right|top|bottom|cent(?:er|re)|middle)(?: corner| side| edge)?)$"
)


def place_of_event(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """Where something happens; asked without the place, at a moment when it happens nowhere else."""
    for event in craft.brief_first(e for e in view.events if e.subject):
        match = _AT.search(event.predicate)
        place = match and place_in(match["place"].replace("near", "at"))
        if not match or not place:
            continue
        rest = event.predicate[: match.start()]
        stripped = english.content(f"{event.subject} {rest}")
        rivals = [
            e
            for e in view.events
            if e is not event and english.contains_in_order(english.content(e.name), stripped)
        ]
        moment = craft.pick(event.intervals)
        if any(e.near(moment, slack=6.0) for e in rivals):
            continue
        when = "" if event.once and not rivals else f" at about {english.clock(moment.middle)}"
        wrong = place_options(craft, place)
        if len(wrong) < craft.options - 1:
            continue
        yield Draft(
            text=craft.pick(
                (
                    f"Where in the picture is it that {event.subject} {rest}{when}?",
                    f"In which part of the picture can it be seen that {event.subject} {rest}{when}?",
                )
            ),
            answer=place.name,
            wrong=wrong,
            interval=moment,
            support=event.ids,
            fine_type=FineType.FINDING,
            about=(event.name,),
        )


def side_of_movement(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """From which side, to which side or in which direction something moves; asked without the sides."""
    for event in craft.brief_first(e for e in view.events if e.subject and e.once):
        origin, target = _FROM.search(event.predicate), _TO.search(event.predicate)
        if (origin is None and target is None) or _HEADED.match(event.predicate):
            continue
        rest = _TO.sub("", _FROM.sub("", event.predicate)).strip()
        stripped = english.content(f"{event.subject} {rest}")
        rivals = [
            e
            for e in view.events
            if e is not event and english.contains_in_order(english.content(e.name), stripped)
        ]
        if not rest or any(e.near(event.interval, slack=6.0) for e in rivals):
            continue
        when = f" at about {english.clock(event.start)}" if rivals else ""
        answer, wrong, question = _sides(craft, event.subject, rest, when, origin, target)
        if len(wrong) < craft.options - 1:
            continue
        yield Draft(
            text=question,
            answer=answer,
            wrong=wrong,
            interval=event.interval,
            support=event.ids,
            fine_type=FineType.ACTION,
            about=(event.name,),
        )


def _sides(
    craft: Craft,
    subject: str,
    rest: str,
    at: str,
    origin: re.Match[str] | None,
    target: re.Match[str] | None,
) -> tuple[str, tuple[str, ...], str]:
    sides = ("left", "right", "top", "bottom")
    plural = english.plural_subject(subject)
    do, it = ("do", "they") if plural else ("does", "it")
    when = f"when {it} {rest}{at}"
    if origin and target:
        pairs = [(a, b) for a in sides for b in sides if a != b]
        answer = (_SIDES[origin[1]], _SIDES[target[1]])
        opposite = answer[::-1]
        others = [p for p in craft.shuffled(pairs) if p not in (answer, opposite)]
        chosen = [opposite, *sorted(others, key=lambda p: {*p} not in ({"left", "right"}, {"top", "bottom"}))]
        wrong = tuple(f"from {a} to {b}" for a, b in chosen[: craft.options - 1])
        return f"from {answer[0]} to {answer[1]}", wrong, f"In which direction {do} {subject} go {when}?"
    match, word = (origin, "from") if origin else (target, "to")
    assert match is not None
    side = _SIDES[match[1]]
    wrong = tuple(f"{word} the {s}" for s in craft.shuffled(sides) if s != side)[: craft.options - 1]
    asked = f"From which side {do} {subject} come" if origin else f"To which side {do} {subject} go"
    return f"{word} the {side}", wrong, f"{asked} {when}?"


def direction_of_movement(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The way something goes, where the predicate says left, right, up or down right after its verb."""
    for event in craft.brief_first(e for e in view.events if e.subject):
        match = _HEADED.match(event.predicate)
        moment = craft.pick(event.intervals)
        same = [e for e in view.of_actor(event.subject) if e is not event]
        if match is None or any(_HEADED.match(e.predicate) and e.near(moment, slack=4.0) for e in same):
            continue
        answer = _WAYS[match["way"]]
        wrong = tuple(w for w in craft.shuffled(_WAYS.values()) if w != answer)[: craft.options - 1]
        if len(wrong) < craft.options - 1:
            continue
        when = english.clock(moment.middle)
        do = "do" if english.plural_subject(event.subject) else "does"
        yield Draft(
            text=craft.pick(
                (
                    f"In which direction {do} {event.subject} move at about {when}?",
                    f"At about {when}, which way {do} {event.subject} go?",
                )
            ),
            answer=answer,
            wrong=wrong,
            interval=moment,
            support=event.ids,
            fine_type=FineType.ACTION,
            about=(event.name, when),
        )
