"""One index over texts, for memories and knowledge alike: by meaning, by words, and fused by rank."""

import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evoharness.retrieval.embedders import Embedder
from evoharness.retrieval.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

POOL = 50
"""At least so many results of each ranking are fused, so that both have a say in a short answer."""


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


class TextIndex:
    """Texts that can be searched, by several threads at once; built when it is first searched."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self._texts = list(texts)
        self._embedder = embedder
        self._building = threading.Lock()
        self._vectors: Any = None
        self._words: Any = None

    def __len__(self) -> int:
        return len(self._texts)

    def search(self, query: str, k: int) -> list[Hit]:
        """The `k` best positions: ranking by meaning and ranking by words (BM25), fused by rank.

        Empty for an empty index, a blank query or k below 1.
        """
        if k < 1 or not self._texts or not query.strip():
            return []
        pool = min(len(self._texts), max(POOL, 2 * k))
        rankings = [
            [hit.position for hit in self.by_meaning(query, pool)],
            [hit.position for hit in self.by_words(query, pool)],
        ]
        return fuse(rankings)[:k]

    def by_meaning(self, query: str, k: int, minimum: float = -1.0) -> list[Hit]:
        """At most `k` positions by cosine of the vectors, none below `minimum`; the score is the cosine."""
        if k < 1 or not self._texts:
            return []
        scores, positions = self._faiss().search(self._embedder.embed([query]), min(k, len(self._texts)))
        found = zip(positions[0].tolist(), scores[0].tolist(), strict=True)
        hits = [Hit(position, score) for position, score in found if position >= 0 and score >= minimum]
        return sorted(hits, key=lambda hit: (-hit.score, hit.position))

    def by_words(self, query: str, k: int) -> list[Hit]:
        """At most `k` positions that share a word with the query, by BM25 (k1 1.2, b 0.75)."""
        import numpy as np

        asked = words(query)
        index = self._bm25() if asked and k >= 1 and self._texts else None
        if index is None:
            return []
        scores: NDArray[np.float32] = index.get_scores(asked)
        positions = np.argsort(-scores, kind="stable")[:k]
        return [Hit(int(p), float(scores[p])) for p in positions if scores[p] > 0]

    def _faiss(self) -> Any:
        with self._building:
            if self._vectors is None:
                import faiss

                vectors = self._embedder.embed(self._texts)
                index = faiss.IndexFlatIP(vectors.shape[1])
                index.add(vectors)
                self._vectors = index
        return self._vectors

    def _bm25(self) -> Any | None:
        """The index of words; None when the texts have none."""
        with self._building:
            if self._words is None:
                import bm25s

                logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for DEBUG when imported
                tokens = [words(text) for text in self._texts]
                self._words = False
                if any(tokens):
                    self._words = bm25s.BM25(k1=1.2, b=0.75)
                    self._words.index(tokens, show_progress=False)
        return self._words or None
