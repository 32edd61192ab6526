"""Questions about what things do: come in, move, change, touch, leave."""

from collections.abc import Iterator

from evoharness.records.interval import Interval
from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.questions.draft import SIDES, Draft, Facts, clock, other_places, place_of, without
from evoharness.samples.timeline import Happening, Thing

DEEDS = {
    "turns": "it changes its colour",
    "grows": "it gets bigger",
    "shrinks": "it gets smaller",
    "moves": "it moves to another place in the picture",
}


def change_drafts(facts: Facts) -> Iterator[Draft]:
    """All drafts of this module."""
    turns = [e for e in facts.events if e.kind == "turns"]
    for thing in facts.single("host", "visitor", "toucher", "touched"):
        for event in facts.events_of(thing):
            if event.kind == "turns":
                yield from _turn(facts, thing, event, turns)
            elif event.kind in ("enters", "leaves") and thing.role == "visitor":
                # only visitors use all four sides equally often: of others one could guess
                yield from _side(thing, event)
            elif event.kind == "moves":
                yield from _move(thing, event)
            elif event.kind == "touches":
                yield from _touch(facts, thing, event)
        yield from _deed(facts, thing)
        yield from _course(facts, thing)


def _around(event: Happening) -> Interval:
    return Interval(start=max(0.0, event.interval.start - 1), end=event.interval.end + 1)


def _turn(facts: Facts, thing: Thing, event: Happening, turns: list[Happening]) -> Iterator[Draft]:
    before, after = event.before or "", event.after or ""
    colours = [t.colour for t in facts.things]
    yield Draft(
        QuestionKind.ACTIONS_EVENTS,
        "turn_to",
        FineType.ACTION,
        (
            f"Which colour does the {thing.name} turn?",
            f"The {thing.name} changes its colour. Which colour does it have afterwards?",
            f"What colour does the {thing.name} become?",
        ),
        after,
        without(colours, after, before),
        _around(event),
        (event.id, thing.id),
    )
    yield Draft(
        QuestionKind.ENTITIES_ATTRIBUTES,
        "turn_from",
        FineType.FINDING,
        (
            f"Which colour did the {after} {thing.shape} have at first?",
            f"Before it turned {after}, what colour was the {thing.shape}?",
        ),
        before,
        without(colours, after, before),
        _around(event),
        (event.id, thing.id),
    )
    if sum(e.after == after for e in turns) == 1:
        yield Draft(
            QuestionKind.ACTIONS_EVENTS,
            "turn_which",
            FineType.ACTION,
            (f"Which of these turns {after}?", f"Which thing becomes {after}?"),
            f"the {thing.name}",
            without(
                (n for n in facts.other_names(thing) if not n.startswith(f"the {after} ")),
                f"the {thing.name}",
            ),
            _around(event),
            (event.id, thing.id),
        )
    yield Draft(
        QuestionKind.RETRIEVAL_LOCALIZATION,
        "turn_time",
        FineType.SEGMENT_CONTENT,
        (
            f"At about what time does the {thing.name} turn {after}?",
            f"When does the {thing.name} change its colour?",
        ),
        clock(event.interval.start),
        facts.other_times(event.interval.start),
        _around(event),
        (event.id, thing.id),
    )


def _side(thing: Thing, event: Happening) -> Iterator[Draft]:
    side = (event.before if event.kind == "enters" else event.after) or ""
    if event.kind == "enters":
        words: tuple[str, ...] = (
            f"From which side does the {thing.name} come in?",
            f"On which side does the {thing.name} enter the picture?",
            f"Where does the {thing.name} come from when it is first seen?",
        )
    else:
        words = (
            f"On which side does the {thing.name} leave the picture?",
            f"Towards which side does the {thing.name} go out of the picture?",
        )
    yield Draft(
        QuestionKind.SPATIAL,
        "enter_side" if event.kind == "enters" else "leave_side",
        FineType.ACTION,
        words,
        f"the {side}",
        tuple(f"the {s}" for s in SIDES if s != side),
        event.interval,
        (event.id, thing.id),
    )


def _move(thing: Thing, event: Happening) -> Iterator[Draft]:
    if event.path is None:
        return
    start, end = place_of(*event.path[:2]), place_of(*event.path[2:])
    yield Draft(
        QuestionKind.SPATIAL,
        "move_to",
        FineType.ACTION,
        (
            f"The {thing.name} stops, then moves on inside the picture. Where does it stop the second time?",
            f"After its first stop, to which part of the picture does the {thing.name} go?",
        ),
        end,
        tuple(p for p in other_places(end) if p != start),
        event.interval,
        (event.id, thing.id),
    )


def _deed(facts: Facts, thing: Thing) -> Iterator[Draft]:
    deeds = [e for e in facts.events_of(thing) if e.kind in DEEDS]
    if len(deeds) != 1 or thing.role != "visitor":
        return
    event = deeds[0]
    yield Draft(
        QuestionKind.ACTIONS_EVENTS,
        "deed",
        FineType.ACTION,
        (
            f"What does the {thing.name} do once it has come in?",
            f"What happens to the {thing.name} before it goes again?",
        ),
        DEEDS[event.kind],
        tuple(deed for kind, deed in DEEDS.items() if kind != event.kind),
        _around(event),
        (event.id, thing.id),
    )


def _course(facts: Facts, thing: Thing) -> Iterator[Draft]:
    """What a visitor does from beginning to end; wrong courses differ in one part or both."""
    events = facts.events_of(thing)
    entries, deeds = [e for e in events if e.kind == "enters"], [e for e in events if e.kind in DEEDS]
    if thing.role != "visitor" or len(entries) != 1 or len(deeds) != 1:
        return
    number = int(thing.id.rsplit("/", 1)[1])
    side = entries[0].before or ""
    other_side = [s for s in SIDES if s != side][number % 3]
    other_deed = [d for k, d in DEEDS.items() if k != deeds[0].kind][number // 3 % 3]

    def course(from_side: str, deed: str) -> str:
        return f"it comes in from the {from_side}, then {deed}"

    deed = DEEDS[deeds[0].kind]
    yield Draft(
        QuestionKind.SUMMARIZATION,
        "course",
        FineType.SEGMENT_CONTENT,
        (
            f"Which of these sums up what the {thing.name} does?",
            f"How is the part with the {thing.name} best summed up?",
        ),
        course(side, deed),
        (course(other_side, deed), course(side, other_deed), course(other_side, other_deed)),
        thing.shown[0],
        (thing.id, entries[0].id, deeds[0].id),
    )


def _touch(facts: Facts, mover: Thing, event: Happening) -> Iterator[Draft]:
    still = facts.thing(event.other or "")
    turn = next(e for e in facts.events_of(still) if e.kind == "turns")
    if not facts.alone(still):
        return
    yield Draft(
        QuestionKind.CAUSAL,
        "touch_cause",
        FineType.ACTION,
        (
            f"What makes the {still.name} turn {turn.after}?",
            f"Why does the {still.name} change its colour?",
            f"The {still.name} turns {turn.after}. What brings that about?",
        ),
        f"the {mover.name} touches it",
        tuple(f"{name} touches it" for name in facts.like(still, mover)),
        _around(event),
        (event.id, turn.id, mover.id, still.id),
    )
    colours = without((t.colour for t in facts.things), turn.after or "", turn.before or "")
    yield Draft(
        QuestionKind.CAUSAL,
        "touch_effect",
        FineType.ACTION,
        (
            f"What does the touch of the {mover.name} bring about in the {still.name}?",
            f"What is the effect on the {still.name} when the {mover.name} reaches it?",
        ),
        f"it turns {turn.after}",
        tuple(f"it turns {c}" for c in colours),
        _around(event),
        (event.id, turn.id, mover.id, still.id),
    )
