"""Questions about readings, captions, blinking texts and the title."""

from collections.abc import Iterator

from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.questions.draft import Draft, Facts, clock, hull, without
from evoharness.samples.timeline import Text
from evoharness.samples.vocabulary import FIELDS, NUMBERS, field_named, is_plural, wrong_with

WINDOW = 30.0
"""The first reading after a step card counts as belonging to it when it is at most this many seconds away."""


def text_drafts(facts: Facts) -> Iterator[Draft]:
    """All drafts of this module."""
    yield from _readings(facts)
    yield from _blinks(facts)
    yield from _stops(facts)
    yield from _topic(facts)


def _other_readings(facts: Facts, reading: Text) -> tuple[str, ...]:
    """Other readings of the same quantity, made up where the video has too few."""
    name, value, unit = reading.text.split(" ", 2)
    real = [t.text for t in facts.texts("reading")]
    low, high = field_named(facts.timeline.field).quantity(reading.text)
    made = [
        f"{name} {low + (int(value) - low + i * 37 * (high - low) // 100) % (high - low + 1)} {unit}"
        for i in (1, 2, 3, 5)
    ]
    same = [text for text in real if text.startswith(f"{name} ")]
    return without(same if len(same) > 3 else [*same, *made], reading.text)


def _readings(facts: Facts) -> Iterator[Draft]:
    readings = facts.texts("reading")
    for chapter in facts.steps:
        step = facts.step_text(chapter)
        after = [r for r in readings if r.interval.start >= chapter.card.end]
        if after and after[0].interval.start - chapter.card.end <= WINDOW:
            reading = after[0]
            yield Draft(
                QuestionKind.TEMPORAL_ORDER,
                "reading_after_step",
                FineType.TEMPORAL_AFTER,
                (
                    f'Which measurement is the first to be shown after the card "{step.text}"?',
                    f'What is the first value to be read once the step "{step.text}" has been announced?',
                    f'After "{step.text}" has been announced, which reading comes first?',
                ),
                reading.text,
                _other_readings(facts, reading),
                reading.interval,
                (reading.id, step.id),
                "window",
            )
        before = [r for r in readings if r.interval.end <= chapter.card.start]
        if before and chapter.card.start - before[-1].interval.end <= WINDOW:
            reading = before[-1]
            yield Draft(
                QuestionKind.TEMPORAL_ORDER,
                "reading_before_step",
                FineType.TEMPORAL_BEFORE,
                (
                    f'Which measurement is the last to be shown before the card "{step.text}"?',
                    f'Just before the step "{step.text}" is announced, a value is shown. Which one?',
                    f'What is the last reading before "{step.text}" is announced?',
                ),
                reading.text,
                _other_readings(facts, reading),
                reading.interval,
                (reading.id, step.id),
                "window",
            )
    for reading in readings:
        where = facts.chapter_of(reading.interval.start)
        if where is not None and sum(r.text == reading.text for r in readings) == 1:
            step = facts.step_text(where)
            yield Draft(
                QuestionKind.RETRIEVAL_LOCALIZATION,
                "reading_step",
                FineType.SEGMENT_CONTENT,
                (
                    f'During which step is the value "{reading.text}" shown?',
                    f'To which step does the reading "{reading.text}" belong?',
                ),
                step.text,
                facts.other_steps(where),
                reading.interval,
                (reading.id, step.id),
                "small" if reading.faint else "",
            )


def _blinks(facts: Facts) -> Iterator[Draft]:
    blinks = facts.texts("blink")
    nouns = dict.fromkeys(b.text.rsplit(" ", 1)[0] for b in blinks)
    made = [f"{noun} {number}" for noun in nouns for number in NUMBERS]
    for blink in blinks:
        others = without(made, blink.text)
        where = facts.chapter_of(blink.interval.start)
        if where is not None:
            step = facts.step_text(where)
            inside = [b for b in blinks if facts.chapter_of(b.interval.start) is where]
            if inside == [blink]:
                yield Draft(
                    QuestionKind.ENTITIES_ATTRIBUTES,
                    "blink_in_step",
                    FineType.CASE_SPECIFIC,
                    (
                        f'Which text blinks up for a moment during the step "{step.text}"?',
                        f'In the step "{step.text}" a text is there for a moment. What does it say?',
                    ),
                    blink.text,
                    others,
                    blink.interval,
                    (blink.id, step.id),
                    "brief",
                )
        if len(blinks) > 1 and sum(b.text == blink.text for b in blinks) == 1:
            yield Draft(
                QuestionKind.RETRIEVAL_LOCALIZATION,
                "blink_time",
                FineType.SEGMENT_CONTENT,
                (
                    f'At about what time does the text "{blink.text}" blink up?',
                    f'When can "{blink.text}" be read for a moment?',
                ),
                clock(blink.interval.start),
                facts.other_times(blink.interval.start),
                blink.interval,
                (blink.id,),
                "brief",
            )
        before = [t for t in facts.things if t.last <= blink.interval.start]
        last = max(before, key=lambda t: t.last, default=None)
        if last is None or not facts.alone(last) or blink.interval.start - last.last > 8:
            continue
        if len(last.shown) > 1 or any(
            last.last <= t.interval.start < blink.interval.start
            for t in facts.texts("step", "label", "reading", "blink")
        ):
            continue
        yield Draft(
            QuestionKind.TEMPORAL_ORDER,
            "blink_after_thing",
            FineType.TEMPORAL_AFTER,
            (
                f"Which text blinks up right after the {facts.names(last)[-1]} has gone?",
                f"The {facts.names(last)[-1]} goes, and then a text is there for a moment. What does it say?",
            ),
            blink.text,
            others,
            blink.interval,
            (blink.id, last.id),
            "brief",
        )


def _stops(facts: Facts) -> Iterator[Draft]:
    stops = facts.texts("stop")
    work = field_named(facts.timeline.field)
    reasons = [stop.text.removeprefix("Stop: ") for stop in stops]
    for stop, reason in zip(stops, reasons, strict=True):
        thing = next(t for t in work.things if reason.startswith(f"the {t} "))
        trouble = reason.removeprefix(f"the {thing} ")
        if sum(r.startswith(f"the {thing} ") for r in reasons) == 1:
            pronoun = "they" if is_plural(thing) else "it"
            troubles = [wrong_with(thing, t) for t in work.troubles]
            yield Draft(
                QuestionKind.CAUSAL,
                "stop_trouble",
                FineType.CASE_SPECIFIC,
                (
                    f"There is a stop because of the {thing}. What is wrong?",
                    f"What is wrong with the {thing} when the work has to stop?",
                ),
                f"{pronoun} {trouble}",
                tuple(f"{pronoun} {t}" for t in troubles if t != trouble),
                stop.interval,
                (stop.id,),
            )
        where = facts.chapter_of(stop.interval.start)
        if where is None or [s for s in stops if facts.chapter_of(s.interval.start) is where] != [stop]:
            continue
        step = facts.step_text(where)
        yield Draft(
            QuestionKind.CAUSAL,
            "stop_reason",
            FineType.SEGMENT_CONTENT,
            (
                f'Why is the work stopped during the step "{step.text}"?',
                f'For what reason is there a stop in the step "{step.text}"?',
            ),
            reason,
            without([f"the {t} {wrong_with(t, w)}" for t in work.things for w in work.troubles], reason),
            stop.interval,
            (stop.id, step.id),
        )


def _topic(facts: Facts) -> Iterator[Draft]:
    title = next(iter(facts.texts("title")), None)
    if title is None:
        return
    work = field_named(facts.timeline.field)
    yield Draft(
        QuestionKind.TOPIC,
        "title",
        FineType.LONG_RANGE_TEMPORAL,
        ("What is the recording about?", "Which title fits the recording?", "What is shown being done here?"),
        title.text,
        tuple(t for f in FIELDS for t in f.titles if t != title.text),
        title.interval,
        (title.id,),
    )
    yield Draft(
        QuestionKind.TOPIC,
        "field",
        FineType.LONG_RANGE_TEMPORAL,
        ("To which field does the work in the recording belong?", "What kind of work do the steps describe?"),
        work.name,
        tuple(f.name for f in FIELDS if f is not work),
        hull([chapter.interval for chapter in facts.steps]),
        (title.id, *(facts.step_text(c).id for c in facts.steps)),
    )
