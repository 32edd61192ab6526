"""The embedder of an executor, for work that is done beside its workers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evoharness.evaluation.executor import Executor
from evoharness.evaluation.meter import Meter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.retrieval import Embedder


class BesideWorkers:
    """Embeds in this process; what that takes counts as used by the executor."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._meter = Meter()
        config = executor.config
        calls = config.embedding_calls(self._meter, lambda said: executor.on_note(said))
        self._embedder: Embedder = config.make_embedder(calls)

    @property
    def id(self) -> str:
        """See `Embedder`."""
        return self._embedder.id

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `Embedder`."""
        try:
            return self._embedder.embed(texts)
        finally:
            self._executor.used += self._meter.take()
