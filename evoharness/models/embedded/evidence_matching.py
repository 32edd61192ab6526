"""How well a phrase fits each statement: shared words by rarity, word pairs in order, spelling, and meaning.

Rarity is measured over the evidence itself. A word of the phrase counts fully when a statement has it, partly
when it has a related word or one that may be the same word misread; numbers agree fully or not at all. The
cosine of sentence embeddings adds what words alone do not show.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evoharness.models.embedded.english import (
    RELATED,
    Words,
    read_words,
    spelling_closeness,
)
from evoharness.models.embedded.spelling import string_closeness
from evoharness.models.embedded.statements import Statement

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

Scores = NDArray[np.float64]

_PAIR_WEIGHT = 0.35
"""Weight of two neighbouring words of the phrase standing in the same order, beside their mean rarity."""
_PAIR_REACH = 3
_COSINE_SHARE = 0.2
_LEAST_COSINE = 0.15
_WRONG_NUMBER = 0.3
_OTHER_READING = 0.9
_QUOTE_SHARE = 0.7
_SAME_QUOTE = 0.8
_NEARLY_QUOTED = 0.8
_LONGEST_QUOTE = 80


class EvidenceMatcher:
    """Statements, indexed by their words."""

    def __init__(self, statements: Sequence[Statement], embedder: "Embedder") -> None:
        self.statements = tuple(statements)
        self.embedder = embedder
        self.words: tuple[Words, ...] = tuple(read_words(statement.text) for statement in self.statements)
        self._holders: dict[str, dict[int, float]] = {}
        self._pairs: dict[tuple[str, str], list[int]] = {}
        self._numbered: NDArray[np.bool_] = np.zeros(len(self.statements), dtype=bool)
        for index, words in enumerate(self.words):
            for position, term in enumerate(words.terms):
                self._holders.setdefault(term, {})[index] = 1.0
                for other in words.terms[position + 1 : position + 1 + _PAIR_REACH]:
                    self._pairs.setdefault((term, other), []).append(index)
            for term in words.readings:
                self._holders.setdefault(term, {}).setdefault(index, _OTHER_READING)
            self._numbered[index] = any(term.isdigit() for term in words.terms)
        self._fitting: dict[str, tuple[NDArray[np.intp], Scores]] = {}
        self._similarity: dict[str, Scores] = {}
        self._quotations: dict[str, Scores] = {}

    def __len__(self) -> int:
        return len(self.statements)

    @cached_property
    def starts(self) -> Scores:
        """Start of each statement in seconds; NaN without a time."""
        return np.array([math.nan if item.start is None else item.start for item in self.statements])

    @cached_property
    def ends(self) -> Scores:
        """End of each statement in seconds; NaN without a time."""
        return np.array([math.nan if item.end is None else item.end for item in self.statements])

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        return self.embedder.embed([statement.text for statement in self.statements])

    def rarity(self, term: str) -> float:
        """Inverse document frequency over the statements."""
        indices, _ = self._fits(term)
        return math.log(1 + (len(self.statements) + 1) / (0.5 + len(indices)))

    def known(self, term: str) -> bool:
        """Whether any statement has the word, or one that may stand for it."""
        return len(self._fits(term)[0]) > 0

    def _fits(self, term: str) -> tuple[NDArray[np.intp], Scores]:
        kept = self._fitting.get(term)
        if kept is not None:
            return kept
        fitting = dict(self._holders.get(term, {}))
        for other, closeness in RELATED.get(term, {}).items():
            for index in self._holders.get(other, ()):
                fitting[index] = max(fitting.get(index, 0.0), closeness)
        if term not in self._holders and len(term) >= 4 and not term.isdigit():
            for other, holders in self._holders.items():
                closeness = spelling_closeness(term, other)
                if closeness > 0.7:
                    for index in holders:
                        fitting[index] = max(fitting.get(index, 0.0), closeness)
        indices = np.fromiter(fitting.keys(), dtype=np.intp, count=len(fitting))
        values = np.fromiter(fitting.values(), dtype=np.float64, count=len(fitting))
        self._fitting[term] = (indices, values)
        return indices, values

    def cosine(self, phrase: str) -> Scores:
        """Similarity of meaning of the phrase to each statement, 0 to 1."""
        kept = self._similarity.get(phrase)
        if kept is None:
            vector = self.embedder.embed([phrase])[0]
            kept = np.clip((self._vectors @ vector).astype(np.float64), 0.0, 1.0)
            self._similarity[phrase] = kept
        return kept

    def match(self, phrase: str, weights: Mapping[str, float] | None = None, unknown: float = 1.0) -> Scores:
        """Fit of the phrase to each statement, 0 to 1, of shape (statements,).

        `weights` lowers or raises single stems of the phrase, `unknown` those that no statement has: a phrase
        that is to be found wherever it is best told is not worse for words that nobody uses.
        """
        terms = read_words(phrase).terms
        count = len(self.statements)
        if not count:
            return np.zeros(0)
        words = self.words_match(terms, weights, unknown)
        if not terms:
            return words
        cosine = self.cosine(phrase)
        meaning = np.where(cosine > _LEAST_COSINE, cosine, 0.0)
        fit = (1 - _COSINE_SHARE) * words + _COSINE_SHARE * meaning
        for quote in read_words(phrase).quotes:
            same = self._quoting(quote)
            if same.any():
                fit = np.where(same > 0, _QUOTE_SHARE * same + (1 - _QUOTE_SHARE) * fit, 0.6 * fit)
        return self._prefer_same(phrase, fit)

    def _prefer_same(self, phrase: str, fit: Scores) -> Scores:
        """What a statement quotes word for word before what it quotes with words more or less."""
        same = self._quoting(phrase.strip(" .\"'“”")) if len(phrase) <= _LONGEST_QUOTE else None
        if same is None or not same.any():
            return fit
        quoting = np.array([bool(words.quotes) for words in self.words])
        return np.where(same > 0, np.maximum(fit, same), np.where(quoting, _NEARLY_QUOTED * fit, fit))

    def _quoting(self, quote: str) -> Scores:
        """How surely each statement quotes the same string; 0 where it does not."""
        kept = self._quotations.get(quote)
        if kept is None:
            kept = np.zeros(len(self.statements))
            for index, words in enumerate(self.words):
                for other in words.quotes:
                    closeness = string_closeness(quote, other)
                    if closeness >= _SAME_QUOTE:
                        kept[index] = max(kept[index], closeness)
            self._quotations[quote] = kept
        return kept

    def words_match(
        self, terms: Sequence[str], weights: Mapping[str, float] | None = None, unknown: float = 1.0
    ) -> Scores:
        """The share of the terms, weighted by rarity, that each statement has; 0 to 1."""
        total, got = 0.0, np.zeros(len(self.statements))
        previous: tuple[str, float] | None = None
        seen: set[str] = set()
        wrong = np.zeros(len(self.statements), dtype=bool)
        for term in terms:
            weight = self.rarity(term) * (weights.get(term, 1.0) if weights else 1.0)
            indices, values = self._fits(term)
            if not len(indices):
                weight *= unknown
            if term not in seen:
                seen.add(term)
                total += weight
                got[indices] += weight * values
                if term.isdigit():
                    lacking = self._numbered.copy()
                    lacking[indices] = False
                    wrong |= lacking
            if previous is not None and previous[0] != term:
                pair = _PAIR_WEIGHT * (weight + previous[1]) / 2
                total += pair
                holders = self._pairs.get((previous[0], term))
                if holders:
                    got[list(set(holders))] += pair
            previous = (term, weight)
        if total <= 0:
            return got
        got /= total
        got[wrong] *= _WRONG_NUMBER
        return got
