"""One index over texts, for memories and knowledge alike: by meaning, by words, and fused by rank."""

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.retrieval.embedders import Embedder
from evoharness.retrieval.ranking import Hit, fuse
from evoharness.retrieval.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.retrieval.keeping import KeptIndex

POOL = 50
"""At least so many results of each ranking are fused, so that both have a say in a short answer."""
SAME_VECTOR = 0.99
"""Cosine from which on two vectors count as the same embedder's for the same text."""


def index_name(content: str, embedder: Embedder) -> str:
    """Name of the file with an index over some content by some embedder."""
    return f"{content}-{hashlib.sha256(embedder.id.encode()).hexdigest()[:8]}.index"


class TextIndex:
    """Texts that can be searched, by several threads at once; built when it is first searched.

    A text that occurs many times is embedded once. With a file, the index is kept there, and is neither
    embedded nor built anew while texts and embedder stay the same. When texts were added, only these are
    embedded; what is there of a graph is extended.
    """

    def __init__(self, texts: Sequence[str], embedder: Embedder, file: Path | None = None) -> None:
        """`file`: where the index is kept; None: nowhere."""
        self._texts = list(texts)
        self._embedder = embedder
        self._file = file
        self._building = threading.Lock()
        self._built: KeptIndex | None = None
        self._positions: list[list[int]] = []

    def __len__(self) -> int:
        return len(self._texts)

    def search(self, query: str, k: int) -> list[Hit]:
        """The `k` best positions: ranking by meaning and ranking by words (BM25), fused by rank.

        Empty for an empty index, a blank query or k below 1.
        """
        if k < 1 or not self._texts or not query.strip():
            return []
        pool = min(len(self._texts), max(POOL, 2 * k))
        near = self.prepared().meaning.near(self._embedder.embed([query]), pool)
        rankings = [
            [hit.position for hit in self._spread(near, pool)],
            [hit.position for hit in self.by_words(query, pool)],
        ]
        return fuse(rankings)[:k]

    def by_meaning(self, query: str, k: int, minimum: float = -1.0) -> list[Hit]:
        """At most `k` positions by cosine of the vectors, none below `minimum`; the score is the cosine.

        All texts are compared, however many there are.
        """
        if k < 1 or not self._texts:
            return []
        nearest = self.prepared().meaning.nearest(self._embedder.embed([query]), k)
        return self._spread([(row, score) for row, score in nearest if score >= minimum], k)

    def by_words(self, query: str, k: int) -> list[Hit]:
        """At most `k` positions that share a word with the query, by BM25 (k1 1.2, b 0.75)."""
        if k < 1 or not self._texts:
            return []
        return self.prepared().words.best(words(query), k)

    def prepared(self) -> "KeptIndex":
        """The index, read or built now if it was not yet; for at least one text."""
        with self._building:
            if self._built is None:
                self._built = self._read_or_build()
                self._positions = [[] for _ in range(len(self._built.meaning))]
                for position, row in enumerate(self._built.rows.tolist()):
                    self._positions[row].append(position)
        return self._built

    def _spread(self, found: Sequence[tuple[int, float]], k: int) -> list[Hit]:
        """The positions of the rows that were found: the higher the score, the lower the position first."""
        hits = [Hit(position, score) for row, score in found for position in self._positions[row][:k]]
        return sorted(hits, key=lambda hit: (-hit.score, hit.position))[:k]

    def _read_or_build(self) -> "KeptIndex":
        from evoharness.retrieval.keeping import digests_of, keep, kept

        digests = digests_of(self._texts)
        before = kept(self._file, self._embedder.id) if self._file is not None else None
        if before is not None and not self._is_ours(before, digests.tolist()):
            before = None
        if before is not None and before.is_of(digests):
            return before
        built = self._build(digests, before)
        if self._file is not None:
            keep(self._file, built, self._embedder.id)
        return built

    def _is_ours(self, kept: "KeptIndex", codes: Sequence[bytes]) -> bool:
        """Whether the embedder still makes such vectors: by one name, a server may serve another model."""
        row_of = {code: row for row, code in enumerate(kept.digests.tolist())}
        shared = [
            (text, row_of[code]) for text, code in zip(self._texts, codes, strict=True) if code in row_of
        ]
        if not shared:
            return False
        text, row = max(shared[:POOL], key=lambda one: len(one[0]))
        made, before = self._embedder.embed([text])[0], kept.meaning.vector(row)
        return made.shape == before.shape and bool(made @ before >= SAME_VECTOR or not made.any())

    def _build(self, digests: "NDArray[np.void]", before: "KeptIndex | None") -> "KeptIndex":
        """The index, with the vectors that are already there."""
        import numpy as np

        from evoharness.retrieval.keeping import KeptIndex
        from evoharness.retrieval.meaning import MeaningRanking
        from evoharness.retrieval.wording import WordRanking

        codes: list[bytes] = digests.tolist()
        text_of = dict(zip(codes, self._texts, strict=True))
        row_of = {code: row for row, code in enumerate(before.digests.tolist())} if before is not None else {}
        new = [code for code in text_of if code not in row_of]
        fresh = self._embedder.embed([text_of[code] for code in new]) if new else None
        if before is None:
            assert fresh is not None
            meaning, order = MeaningRanking(fresh), new
        elif row_of.keys() <= text_of.keys():
            meaning, order = before.meaning, [*row_of, *new]
            if fresh is not None:
                meaning = meaning.extended(fresh)
        else:
            same = [code for code in row_of if code in text_of]
            parts = [before.meaning.vectors()[[row_of[code] for code in same]]]
            parts += [fresh] if fresh is not None else []
            meaning, order = MeaningRanking(np.concatenate(parts)), [*same, *new]
        place = {code: row for row, code in enumerate(order)}
        return KeptIndex(
            digests=np.frombuffer(b"".join(order), dtype=digests.dtype),
            rows=np.fromiter((place[code] for code in codes), dtype=np.int32, count=len(codes)),
            meaning=meaning,
            words=WordRanking.of([words(text) for text in self._texts]),
        )
