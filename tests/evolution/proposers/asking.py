"""A strategy that answers about a real minute of video, and what the tests of its edits share."""

from typing import Protocol

from evoharness.evolution.proposers.syntax_moves import (
    Look,
)
from evoharness.harness import initial_harness
from evoharness.models.perception_tasks import InspectFrames
from evoharness.records.outcome import Answered
from evoharness.records.question import PublicQuestion
from tests.solver.standins import QUESTION, Witness

STRATEGIES = initial_harness().strategies
ASKED = QUESTION.model_copy(
    update={"text": "What happens after the red circle at 0:33?", "options": ("it leaves", "zzzz", "a map")}
)
"""Names a time, and options that are like different places."""
LOOK = Look(spans=2, before=3, after=4, fps=2, frames=20, unless=0.9)
"""Is never spared: the witness scores 0.7."""


class Ask(Protocol):
    """What came of a strategy, and the backbone that it asked."""

    def __call__(
        self, source: str, backbone: Witness | None = None, question: PublicQuestion = QUESTION
    ) -> tuple[Answered, Witness]: ...


TWO_PLACES = """
def strategy(ctx, question):
    seen = [
        {"text": "what happens after the red circle", "start": 20, "end": 22},
        {"text": "zzzz illegible", "start": 40, "end": 60},
    ]
    return ctx.answer(seen)
"""


def looked(backbone: Witness) -> list[tuple[float, float]]:
    return [(task.span.start, task.span.end) for task in backbone.of(InspectFrames)]


def empty() -> str:
    return "def strategy(ctx, question):\n    return ctx.answer([])\n"
