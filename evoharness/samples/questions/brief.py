"""Questions about what is there for a second or less."""

import itertools
from collections.abc import Iterator

from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.questions.draft import Draft, Facts, clock, other_places, place_of, without
from evoharness.samples.timeline import Thing
from evoharness.samples.vocabulary import with_article


def brief_drafts(facts: Facts) -> Iterator[Draft]:
    """All drafts of this module."""
    brief = [t for t in facts.things if t.brief]
    for thing in facts.single("flash"):
        yield from _look(facts, thing, brief)
        yield from _where_and_when(facts, thing)
        yield from _surroundings(facts, thing)
    yield from _sequence(facts)


def _look(facts: Facts, thing: Thing, brief: list[Thing]) -> Iterator[Draft]:
    showing = thing.shown[0]
    others = [b for b in brief if b is not thing]
    if all(b.shape != thing.shape for b in others):
        colours = [t.colour for t in facts.things]
        yield Draft(
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
            showing,
            (thing.id,),
            "brief",
        )
    if all(b.colour != thing.colour for b in others):
        yield Draft(
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
            showing,
            (thing.id,),
            "brief",
        )
    place = place_of(thing.x, thing.y)
    if all(place_of(b.x, b.y) != place for b in others):
        yield Draft(
            QuestionKind.ENTITIES_ATTRIBUTES,
            "flash_at_place",
            FineType.FINDING,
            (
                f"A coloured thing flashes up {_at(place)} of the picture. What is it?",
                f"Which thing flashes up {_at(place)} of the picture?",
            ),
            f"the {thing.name}",
            facts.other_names(thing),
            showing,
            (thing.id,),
            "brief",
        )


def _at(place: str) -> str:
    return "in the centre" if place == "centre" else f"at the {place}"


def _where_and_when(facts: Facts, thing: Thing) -> Iterator[Draft]:
    showing, place = thing.shown[0], place_of(thing.x, thing.y)
    yield Draft(
        QuestionKind.SPATIAL,
        "flash_place",
        FineType.FINDING,
        (
            f"Where in the picture does the {thing.name} flash up?",
            f"In which part of the picture is the {thing.name} seen for a moment?",
        ),
        place,
        other_places(place),
        showing,
        (thing.id,),
        "brief",
    )
    yield Draft(
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
        showing,
        (thing.id,),
        "brief",
    )


def _surroundings(facts: Facts, thing: Thing) -> Iterator[Draft]:
    showing = thing.shown[0]
    chapter = facts.chapter_of(showing.start)
    if chapter is not None and len(facts.steps) >= 4:
        step = facts.step_text(chapter)
        yield Draft(
            QuestionKind.RETRIEVAL_LOCALIZATION,
            "flash_step",
            FineType.SEGMENT_CONTENT,
            (
                f"Which step is being carried out when the {thing.name} flashes up?",
                f"To which step does the moment belong at which the {thing.name} is briefly seen?",
            ),
            step.text,
            facts.other_steps(chapter),
            showing,
            (thing.id, step.id),
            "brief",
        )
        flashed = [
            t for t in facts.things if t.brief and any(facts.chapter_of(s.start) is chapter for s in t.shown)
        ]
        if flashed == [thing]:
            yield Draft(
                QuestionKind.ACTIONS_EVENTS,
                "flash_in_step",
                FineType.SEGMENT_CONTENT,
                (
                    f'What flashes up for a moment in the step "{step.text}"?',
                    f'After the card "{step.text}" and before the next card, which thing flashes up?',
                ),
                f"the {thing.name}",
                facts.other_names(thing),
                showing,
                (thing.id, step.id),
                "brief",
            )
    hosts = [h for h in facts.single("host") if h.first < showing.start and h.last > showing.end]
    for host in hosts:
        during = [
            t
            for t in facts.things
            if t is not host and any(h.overlaps(s) for h in host.shown for s in t.shown)
        ]
        if during == [thing] and len(facts.names(host)) == 1:
            yield Draft(
                QuestionKind.ACTIONS_EVENTS,
                "flash_beside",
                FineType.FINDING,
                (
                    f"What flashes up while the {host.name} is on the screen?",
                    f"As the {host.name} stands still, something else is seen for a moment. What is it?",
                ),
                f"the {thing.name}",
                facts.like(host, thing),
                showing,
                (thing.id, host.id),
                "brief",
            )
            yield Draft(
                QuestionKind.ACTIONS_EVENTS,
                "host_of_flash",
                FineType.FINDING,
                (
                    f"Which thing is on the screen at the same time as the {thing.name} flashes up?",
                    f"When the {thing.name} is seen for a moment, what else is there?",
                ),
                f"the {host.name}",
                facts.like(thing, host),
                showing,
                (thing.id, host.id),
                "brief",
            )
    captions = [c for c in facts.texts("caption", "stop") if c.interval.overlaps(showing)]
    if len(captions) == 1:
        caption = captions[0]
        if caption.interval.start <= showing.start and caption.interval.end >= showing.end:
            yield Draft(
                QuestionKind.RETRIEVAL_LOCALIZATION,
                "flash_caption",
                FineType.SEGMENT_CONTENT,
                (
                    f"Which caption can be read while the {thing.name} flashes up?",
                    f"What does the caption say at the moment when the {thing.name} is seen?",
                ),
                caption.text,
                without((c.text for c in facts.texts("caption", "stop")), caption.text),
                showing,
                (thing.id, caption.id),
                "brief",
            )


def _sequence(facts: Facts) -> Iterator[Draft]:
    showings = sorted(
        ((s, t) for t in facts.things if t.brief for s in t.shown), key=lambda pair: pair[0].start
    )
    for (_, thing), (showing, following) in itertools.pairwise(showings):
        if thing.role == following.role == "flash" and facts.alone(thing) and facts.alone(following):
            yield Draft(
                QuestionKind.TEMPORAL_ORDER,
                "flash_next",
                FineType.TEMPORAL_AFTER,
                (
                    f"After the {thing.name} has flashed up, which thing is the next to do so?",
                    f"Which thing is the next to flash up after the {thing.name}?",
                ),
                f"the {following.name}",
                facts.other_names(thing, following),
                showing,
                (following.id, thing.id),
                "brief",
            )
            yield Draft(
                QuestionKind.TEMPORAL_ORDER,
                "flash_previous",
                FineType.TEMPORAL_BEFORE,
                (
                    f"Which thing was the last to flash up before the {following.name} did?",
                    f"Before the {following.name} flashes up, which other thing did so last?",
                ),
                f"the {thing.name}",
                facts.other_names(thing, following),
                thing.shown[0],
                (thing.id, following.id),
                "brief",
            )
