"""Questions about what is there for a second or less."""

import itertools
from collections.abc import Iterator

from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.questions.draft import Draft, Facts, clock, other_places, place_of, without
from evoharness.samples.timeline import Text, Thing
from evoharness.samples.vocabulary import with_article


def brief_drafts(facts: Facts) -> Iterator[Draft]:
    """All drafts of this module."""
    brief = [t for t in facts.things if t.brief]
    for thing in facts.single("flash"):
        yield from _look(facts, thing, brief)
        yield from _where_and_when(facts, thing)
        yield from _surroundings(facts, thing)
    yield from _sequence(facts)


def _draft(
    thing: Thing,
    kind: QuestionKind,
    form: str,
    fine_type: FineType,
    wordings: tuple[str, ...],
    answer: str,
    others: tuple[str, ...],
    *beside: Thing | Text,
) -> Draft:
    """A draft about the moment at which `thing` is there, with what else the answer follows from."""
    support = (thing.id, *(record.id for record in beside))
    return Draft(kind, form, fine_type, wordings, answer, others, thing.shown[0], support, "brief")


def _look(facts: Facts, thing: Thing, brief: list[Thing]) -> Iterator[Draft]:
    others = [b for b in brief if b is not thing]
    if all(b.shape != thing.shape for b in others):
        colours = [t.colour for t in facts.things]
        yield _draft(
            thing,
            QuestionKind.ENTITIES_ATTRIBUTES,
            "flash_colour",
            FineType.FINDING,
            (
                f"What colour is the {thing.shape} that flashes up for a moment?",
                f"For a second or less {with_article(thing.shape)} can be seen. Which colour is it?",
                f"Which colour is the {thing.shape} that is visible only very briefly?",
            ),
            thing.colour,
            without(colours, thing.colour),
        )
    if all(b.colour != thing.colour for b in others):
        yield _draft(
            thing,
            QuestionKind.ENTITIES_ATTRIBUTES,
            "flash_shape",
            FineType.FINDING,
            (
                f"Which shape flashes up in {thing.colour}?",
                f"Something {thing.colour} is on the screen for no more than a second. What shape is it?",
                f"What is the shape of the {thing.colour} thing that appears only for a moment?",
            ),
            thing.shape,
            without((t.shape for t in facts.things), thing.shape),
        )
    place = place_of(thing.x, thing.y)
    if all(place_of(b.x, b.y) != place for b in others):
        yield _draft(
            thing,
            QuestionKind.ENTITIES_ATTRIBUTES,
            "flash_at_place",
            FineType.FINDING,
            (
                f"A coloured thing flashes up {_at(place)} of the picture. What is it?",
                f"Which thing flashes up {_at(place)} of the picture?",
            ),
            f"the {thing.name}",
            facts.other_names(thing),
        )


def _at(place: str) -> str:
    return "in the centre" if place == "centre" else f"at the {place}"


def _where_and_when(facts: Facts, thing: Thing) -> Iterator[Draft]:
    showing, place = thing.shown[0], place_of(thing.x, thing.y)
    yield _draft(
        thing,
        QuestionKind.SPATIAL,
        "flash_place",
        FineType.FINDING,
        (
            f"Where in the picture does the {thing.name} flash up?",
            f"In which part of the picture is the {thing.name} seen for a moment?",
        ),
        place,
        other_places(place),
    )
    yield _draft(
        thing,
        QuestionKind.RETRIEVAL_LOCALIZATION,
        "flash_time",
        FineType.SEGMENT_CONTENT,
        (
            f"At about what time does the {thing.name} flash up?",
            f"When can the {thing.name} be seen for a moment?",
            f"The {thing.name} is visible for a second or less. About when is that?",
        ),
        clock(showing.start),
        facts.other_times(showing.start),
    )


def _surroundings(facts: Facts, thing: Thing) -> Iterator[Draft]:
    showing = thing.shown[0]
    chapter = facts.chapter_of(showing.start)
    if chapter is not None and len(facts.steps) >= 4:
        step = facts.step_text(chapter)
        yield _draft(
            thing,
            QuestionKind.RETRIEVAL_LOCALIZATION,
            "flash_step",
            FineType.SEGMENT_CONTENT,
            (
                f"Which step is being carried out when the {thing.name} flashes up?",
                f"To which step does the moment belong at which the {thing.name} is briefly seen?",
            ),
            step.text,
            facts.other_steps(chapter),
            step,
        )
        flashed = [
            t for t in facts.things if t.brief and any(facts.chapter_of(s.start) is chapter for s in t.shown)
        ]
        if flashed == [thing]:
            yield _draft(
                thing,
                QuestionKind.ACTIONS_EVENTS,
                "flash_in_step",
                FineType.SEGMENT_CONTENT,
                (
                    f'What flashes up for a moment in the step "{step.text}"?',
                    f'After the card "{step.text}" and before the next card, which thing flashes up?',
                ),
                f"the {thing.name}",
                facts.other_names(thing),
                step,
            )
    hosts = [h for h in facts.single("host") if h.first < showing.start and h.last > showing.end]
    for host in hosts:
        during = [
            t
            for t in facts.things
            if t is not host and any(h.overlaps(s) for h in host.shown for s in t.shown)
        ]
        if during == [thing] and len(facts.names(host)) == 1:
            yield _draft(
                thing,
                QuestionKind.ACTIONS_EVENTS,
                "flash_beside",
                FineType.FINDING,
                (
                    f"What flashes up while the {host.name} is on the screen?",
                    f"As the {host.name} stands still, something else is seen for a moment. What is it?",
                ),
                f"the {thing.name}",
                facts.like(host, thing),
                host,
            )
            yield _draft(
                thing,
                QuestionKind.ACTIONS_EVENTS,
                "host_of_flash",
                FineType.FINDING,
                (
                    f"Which thing is on the screen at the same time as the {thing.name} flashes up?",
                    f"When the {thing.name} is seen for a moment, what else is there?",
                ),
                f"the {host.name}",
                facts.like(thing, host),
                host,
            )
    captions = [c for c in facts.texts("caption", "stop") if c.interval.overlaps(showing)]
    if len(captions) == 1:
        caption = captions[0]
        if caption.interval.start <= showing.start and caption.interval.end >= showing.end:
            yield _draft(
                thing,
                QuestionKind.RETRIEVAL_LOCALIZATION,
                "flash_caption",
                FineType.SEGMENT_CONTENT,
                (
                    f"Which caption can be read while the {thing.name} flashes up?",
                    f"What does the caption say at the moment when the {thing.name} is seen?",
                ),
                caption.text,
                without((c.text for c in facts.texts("caption", "stop")), caption.text),
                caption,
            )


def _sequence(facts: Facts) -> Iterator[Draft]:
    showings = sorted(
        ((s.start, t) for t in facts.things if t.brief for s in t.shown), key=lambda showing: showing[0]
    )
    for (_, thing), (_, following) in itertools.pairwise(showings):
        if thing.role == following.role == "flash" and facts.alone(thing) and facts.alone(following):
            yield _draft(
                following,
                QuestionKind.TEMPORAL_ORDER,
                "flash_next",
                FineType.TEMPORAL_AFTER,
                (
                    f"After the {thing.name} has flashed up, which thing is the next to do so?",
                    f"Which thing is the next to flash up after the {thing.name}?",
                ),
                f"the {following.name}",
                facts.other_names(thing, following),
                thing,
            )
            yield _draft(
                thing,
                QuestionKind.TEMPORAL_ORDER,
                "flash_previous",
                FineType.TEMPORAL_BEFORE,
                (
                    f"Which thing was the last to flash up before the {following.name} did?",
                    f"Before the {following.name} flashes up, which other thing did so last?",
                ),
                f"the {thing.name}",
                facts.other_names(thing, following),
                following,
            )
