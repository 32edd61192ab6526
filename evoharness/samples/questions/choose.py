"""Choose questions of all kinds from the drafts, and give them their options."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from evoharness.records.interval import Interval
from evoharness.records.question import Question, QuestionKind
from evoharness.samples.questions.brief import brief_drafts
from evoharness.samples.questions.changes import change_drafts
from evoharness.samples.questions.draft import Draft, Facts, clock
from evoharness.samples.questions.order import order_drafts
from evoharness.samples.questions.steps import step_drafts
from evoharness.samples.questions.texts import text_drafts
from evoharness.samples.questions.things import thing_drafts
from evoharness.samples.timeline import Chapter, Timeline

OPTIONS = 4
SHARES: dict[QuestionKind, float] = {
    QuestionKind.COUNTING: 4,
    QuestionKind.ENTITIES_ATTRIBUTES: 5.5,
    QuestionKind.ACTIONS_EVENTS: 4,
    QuestionKind.SPATIAL: 4,
    QuestionKind.TEMPORAL_ORDER: 4.5,
    QuestionKind.RETRIEVAL_LOCALIZATION: 4,
    QuestionKind.CAUSAL: 1.5,
    QuestionKind.TOPIC: 0.6,
    QuestionKind.ANOMALY: 1.2,
    QuestionKind.SUMMARIZATION: 1.2,
}
"""How the kinds share the questions of a video, as far as it has drafts of each."""
LONG, STRETCH = 720.0, 330.0
"""From how many seconds on a recording is asked about in stretches, and how long these are."""
DEMANDING, WITHOUT_TEXT = 0.75, 0.5
"""Shares aimed at: demanding questions, and questions for which nothing need be read."""


def make_questions(timeline: Timeline, rng: random.Random, count: int) -> list[Question]:
    """Up to `count` multiple-choice questions from a timeline alone, K = 4, positions balanced.

    `support` holds ids of the timeline (`text/3`, `object/5`, `event/7`), what a question mentions
    included: one with no `text/…` needs no reading. `form` is `name` or `name/demand`, where the demand
    says what makes it hard (see `demand_of`).
    """
    chosen = _choose(all_drafts(timeline), rng, count)
    rng.shuffle(chosen)
    positions: list[int] = []
    while len(positions) < len(chosen):
        positions += rng.sample(range(OPTIONS), OPTIONS)
    return [
        _question(timeline, draft, rng, at, n)
        for n, (draft, at) in enumerate(zip(chosen, positions, strict=False))
    ]


def all_drafts(timeline: Timeline) -> list[Draft]:
    """Every question that can be asked: about the whole recording, and of a long one about each stretch."""
    drafts = list(_drafts(timeline))
    for stretch in stretches(timeline):
        start, end = stretch.chapters[0].interval.start, stretch.chapters[-1].interval.end
        for draft in _drafts(stretch):
            asked = tuple(
                f"Between {clock(start)} and {clock(end)}, {wording[0].lower()}{wording[1:]}"
                for wording in draft.wordings
            )
            drafts.append(replace(draft, wordings=asked))
    return drafts


def _drafts(timeline: Timeline) -> Iterator[Draft]:
    facts = Facts(timeline)
    for make in (brief_drafts, thing_drafts, change_drafts, step_drafts, text_drafts, order_drafts):
        for draft in make(facts):
            if len(set(draft.others) - {draft.answer}) >= OPTIONS - 1:
                yield draft


def stretches(timeline: Timeline) -> list[Timeline]:
    """A long recording cut between steps into parts of some minutes; none for a short one.

    In an hour every colour and shape comes up many times; within a stretch most come up once, so that
    there is something to ask about.
    """
    if timeline.duration <= LONG:
        return []
    steps = Facts(timeline).steps
    parts: list[list[Chapter]] = [[]]
    for chapter in steps:
        if parts[-1] and chapter.interval.end - parts[-1][0].interval.start > STRETCH:
            parts.append([])
        parts[-1].append(chapter)
    return [_cut(timeline, part) for part in parts]


def _cut(timeline: Timeline, chapters: list[Chapter]) -> Timeline:
    start, end = chapters[0].interval.start, chapters[-1].interval.end

    def inside(interval: Interval) -> bool:
        return start <= interval.start and interval.end <= end

    things = []
    for thing in timeline.things:
        shown = tuple(interval for interval in thing.shown if inside(interval))
        if shown:
            things.append(thing.model_copy(update={"shown": shown}))
    return timeline.model_copy(
        update={
            "chapters": tuple(chapters),
            "texts": tuple(text for text in timeline.texts if inside(text.interval)),
            "things": tuple(things),
            "events": tuple(event for event in timeline.events if inside(event.interval)),
        }
    )


def demand_of(question: Question) -> str:
    """What makes a question of this room demanding: "brief" (an event of a second or less), "small" (print
    that needs the full size), "window" (the answer lies beside the named event); "" when nothing does."""
    return question.form.partition("/")[2]


def _choose(drafts: list[Draft], rng: random.Random, count: int) -> list[Draft]:
    """Greedy: the kind furthest behind its share, then the draft that adds most that is new."""
    left = list(drafts)
    rng.shuffle(left)
    chosen: list[Draft] = []
    kinds, forms, subjects = Counter[QuestionKind](), Counter[str](), Counter[str]()
    demands = Counter[str]()
    while left and len(chosen) < count:
        available = {draft.kind for draft in left}
        kind = min(sorted(available), key=lambda k: (kinds[k] + 0.5) / SHARES[k])
        demanding = sum(1 for d in chosen if d.demand) < DEMANDING * (len(chosen) + 1)
        seeing = sum(1 for d in chosen if not d.reads) < WITHOUT_TEXT * (len(chosen) + 1)

        def cost(draft: Draft, demanding: bool = demanding, seeing: bool = seeing) -> float:
            return (
                forms[draft.form]
                + 1.5 * subjects[draft.support[0]]
                + 0.4 * sum(subjects[s] for s in draft.support[1:]) / len(draft.support)
                - (5 - 2 * demands[draft.demand] / (1 + demands.total()) if demanding and draft.demand else 0)
                - (0.8 if seeing != draft.reads else 0)
            )

        best = min((d for d in left if d.kind == kind), key=cost)
        left.remove(best)
        if subjects[best.support[0]] >= 3:
            continue
        chosen.append(best)
        kinds[kind] += 1
        forms[best.form] += 1
        if best.demand:
            demands[best.demand] += 1
        # a question about everything uses up nothing
        subjects.update(best.support if len(best.support) <= 4 else ())
    return chosen


def _question(timeline: Timeline, draft: Draft, rng: random.Random, position: int, number: int) -> Question:
    pool = sorted(draft.others)
    rng.shuffle(pool)
    options = list(dict.fromkeys(other for other in pool if other != draft.answer))[: OPTIONS - 1]
    options.insert(position, draft.answer)
    return Question(
        id=f"{timeline.video}/q{number:03}",
        video=timeline.video,
        kind=draft.kind,
        fine_type=draft.fine_type,
        form=f"{draft.form}/{draft.demand}" if draft.demand else draft.form,
        text=rng.choice(draft.wordings),
        options=tuple(options),
        answer=position,
        reference_text=draft.answer,
        source_interval=draft.interval,
        support=draft.support,
    )
