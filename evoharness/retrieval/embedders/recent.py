"""The vectors of the texts that were embedded last: evidence is compared over and over."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Compute = Callable[[Sequence[str]], NDArray[np.float32]]

KEPT = 20_000
"""How many vectors are held, at a few KiB each."""


class RecentVectors:
    """A bounded memory in front of a model; may be used from several threads."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self._lock = threading.Lock()
        self._vectors: dict[str, Vector] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def rows(self, texts: Sequence[str], compute: "Compute") -> "NDArray[np.float32]":
        """A row for each text, `compute` being asked once for those that were not held. Not for no texts."""
        import numpy as np

        vectors = self._vectors
        rows = [vectors.get(text) for text in texts]
        unseen = list(dict.fromkeys(text for text, row in zip(texts, rows, strict=True) if row is None))
        if unseen:
            fresh = dict(zip(unseen, compute(unseen), strict=True))
            rows = [fresh[text] if row is None else row for text, row in zip(texts, rows, strict=True)]
            self._keep(fresh)
        return np.stack(cast("list[Vector]", rows))

    def _keep(self, fresh: "dict[str, Vector]") -> None:
        with self._lock:
            self._vectors.update(fresh)  # others only look single texts up meanwhile
            if len(self._vectors) > self.kept:
                self._vectors = dict(list(self._vectors.items())[-(self.kept // 2 or 1) :])


def unit_rows(raw: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Every row divided by its length; a row of zeros stays one."""
    import numpy as np

    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(raw, lengths, out=np.zeros_like(raw), where=lengths > 0)
    return unit


def as_text(text: str) -> str:
    """The text without lone surrogates (from a damaged file), which no tokenizer and no network takes."""
    return text.encode("utf-8", "replace").decode()
