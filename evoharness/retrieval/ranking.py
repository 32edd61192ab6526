"""Rankings of positions, and how several become one."""

from collections.abc import Sequence
from typing import NamedTuple


class Hit(NamedTuple):
    """A text that was found."""

    position: int
    """Its position among the texts of the index."""
    score: float
    """The higher, the better; comparable within one search only."""


def fuse(rankings: Sequence[Sequence[int]], k: int = 60) -> list[Hit]:
    """Reciprocal rank fusion: each ranking (best first) gives a position 1 / (k + rank), ranks from 1.

    Best first; of equal scores the lower position comes first.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, position in enumerate(ranking, start=1):
            scores[position] = scores.get(position, 0.0) + 1 / (k + rank)
    return [Hit(p, s) for p, s in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]
