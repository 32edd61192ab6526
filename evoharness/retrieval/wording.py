"""Texts ranked by the words that they share with a query."""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evoharness.retrieval.ranking import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.2
B = 0.75
ARRAYS = ("words", "starts", "holders", "scores", "texts")
"""Names of the arrays that `arrays` gives."""


class WordRanking:
    """BM25 (k1 1.2, b 0.75): the score of each word in each text is computed once, and summed for a query."""

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        starts: "NDArray[np.int64]",
        holders: "NDArray[np.int32]",
        scores: "NDArray[np.float32]",
        texts: int,
    ) -> None:
        """Word `w` scores `scores[starts[w]:starts[w + 1]]` in the texts `holders[…]`, of `texts` in all."""
        self._vocabulary = vocabulary
        self._starts = starts
        self._holders = holders
        self._scores = scores
        self._texts = texts

    @classmethod
    def of(cls, worded: Sequence[list[str]]) -> "WordRanking":
        """The ranking of texts, each given by its words."""
        import numpy as np

        if not any(worded):
            none = np.zeros(0, dtype=np.int32)
            return cls({}, np.zeros(1, dtype=np.int64), none, none.astype(np.float32), len(worded))
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for DEBUG when imported
        built = bm25s.BM25(k1=K1, b=B)
        built.index(worded, show_progress=False)
        # The name of no word, which bm25s gives an id of its own, is never asked for.
        vocabulary = {word: number for word, number in built.vocab_dict.items() if word}
        return cls(
            vocabulary,
            built.scores["indptr"].astype(np.int64),
            built.scores["indices"].astype(np.int32),
            built.scores["data"].astype(np.float32),
            len(worded),
        )

    def best(self, asked: Sequence[str], k: int) -> list[Hit]:
        """At most `k` texts that share a word with those asked for, best first, then by position."""
        import numpy as np

        known = [self._vocabulary[word] for word in asked if word in self._vocabulary]
        if not known or k < 1:
            return []
        sums = np.zeros(self._texts, dtype=np.float32)
        for word in known:
            some = slice(self._starts[word], self._starts[word + 1])
            sums[self._holders[some]] += self._scores[some]
        found = np.flatnonzero(sums > 0)
        if len(found) > k:
            least = np.partition(sums[found], len(found) - k)[len(found) - k]
            above, level = found[sums[found] > least], found[sums[found] == least]
            found = np.concatenate([above, level[: k - len(above)]])
        order = np.lexsort((found, -sums[found]))
        return [Hit(int(position), float(sums[position])) for position in found[order]]

    def arrays(self) -> "dict[str, NDArray[Any]]":
        """Everything in plain arrays, to be kept."""
        import numpy as np

        # By number; a word holds no line break, and a number without a word gets an empty line.
        named = dict.fromkeys(range(len(self._starts) - 1), "")
        named.update({number: word for word, number in self._vocabulary.items()})
        lines = "\n".join(named.values()).encode("utf-8", "surrogatepass")
        return {
            "words": np.frombuffer(lines, dtype=np.uint8),
            "starts": self._starts,
            "holders": self._holders,
            "scores": self._scores,
            "texts": np.asarray(self._texts, dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: "Mapping[str, NDArray[Any]]") -> "WordRanking":
        """What `arrays` gave; ValueError or KeyError when it does not fit together."""
        lines = arrays["words"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        vocabulary = {word: number for number, word in enumerate(lines) if word}
        starts, holders, scores = arrays["starts"], arrays["holders"], arrays["scores"]
        texts = int(arrays["texts"])
        fits = (
            len(holders) == len(scores) == starts[-1]
            and (not vocabulary or max(vocabulary.values()) < len(starts) - 1)
            and (not len(holders) or 0 <= holders.min() <= holders.max() < texts)
        )
        if not fits:
            raise ValueError("the arrays of a ranking by words do not fit together")
        return cls(vocabulary, starts, holders, scores, texts)
