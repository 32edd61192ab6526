"""An embedder that counts what a hosted one would be asked for, and asks nobody."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evoharness.models.embedding import EMBEDDER
from evoharness.models.sizes import CHARACTERS_A_TOKEN
from evoharness.records.spend import Spend
from evoharness.retrieval.embedders.hosted import MOST_CHARACTERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.evaluation.meter import Meter
    from evoharness.retrieval import Embedder


class CountingEmbedder:
    """Gives the vectors of another embedder, and books the calls of a hosted one: each text is sent once."""

    def __init__(self, inner: "Embedder", meter: "Meter", batch: int) -> None:
        """`batch`: texts in one call."""
        self._inner = inner
        self._meter = meter
        self._batch = batch
        self._sent: set[str] = set()

    @property
    def id(self) -> str:
        """See `Embedder`."""
        return self._inner.id

    def forget(self) -> None:
        """Let texts be sent that were sent before: they stand for others."""
        self._sent.clear()

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `Embedder`."""
        fresh = [text for text in dict.fromkeys(texts) if text.strip() and text not in self._sent]
        self._sent.update(fresh)
        if fresh:
            characters = sum(len(text[:MOST_CHARACTERS]) for text in fresh)
            calls = -(-len(fresh) // self._batch)
            self._meter.book(EMBEDDER, Spend(calls=calls, input_tokens=characters // CHARACTERS_A_TOKEN))
        return self._inner.embed(texts)
