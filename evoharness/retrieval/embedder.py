"""Texts as vectors."""

import logging
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from evoharness.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRY_POINTS = "evoharness.embedders"
"""Group under which a package offers embedders: name → callable without arguments."""


class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how alike they are in meaning."""

    @property
    def id(self) -> str:
        """Which model, as precisely as it can be said; part of cache keys."""
        ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Rows of unit length, shape (len(texts), d); a text without any known word gives zeros.

        The vector of a text does not depend on the texts beside it.
        """
        ...


class WordLlamaEmbedder:
    """Averaged token vectors that come with the wordllama package: no download, no torch, 256 numbers.

    Keeps the vectors of the texts that it has seen last, because evidence is compared over and over.
    """

    def __init__(self, kept: int = 20_000) -> None:
        """`kept`: how many vectors are held, at about one KiB each."""
        self.id = f"wordllama-{version('wordllama')}-256"
        self._kept = kept
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._model: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"id": self.id, "_kept": self._kept, "_vectors": {}, "_model": None}

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `Embedder`."""
        import numpy as np

        if not texts:
            return np.zeros((0, 256), dtype=np.float32)
        vectors = self._vectors
        rows = [vectors.get(text) for text in texts]
        unseen = list(dict.fromkeys(text for text, row in zip(texts, rows, strict=True) if row is None))
        if unseen:
            fresh = dict(zip(unseen, self._compute(unseen), strict=True))
            rows = [fresh[text] if row is None else row for text, row in zip(texts, rows, strict=True)]
            self._keep(fresh)
        return np.stack(cast("list[NDArray[np.float32]]", rows))

    def _keep(self, fresh: "dict[str, NDArray[np.float32]]") -> None:
        merged = {**self._vectors, **fresh}
        if len(merged) > self._kept:
            merged = dict(list(merged.items())[-(self._kept // 2 or 1) :])
        self._vectors = merged

    def _compute(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        if self._model is None:
            self._model = _load_wordllama()
        # Lone surrogates (from a damaged file) are no text that a tokenizer takes.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        raw = np.asarray(self._model.embed(clean, norm=False), dtype=np.float32)
        lengths = np.linalg.norm(raw, axis=1, keepdims=True)
        unit: NDArray[np.float32] = np.divide(raw, lengths, out=np.zeros_like(raw), where=lengths > 0)
        return unit


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


def make_embedder(name: str) -> Embedder:
    """The embedder of that name; `UserError` lists the known ones when there is none.

    Another package adds embedders by the entry-point group `evoharness.embedders`.
    """
    makers: dict[str, Callable[[], Embedder]] = {"wordllama": WordLlamaEmbedder}
    if name in makers:
        return makers[name]()
    offered = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name in offered:
        return cast("Embedder", offered[name].load()())
    raise UserError(f"no embedder is called {name!r}; there are: {_listed([*makers, *offered])}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))
