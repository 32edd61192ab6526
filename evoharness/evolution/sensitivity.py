"""Which parameters matter: each λ is moved one step down and one step up, and answers are compared.

A parameter may be inert for a set of videos without being useless: an overview of 300 s at 1 frame/s
already meets a cap of 192 frames, so a higher rate changes nothing there.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evoharness.evolution.proposing import Answer
from evoharness.records.base import Record
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.harness import Harness


class ParameterEffect(Record):
    """What one step of one parameter, or of one route, does."""

    subject: str
    """The parameter, or `routes`."""
    change: str
    """The step in words: `detail_fps 2.0 → 4.0`."""
    questions: int
    """Questions that both harnesses answered."""
    answers: int
    """How many of them got another answer."""
    looks: int
    """How many of them were answered from other frames."""
    delta: float
    """Change of accuracy."""


def seen_and_said(outcome: Outcome) -> tuple[object, ...]:
    """What two outcomes must share to count as the same: choice, status and the frames of every look."""
    return (outcome.answered.choice, outcome.status, *looked_at(outcome))


def looked_at(outcome: Outcome) -> tuple[tuple[str, tuple[float, ...], int], ...]:
    """Every call that showed frames: its name, their times in seconds, its tokens."""
    steps = outcome.answered.trace.steps
    return tuple((step.call, step.frame_times, step.tokens) for step in steps if step.frames)


def parameter_effects(
    harness: "Harness", questions: Sequence[Question], answer: Answer
) -> list[ParameterEffect]:
    """One effect for each step of each parameter and route, in the order of declaration."""
    # here, because the proposers compare outcomes by what this module says
    from evoharness.evolution.proposers.parameter_moves import parameter_moves

    steps = [(move, move.apply(harness)) for move in parameter_moves(harness)]
    applied = [(move, changed) for move, changed in steps if changed is not None]
    outcomes = answer([harness, *(changed for _, changed in applied)], questions)
    before = outcomes[harness.fingerprint]
    effects = []
    for move, changed in applied:
        after = outcomes[changed.fingerprint]
        pairs = [
            (old, new)
            for old, new in zip(before, after, strict=True)
            if old.reward is not None and new.reward is not None
        ]
        gain = sum((new.reward or 0.0) - (old.reward or 0.0) for old, new in pairs)
        effects.append(
            ParameterEffect(
                subject=move.subject,
                change=move.title,
                questions=len(pairs),
                answers=sum(old.answered.choice != new.answered.choice for old, new in pairs),
                looks=sum(looked_at(old) != looked_at(new) for old, new in pairs),
                delta=gain / len(pairs) if pairs else 0.0,
            )
        )
    return effects


def inert(effects: Sequence[ParameterEffect]) -> list[str]:
    """Parameters of which no step changed any answer, sorted."""
    subjects = {effect.subject for effect in effects}
    return sorted(subjects - {effect.subject for effect in effects if effect.answers})
