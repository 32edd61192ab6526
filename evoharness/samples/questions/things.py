"""Questions about coloured things that stay for a while: place, number, company, labels."""

from collections import defaultdict
from collections.abc import Iterator

from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.questions.draft import (
    COUNTS,
    Demand,
    Draft,
    Facts,
    hull,
    other_places,
    place_of,
    without,
)
from evoharness.samples.timeline import Thing
from evoharness.samples.vocabulary import COLOURS, NUMBERS, SHAPES, plural


def thing_drafts(facts: Facts) -> Iterator[Draft]:
    """All drafts of this module."""
    together: dict[str, list[Thing]] = defaultdict(list)
    for thing in facts.things:
        if thing.together:
            together[thing.together].append(thing)
    for members in together.values():
        if members[0].role == "group":
            yield from _group(facts, members)
        elif members[0].role == "pair":
            yield from _pair(facts, members)
        elif members[0].role in ("row", "odd"):
            yield from _odd(facts, members)
    yield from _repeated(facts)
    yield from _labels(facts)
    yield from _places(facts)


def _group(facts: Facts, members: list[Thing]) -> Iterator[Draft]:
    thing = members[0]
    if facts.owners(thing.name) != 1:
        return
    many = f"{thing.colour} {plural(thing.shape)}"
    yield Draft(
        QuestionKind.COUNTING,
        "group_count",
        FineType.COUNTING,
        (
            f"How many {many} are on the screen at the same time?",
            f"Count the {many} that stand in a row. How many are there?",
            f"How many {many} are shown together?",
        ),
        str(len(members)),
        without(COUNTS, str(len(members))),
        thing.shown[0],
        tuple(m.id for m in members),
    )


def _pair(facts: Facts, members: list[Thing]) -> Iterator[Draft]:
    first, second = members
    if not (facts.alone(first) and facts.alone(second)):
        return
    words = ("to the left of", "to the right of") if first.y == second.y else ("above", "below")
    for relation, answer, named in ((words[0], first, second), (words[1], second, first)):
        yield Draft(
            QuestionKind.SPATIAL,
            "pair_relation",
            FineType.COMPARISON,
            (
                f"What stands {relation} the {named.name}?",
                f"Which thing is seen {relation} the {named.name}?",
            ),
            f"the {answer.name}",
            facts.other_names(first, second),
            answer.shown[0],
            (answer.id, named.id),
        )
    yield Draft(
        QuestionKind.ENTITIES_ATTRIBUTES,
        "pair_partner",
        FineType.COMPARISON,
        (
            f"Which thing is shown together with the {first.name}?",
            f"The {first.name} is not alone on the screen. What stands beside it?"
            if first.y == second.y
            else f"The {first.name} is not alone on the screen. What else is there?",
        ),
        f"the {second.name}",
        facts.other_names(first, second),
        second.shown[0],
        (second.id, first.id),
    )


def _odd(facts: Facts, members: list[Thing]) -> Iterator[Draft]:
    odd = next(m for m in members if m.role == "odd")
    row = next(m for m in members if m.role == "row")
    if facts.owners(row.name) != 1:
        return
    many, support = (
        f"{row.colour} {plural(row.shape)}",
        tuple(m.id for m in (odd, *(m for m in members if m is not odd))),
    )
    near = [f"the {c} {row.shape}" for c in COLOURS if c not in (row.colour, odd.colour)]
    near += [f"the {row.colour} {s}" for s in SHAPES if s not in (row.shape, odd.shape)]
    yield Draft(
        QuestionKind.ANOMALY,
        "odd_one",
        FineType.FINDING,
        (
            f"In the row of {many}, one thing does not belong. Which one?",
            f"Something breaks the pattern in the row of {many}. What is it?",
        ),
        f"the {odd.name}",
        without(near, f"the {odd.name}", f"the {row.name}"),
        odd.shown[0],
        support,
    )
    ordinals = ("first", "second", "third", "fourth", "fifth")
    position = ordinals[sorted(members, key=lambda m: m.x).index(odd)]
    yield Draft(
        QuestionKind.ANOMALY,
        "odd_position",
        FineType.COMPARISON,
        (
            f"One thing in the row of {many} is not like the others. Which one, from the left?",
            f"Counted from the left, which thing in the row of {many} is the odd one out?",
        ),
        f"the {position}",
        tuple(f"the {o}" for o in ordinals if o != position),
        odd.shown[0],
        support,
    )


def _repeated(facts: Facts) -> Iterator[Draft]:
    for thing in facts.single("repeat"):
        times = len(thing.shown)
        if str(times) not in COUNTS:
            continue
        spread = thing.last - thing.first > 30
        yield Draft(
            QuestionKind.COUNTING,
            "times_shown",
            FineType.LONG_RANGE_TEMPORAL if spread else FineType.COUNTING,
            (
                f"How many times does the {thing.name} appear?",
                f"How often is the {thing.name} shown in the whole recording?",
                f"The {thing.name} comes and goes. How many times can it be seen?",
            ),
            str(times),
            without(COUNTS, str(times)),
            hull(thing.shown),
            (thing.id,),
            "brief" if thing.brief else "",
        )


def _labels(facts: Facts) -> Iterator[Draft]:
    labels = facts.texts("label")
    demand: Demand = "small" if facts.timeline.fine_print else ""
    for label in labels:
        if label.beside is None or sum(o.text == label.text for o in labels) > 1:
            continue
        thing = facts.thing(label.beside)
        if not facts.alone(thing):
            continue
        noun = label.text.rsplit(" ", 1)[0]
        similar = [o.text for o in labels if o.text.startswith(noun)]
        made = [f"{noun} {number}" for number in _numbers_near(label.text)]
        yield Draft(
            QuestionKind.ENTITIES_ATTRIBUTES,
            "label_text",
            FineType.CASE_SPECIFIC,
            (
                f"What does the label under the {thing.name} say?",
                f"Which label belongs to the {thing.name}?",
                f"How is the {thing.name} labelled?",
            ),
            label.text,
            without([*similar, *made], label.text),
            label.interval,
            (label.id, thing.id),
            demand,
        )
        yield Draft(
            QuestionKind.ENTITIES_ATTRIBUTES,
            "labelled_thing",
            FineType.INSTRUMENT,
            (
                f'Which thing is labelled "{label.text}"?',
                f'Under which thing does the label "{label.text}" stand?',
            ),
            f"the {thing.name}",
            facts.other_names(thing),
            label.interval,
            (label.id, thing.id),
            demand,
        )
        place = place_of(thing.x, thing.y)
        yield Draft(
            QuestionKind.SPATIAL,
            "labelled_place",
            FineType.INSTRUMENT,
            (
                f'In which part of the picture is the thing labelled "{label.text}"?',
                f'Where is the label "{label.text}" to be found?',
            ),
            place,
            other_places(place),
            label.interval,
            (label.id, thing.id),
            demand,
        )


def _numbers_near(text: str) -> list[int]:
    """Numbers to put in place of the one in a label, of the same kind and in no telling order."""
    at = NUMBERS.index(int(text.rsplit(" ", 1)[1]))
    return [NUMBERS[(at + 11 * i) % len(NUMBERS)] for i in range(1, 7)]


def _places(facts: Facts) -> Iterator[Draft]:
    for thing in facts.single("labelled", "host", "repeat", "pair"):
        place = place_of(thing.x, thing.y)
        yield Draft(
            QuestionKind.SPATIAL,
            "thing_place",
            FineType.FINDING,
            (
                f"Where in the picture is the {thing.name}?",
                f"In which part of the picture does the {thing.name} appear?",
            ),
            place,
            other_places(place),
            thing.shown[0],
            (thing.id,),
            "brief" if thing.brief else "",
        )
