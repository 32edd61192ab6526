"""Summaries without a model: neighbouring segments that are alike, sentences that stand for the rest."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evoharness.models.embedded.english import content_terms, quoted
from evoharness.models.reasoning_tasks import SegmentGroup, SegmentGroups

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

_LARGEST_GROUP = 8
_LABEL_WORDS = 4


def group_segments(summaries: Sequence[str], embedder: "Embedder") -> SegmentGroups:
    """Cut the row of segments where neighbours are least alike; every segment is in exactly one group."""
    if not summaries:
        return SegmentGroups(groups=())
    vectors = embedder.embed(list(summaries))
    likeness = [float(one @ other) for one, other in pairwise(vectors)]
    level = float(np.mean(likeness) - 0.5 * np.std(likeness)) if likeness else 0.0
    bounds = [0]
    for position, value in enumerate(likeness, start=1):
        if value < level or position - bounds[-1] >= _LARGEST_GROUP:
            bounds.append(position)
    ends = [bound - 1 for bound in bounds[1:]] + [len(summaries) - 1]
    return SegmentGroups(
        groups=tuple(
            _group(summaries, vectors, first, last) for first, last in zip(bounds, ends, strict=True)
        )
    )


def _group(summaries: Sequence[str], vectors: NDArray[np.float32], first: int, last: int) -> SegmentGroup:
    members = summaries[first : last + 1]
    counted: Counter[str] = Counter()
    for member in members:
        counted.update(dict.fromkeys((quote for quote in quoted(member)), 1))
    if counted:
        label = "; ".join(text for text, _ in counted.most_common(2))
    else:
        words: Counter[str] = Counter(
            word for member in members for word in member.split() if content_terms(word)
        )
        label = " ".join(word.strip(".,;:\"'") for word, _ in words.most_common(_LABEL_WORDS))
    middle = vectors[first : last + 1].mean(axis=0)
    central = members[int(np.argmax(vectors[first : last + 1] @ middle))]
    return SegmentGroup(label=label or f"part {first + 1}", description=central, first=first, last=last)


def representative(sentences: Sequence[str], embedder: "Embedder", most: int = 5) -> tuple[str, ...]:
    """The sentences that together stand best for all, in their own order (maximal marginal relevance)."""
    distinct = list(dict.fromkeys(sentence.strip() for sentence in sentences if sentence.strip()))
    if len(distinct) <= most:
        return tuple(distinct)
    vectors = embedder.embed(distinct)
    central = vectors @ vectors.mean(axis=0)
    chosen: list[int] = []
    while len(chosen) < most:
        repeated = (
            (vectors @ vectors[chosen].T).max(axis=1) if chosen else np.zeros(len(distinct), dtype=np.float32)
        )
        value = central - 0.5 * repeated
        value[chosen] = -np.inf
        chosen.append(int(np.argmax(value)))
    return tuple(distinct[index] for index in sorted(chosen))
