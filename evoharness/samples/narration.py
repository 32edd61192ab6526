"""Subtitles: a presenter who talks about the steps and now and then gives something away."""

import random
from collections.abc import Iterator

from evoharness.records.interval import Interval
from evoharness.samples.timeline import Timeline
from evoharness.samples.vocabulary import with_article

OPENINGS = (
    "Now we {step}.",
    "Next, {step}.",
    "Let us {step}.",
    "The next thing is to {step}.",
    "Here you {step}.",
)
FILLERS = (
    "Take your time with this.",
    "This is where most people hurry.",
    "I have done this many times and still check twice.",
    "You will get better at it with practice.",
    "Nothing to worry about so far.",
    "Keep your eyes open here.",
)


def narration(timeline: Timeline) -> str:
    """What is said, as the content of an .srt file."""
    rng = random.Random(f"narration {timeline.seed} {timeline.index}")
    cues = sorted(_cues(timeline, rng), key=lambda cue: cue[0].start)
    kept: list[tuple[Interval, str]] = []
    for span, words in cues:
        if not kept or span.start >= kept[-1][0].end:
            kept.append((span, words))
    return "".join(
        f"{number}\n{_stamp(span.start)} --> {_stamp(span.end)}\n{words}\n\n"
        for number, (span, words) in enumerate(kept, start=1)
    )


def _cues(timeline: Timeline, rng: random.Random) -> Iterator[tuple[Interval, str]]:
    def cue(start: float, words: str) -> tuple[Interval, str]:
        seconds = 1.2 + 0.06 * len(words)
        start = min(start, timeline.duration)
        return Interval(start=start, end=min(timeline.duration, start + seconds)), words

    for text in timeline.texts:
        if text.role == "title":
            yield cue(text.interval.start + 0.4, f"Welcome. Today: {text.text[0].lower()}{text.text[1:]}.")
        elif text.role == "step" and not text.text.startswith("Step "):
            sentence = text.text[0].lower() + text.text[1:]
            yield cue(text.interval.start + 0.3, rng.choice(OPENINGS).format(step=sentence))
        elif text.role == "reading" and rng.random() < 0.3:
            yield cue(text.interval.start + 0.3, f"The reading is {text.text[0].lower()}{text.text[1:]}.")
        elif text.role == "stop" and rng.random() < 0.3:
            yield cue(text.interval.start, f"We have to stop, because {text.text.removeprefix('Stop: ')}.")
    for thing in timeline.things:
        if thing.role in ("flash", "visitor", "labelled", "host") and rng.random() < 0.15:
            yield cue(thing.first + 0.5, f"Did you see that? {with_article(thing.name).capitalize()}.")
    for chapter in timeline.chapters[1:-1]:
        if rng.random() < 0.6:
            yield cue(
                rng.uniform(chapter.card.end + 1, max(chapter.card.end + 2, chapter.interval.end - 3)),
                rng.choice(FILLERS),
            )


def _stamp(seconds: float) -> str:
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"
