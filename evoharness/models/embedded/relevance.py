"""How much remarks bear on a prompt: shared words, words that stand for each other, and embeddings."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from evoharness.models.embedded.english import quoted, read_words
from evoharness.models.embedded.remarks import Remark
from evoharness.models.embedded.spelling import spelling_closeness
from evoharness.models.embedded.vocabulary import RELATED

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

FOUND = 0.34
"""Relevance from which a remark bears on what was asked."""


def relevances(prompt: str, remarks: Sequence[Remark], embedder: "Embedder") -> list[float]:
    """Relevance of each remark to a prompt, from 0 to about 1; the weights alone when the prompt is empty."""
    if not remarks:
        return []
    asked = list(dict.fromkeys(read_words(prompt).terms))
    if not asked:
        return [remark.weight for remark in remarks]
    texts = [remark.text for remark in remarks]
    unique = list(dict.fromkeys(texts))
    vectors = embedder.embed([prompt, *unique])
    cosines = dict(zip(unique, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    quotes = [quote.casefold() for quote in quoted(prompt)]
    words = dict(zip(unique, _shared(asked, unique), strict=True))
    scores = []
    for remark in remarks:
        score = 0.65 * words[remark.text] + 0.35 * max(0.0, cosines[remark.text])
        if quotes and any(quote in remark.text.casefold() for quote in quotes):
            score += 0.4
        scores.append(round(min(1.0, score) + 0.05 * remark.weight, 5))
    return scores


def _shared(asked: Sequence[str], texts: Sequence[str]) -> list[float]:
    """For each text the share of the asked words, rare ones counting more, that it has or has the like of."""
    import numpy as np

    terms = [set(read_words(text).terms) for text in texts]
    vocabulary = {term: column for column, term in enumerate(sorted(set().union(*terms)))}
    present = np.zeros((len(texts), len(vocabulary)), np.float32)
    for row, some in enumerate(terms):
        present[row, [vocabulary[term] for term in some]] = 1.0
    seen = Counter(term for some in terms for term in some)
    total, got = 0.0, np.zeros(len(texts), np.float32)
    for term in asked:
        rarity = 1 + math.log((1 + len(texts)) / (1 + seen[term]))
        closeness = np.array([_closeness(term, other) for other in vocabulary], np.float32)
        total += rarity
        got += rarity * (present * closeness).max(axis=1, initial=0.0)
    shares = (got / max(total, 1e-9)) ** 0.7 / (1 + 0.02 * present.sum(axis=1))
    return [round(float(share), 6) for share in shares]


@lru_cache(maxsize=1 << 17)
def _closeness(term: str, other: str) -> float:
    """How far one word stands for another: the same, related in meaning, or one letter misread."""
    if term == other:
        return 1.0
    related = RELATED.get(term, {}).get(other, 0.0)
    if related < 0.8 and len(term) >= 4:
        return max(related, 0.9 * spelling_closeness(term, other))
    return related
