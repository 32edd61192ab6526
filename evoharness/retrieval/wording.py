"""Texts ranked by the words that they share with a query."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evoharness.retrieval.ranking import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.2
B = 0.75
COMMON = 5_000
"""Texts that hold a word, from which on it pays to see whether they all have to be looked at."""
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
        import numpy as np

        self._vocabulary = vocabulary
        self._starts = starts
        self._holders = holders.astype(np.intp)  # what numpy would turn them into at each search
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
        """At most `k` texts that share a word with those asked for, best first, then by position.

        Words are summed from the rarest on. Before one that very many texts hold, it may be seen that those
        which share no rarer word cannot be among the `k` any more: then only the others are looked at.
        """
        import numpy as np

        if k < 1:
            return []
        times = Counter(self._vocabulary[word] for word in asked if word in self._vocabulary)
        rarest_first = sorted(times, key=lambda word: (len(self._holding(word)), word))
        sums = np.zeros(self._texts, dtype=np.float32)
        found = None
        for at, word in enumerate(rarest_first):
            holding = self._holding(word)
            if found is None and at and len(holding) > COMMON:
                rest = sum(times[other] * float(self._scoring(other).max()) for other in rarest_first[at:])
                found = _ahead(sums, [self._holding(other) for other in rarest_first[:at]], k, rest)
            if found is None:
                sums[holding] += times[word] * self._scoring(word)
            else:
                places = np.searchsorted(holding, found)
                places[places == len(holding)] = 0
                held = holding[places] == found
                sums[found[held]] += times[word] * self._scoring(word)[places[held]]
        if found is None:
            found = np.flatnonzero(sums > 0)
        if len(found) > k:
            least = np.partition(sums[found], len(found) - k)[len(found) - k]
            above, level = found[sums[found] > least], found[sums[found] == least]
            found = np.concatenate([above, level[: k - len(above)]])
        order = np.lexsort((found, -sums[found]))
        return [Hit(int(position), float(sums[position])) for position in found[order]]

    def _holding(self, word: int) -> "NDArray[np.intp]":
        """Positions of the texts that hold a word, ascending."""
        return self._holders[self._starts[word] : self._starts[word + 1]]

    def _scoring(self, word: int) -> "NDArray[np.float32]":
        """What it scores in each of them."""
        return self._scores[self._starts[word] : self._starts[word + 1]]

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
            "holders": self._holders.astype(np.int32),
            "scores": self._scores,
            "texts": np.asarray(self._texts, dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: "Mapping[str, NDArray[Any]]") -> "WordRanking":
        """What `arrays` gave."""
        lines = arrays["words"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        vocabulary = {word: number for number, word in enumerate(lines) if word}
        return cls(vocabulary, arrays["starts"], arrays["holders"], arrays["scores"], int(arrays["texts"]))


def _ahead(
    sums: "NDArray[np.float32]", holding: "Sequence[NDArray[np.intp]]", k: int, rest: float
) -> "NDArray[np.intp] | None":
    """Positions that may be among the best `k` if none gains more than `rest`; None: any of all may.

    `holding`: positions with a sum, of which a few suffice to say how much the best have at least.
    """
    import numpy as np

    few = next((some for some in holding if len(some) >= k), None)
    if few is None:
        return None
    least = np.partition(sums[few], len(few) - k)[len(few) - k]
    bound = rest * (1 + 1e-4)
    return np.flatnonzero(sums >= least - bound) if least > bound else None
