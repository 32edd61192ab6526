"""Vectors of a sentence-transformers model on this machine (extra `sentence-transformers`)."""

import hashlib
import os
import threading
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.errors import UserError
from evoharness.retrieval.embedders.kept import VECTORS_FILE, KeptVectors, through
from evoharness.retrieval.embedders.recent import RecentVectors, as_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
KEPT_TOGETHER = 64
"""Vectors written down at once."""
READ_WHOLE_BYTES = 1_000_000
"""Larger files (weights) go into a folder's identity by their size and their ends."""


class SentenceTransformersEmbedder:
    """A folder with a model, or a name on the Hugging Face hub; loaded when it is first used.

    What is in a folder, or was downloaded once, needs no network (`HF_HUB_OFFLINE=1` makes sure).
    """

    def __init__(
        self, *, model: str = MODEL, device: str = "cpu", batch: int = 1, cache_dir: Path | None = None
    ) -> None:
        """`device`: as torch names it. `batch`: texts computed together; above 1 is some three times as fast,
        and the last digits of a vector then depend on the texts beside it. `cache_dir`: where vectors are
        kept for other processes. UserError without the extra."""
        if find_spec("sentence_transformers") is None:
            raise UserError(
                "embedder=sentence_transformers needs a package that is not installed: "
                "pip install 'evoharness[sentence-transformers]'"
            )
        self._arguments = {"model": model, "device": device, "batch": batch, "cache_dir": cache_dir}
        self._folder = Path(model).expanduser()
        self.id = f"sentence-transformers-{_version()}:{_identity(model, self._folder)}"
        self._recent = RecentVectors()
        self._kept = KeptVectors(cache_dir / VECTORS_FILE, self.id) if cache_dir is not None else None
        self._loading = threading.Lock()
        self._model: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._arguments,)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `Embedder`; a blank text gives zeros."""
        import numpy as np

        said = [as_text(text) for text in texts]
        worded = [text for text in said if text.strip()]
        rows = self._recent.rows(worded or ["a text"], self._compute)
        vectors = np.zeros((len(said), rows.shape[1]), dtype=np.float32)
        if worded:
            vectors[[at for at, text in enumerate(said) if text.strip()]] = rows
        return vectors

    def _compute(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return through(self._kept, texts, self._encoded, KEPT_TOGETHER)

    def _encoded(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        found = self._loaded().encode(
            list(texts),
            batch_size=self._arguments["batch"],
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(found, dtype=np.float32)

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = _load(
                    str(self._arguments["model"]), self._folder, str(self._arguments["device"])
                )
        return self._model


def _again(arguments: dict[str, Any]) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(**arguments)


def _load(model: str, folder: Path, device: str) -> Any:
    """The model; UserError when it is neither in that folder nor to be had from the hub."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from sentence_transformers import SentenceTransformer

    is_folder = folder.is_dir()
    try:
        return SentenceTransformer(str(folder) if is_folder else model, device=device)
    except Exception as error:  # whatever the libraries below make of a missing or damaged model
        if is_folder:
            raise UserError(
                f"embedder.model={model}: no model can be loaded from there: {_said(error)}"
            ) from error
        raise UserError(
            f"embedder.model={model} is no folder, and the Hugging Face hub does not give it: {_said(error)}"
        ) from error


def _said(error: Exception) -> str:
    lines = str(error).splitlines()
    return " ".join(lines[0].split())[:200] if lines else type(error).__name__


def _version() -> str:
    try:
        return version("sentence-transformers")
    except PackageNotFoundError:
        return "unknown"


def _identity(model: str, folder: Path) -> str:
    """The name on the hub, or what is in the folder, wherever it lies."""
    if not folder.is_dir():
        return model
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder).as_posix()} {size}\n".encode())
        with file.open("rb") as content:
            digest.update(content.read(READ_WHOLE_BYTES))
            if size > 2 * READ_WHOLE_BYTES:
                content.seek(-READ_WHOLE_BYTES, os.SEEK_END)
            digest.update(content.read(READ_WHOLE_BYTES))
    return f"{folder.name}-{digest.hexdigest()[:12]}"
