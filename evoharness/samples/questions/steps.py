"""Questions about the steps: what they hold, how they follow one another, how many there are."""

import itertools
from collections.abc import Iterator

from evoharness.records.interval import Interval
from evoharness.records.question import FineType, QuestionKind
from evoharness.samples.questions.draft import Draft, Facts, clock, hull, times_apart, without
from evoharness.samples.timeline import Chapter


def step_drafts(facts: Facts) -> Iterator[Draft]:
    """All drafts of this module."""
    yield from _things_by_step(facts)
    yield from _steps(facts)


def _things_by_step(facts: Facts) -> Iterator[Draft]:
    """Things next to a step card, and things inside a step."""
    things = [t for t in facts.things if len(t.shown) == 1]
    for chapter in facts.steps:
        step = facts.step_text(chapter)
        inside = [t for t in facts.things if any(facts.chapter_of(s.start) is chapter for s in t.shown)]
        names = tuple(f"the {t.name}" for t in inside)
        if not inside:
            continue
        first = min(inside, key=lambda t: min(s.start for s in t.shown if s.start >= chapter.card.end))
        last = max(inside, key=lambda t: max(s.end for s in t.shown if s.end <= chapter.interval.end))
        if first in things and facts.alone(first) and first.role not in ("pair", "odd", "labelled"):
            yield Draft(
                QuestionKind.TEMPORAL_ORDER,
                "thing_after_step",
                FineType.TEMPORAL_AFTER,
                (
                    f'Which coloured thing is the first to be seen after the card "{step.text}"?',
                    f'After "{step.text}" has been announced, what appears first?',
                ),
                f"the {first.name}",
                facts.other_names(first),
                first.shown[0],
                (first.id, step.id),
                "window",
            )
        following = [c for c in facts.steps if c.number == chapter.number + 1]
        if (
            following
            and last in things
            and facts.alone(last)
            and last.role not in ("pair", "odd", "labelled", "toucher", "touched")
        ):
            ahead = facts.step_text(following[0])
            own = [n for n in facts.names(last) if n != last.name]
            if not own:
                yield Draft(
                    QuestionKind.TEMPORAL_ORDER,
                    "thing_before_step",
                    FineType.TEMPORAL_BEFORE,
                    (
                        f'Which coloured thing is the last to be seen before the card "{ahead.text}"?',
                        f'What is the last thing to be seen before "{ahead.text}" is announced?',
                    ),
                    f"the {last.name}",
                    facts.other_names(last),
                    last.shown[0],
                    (last.id, ahead.id),
                    "window",
                )
        for thing in inside:
            if thing in things and facts.alone(thing) and not thing.brief:
                yield Draft(
                    QuestionKind.ENTITIES_ATTRIBUTES,
                    "thing_in_step",
                    FineType.SEGMENT_CONTENT,
                    (
                        f'Which of these is seen during the step "{step.text}"?',
                        f'What can be seen between the card "{step.text}" and the card that follows it?',
                    ),
                    f"the {thing.name}",
                    without(facts.other_names(thing), *names),
                    thing.shown[0],
                    (thing.id, step.id),
                )
                yield Draft(
                    QuestionKind.RETRIEVAL_LOCALIZATION,
                    "step_of_thing",
                    FineType.SEGMENT_CONTENT,
                    (
                        f"During which step does the {thing.name} appear?",
                        f"The {thing.name} is shown in one of the steps. In which one?",
                    ),
                    step.text,
                    facts.other_steps(chapter),
                    thing.shown[0],
                    (thing.id, step.id),
                )


def _steps(facts: Facts) -> Iterator[Draft]:
    steps = facts.steps
    for chapter, following in itertools.pairwise(steps):
        one, two = facts.step_text(chapter), facts.step_text(following)
        others = facts.other_steps(chapter, following)
        yield Draft(
            QuestionKind.TEMPORAL_ORDER,
            "step_next",
            FineType.TEMPORAL_AFTER,
            (
                f'Which step comes directly after "{one.text}"?',
                f'What is to be done next after "{one.text}"?',
            ),
            two.text,
            others,
            following.card,
            (two.id, one.id),
        )
        yield Draft(
            QuestionKind.TEMPORAL_ORDER,
            "step_previous",
            FineType.TEMPORAL_BEFORE,
            (
                f'Which step comes directly before "{two.text}"?',
                f'What has been done just before "{two.text}"?',
            ),
            one.text,
            others,
            chapter.card,
            (one.id, two.id),
        )
    for chapter in steps:
        step = facts.step_text(chapter)
        yield Draft(
            QuestionKind.RETRIEVAL_LOCALIZATION,
            "step_time",
            FineType.SEGMENT_CONTENT,
            (
                f'At about what time is the step "{step.text}" announced?',
                f'When does the card "{step.text}" come up?',
            ),
            clock(chapter.card.start),
            times_apart(chapter.card.start, [c.card.start for c in steps]),
            chapter.card,
            (step.id,),
        )
    numbers = [facts.step_text(c).number or 0 for c in steps]
    missing = sorted(set(range(numbers[0], numbers[-1])) - set(numbers)) if numbers else []
    ids = tuple(facts.step_text(c).id for c in steps)
    everything = hull([chapter.interval for chapter in steps])
    if len(missing) == 1:
        yield Draft(
            QuestionKind.ANOMALY,
            "missing_number",
            FineType.FINDING,
            (
                "The numbers of the steps have a gap. Which number is missing?",
                "Which step number is skipped?",
            ),
            str(missing[0]),
            tuple(str(n) for n in numbers[2:-1]),
            everything,
            ids,
        )
    if len(steps) >= 4:
        yield from _sums(facts, steps, everything, ids)


def _sums(facts: Facts, steps: list[Chapter], everything: Interval, ids: tuple[str, ...]) -> Iterator[Draft]:
    count = len(steps)
    # four numbers in a row, of which any may be the right one
    lowest = count - (facts.timeline.seed + facts.timeline.index + int(steps[0].card.start)) % 4
    yield Draft(
        QuestionKind.COUNTING,
        "step_count",
        FineType.LONG_RANGE_TEMPORAL,
        ("How many step cards are shown in all?", "How many steps does the recording announce?"),
        str(count),
        tuple(str(n) for n in range(lowest, lowest + 4) if n != count),
        everything,
        ids,
    )
    for first in range(0, count - 2, 3):
        a, b, c = (facts.step_text(s).text for s in (steps[first], steps[(first + count) // 2], steps[-1]))
        if len({a, b, c}) < 3:
            continue
        yield Draft(
            QuestionKind.SUMMARIZATION,
            "course_of_steps",
            FineType.LONG_RANGE_TEMPORAL,
            ("Which of these sums up the course of the work?", "In which order is the work done?"),
            _course(a, b, c),
            (_course(a, c, b), _course(b, a, c), _course(b, c, a), _course(c, a, b), _course(c, b, a)),
            everything,
            tuple(facts.step_text(s).id for s in (steps[first], steps[(first + count) // 2], steps[-1])),
        )


def _course(a: str, b: str, c: str) -> str:
    return f"{a}; later {b[0].lower()}{b[1:]}; in the end {c[0].lower()}{c[1:]}"
