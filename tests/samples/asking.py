"""Timelines, the questions about them, and what a question names."""

import random
import re

from evoharness.records.question import Question
from evoharness.samples import make_questions, plan_timeline
from evoharness.samples.timeline import Timeline
from evoharness.samples.vocabulary import COLOURS, SHAPES

LOOK = re.compile(rf"\b({'|'.join(COLOURS)}) ({'|'.join(SHAPES)})(?:e?s)?\b")
TIMELINES = [plan_timeline(seed, index) for seed in (3, 4) for index in range(10)]


def questions_of(timeline: Timeline, count: int = 30) -> list[Question]:
    return make_questions(timeline, random.Random(timeline.index), count)


def named(question: Question) -> list[str]:
    """Looks named in the question, in order."""
    return [f"{colour} {shape}" for colour, shape in LOOK.findall(question.text)]


def quoted(question: Question) -> str:
    found: list[str] = re.findall(r'"([^"]+)"', question.text)
    return found[0]
