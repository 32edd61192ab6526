"""How much remarks bear on a prompt: shared words, words that stand for each other, and embeddings."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evoharness.models.embedded.english import RELATED, quoted, read_words, spelling_closeness
from evoharness.models.embedded.remarks import Remark

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
    terms = {text: set(read_words(text).terms) for text in unique}
    seen = Counter(term for text in unique for term in terms[text])
    rarity = {term: 1 + math.log((1 + len(unique)) / (1 + seen[term])) for term in asked}
    quotes = [quote.casefold() for quote in quoted(prompt)]
    words = {text: _shared(asked, terms[text], rarity) for text in unique}
    scores = []
    for remark in remarks:
        score = 0.65 * words[remark.text] + 0.35 * max(0.0, cosines[remark.text])
        if quotes and any(quote in remark.text.casefold() for quote in quotes):
            score += 0.4
        scores.append(round(min(1.0, score) + 0.05 * remark.weight, 5))
    return scores


def _shared(asked: Sequence[str], present: set[str], rarity: dict[str, float]) -> float:
    """Share of the asked words, rare ones counting more, that a text has, or has something like."""
    total = sum(rarity.values())
    got = sum(rarity[term] * _closeness(term, present) for term in asked)
    size = 1 + 0.02 * len(present)
    return (got / total) ** 0.7 / size if total else 0.0


def _closeness(term: str, present: set[str]) -> float:
    if term in present:
        return 1.0
    related = RELATED.get(term, {})
    best = max((related.get(other, 0.0) for other in present), default=0.0)
    if best < 0.8 and len(term) >= 4:
        best = max(best, max((0.9 * spelling_closeness(term, other) for other in present), default=0.0))
    return best
