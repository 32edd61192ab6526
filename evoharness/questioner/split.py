"""Which videos the proposers may learn from, and which are for the gate only."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evoharness.records.question import Question


@dataclass(frozen=True)
class Split:
    """The questions of one round, apart by video."""

    evolution: tuple[Question, ...]
    """Proposers may learn from these."""
    validation: tuple[Question, ...]
    """Only the gate may see these."""


def split_videos(
    videos: Iterable[str], rng: random.Random, share: float = 1 / 3
) -> tuple[list[str], list[str]]:
    """Video keys for evolution and for validation: `share` of them, rounded, and at least one of two or more.

    A single video goes to evolution: nothing can then be validated.
    """
    if not 0 < share < 1:
        raise ValueError(f"the share of evolution videos must lie between 0 and 1, not {share}")
    keys = sorted(set(videos))
    rng.shuffle(keys)
    count = min(max(1, round(share * len(keys))), max(1, len(keys) - 1))
    return sorted(keys[:count]), sorted(keys[count:])


def split_by_video(questions: Sequence[Question], rng: random.Random, share: float = 1 / 3) -> Split:
    """Questions for evolution and for validation; no video has questions in both, the order is kept."""
    learning, _ = split_videos((q.video for q in questions), rng, share)
    chosen = set(learning)
    return Split(
        evolution=tuple(q for q in questions if q.video in chosen),
        validation=tuple(q for q in questions if q.video not in chosen),
    )
