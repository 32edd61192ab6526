"""Averaged token vectors that come with the wordllama package."""

import logging
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.retrieval.embedders.recent import KEPT, RecentVectors, as_text, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class WordLlamaEmbedder:
    """No download, no torch, 256 numbers; the vectors of the texts seen last are kept."""

    def __init__(self, kept: int = KEPT) -> None:
        """`kept`: how many vectors are held, at about one KiB each."""
        self.id = f"wordllama-{version('wordllama')}-256"
        self._recent = RecentVectors(kept)
        self._loading = threading.Lock()
        self._model: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._recent.kept,)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `Embedder`."""
        import numpy as np

        return self._recent.rows(texts, self._compute) if texts else np.zeros((0, 256), dtype=np.float32)

    def _compute(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        with self._loading:
            if self._model is None:
                self._model = _load_wordllama()
        raw = np.asarray(self._model.embed([as_text(text) for text in texts], norm=False), dtype=np.float32)
        return unit_rows(raw)


def _load_wordllama() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    import wordllama

    # The package configures the root logger when it is imported; that is the program's to decide.
    root.handlers[:] = handlers
    root.setLevel(level)
    # Weights and tokenizer lie in the package; the plain `load()` would look for the tokenizer online.
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
