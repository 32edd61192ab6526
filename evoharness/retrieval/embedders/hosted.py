"""Vectors from a provider's endpoint, or from a server of one's own, through litellm."""

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evoharness.errors import UserError
from evoharness.providers import Endpoint, litellm_module, provider_named
from evoharness.records.mistakes import in_words
from evoharness.retrieval.embedders.base import EmbedderUnavailable
from evoharness.retrieval.embedders.calls import Calls, OddReply, Served, SingleCalls, TextsTooLong
from evoharness.retrieval.embedders.kept import VECTORS_FILE, KeptVectors, through
from evoharness.retrieval.embedders.recent import RecentVectors, as_text, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "openai/text-embedding-3-small"
BATCH = 64
"""Texts in one request, unless said otherwise."""
MOST_CHARACTERS = 24_000
"""A longer text is cut: no common endpoint takes more than about 8,000 tokens."""
FEWEST_CHARACTERS = 200
"""A text that is too long for a model is cut in half until it is no longer than this."""
NO_KEY = "none"
"""Sent to servers that ask for no key: clients insist on one."""


class HostedEmbedder:
    """Texts are sent in batches, each text once: what came back is kept in the cache folder, for all runs.

    May be used from several threads. How calls are made, and what is raised when that is in vain, is the
    matter of `calls`.
    """

    def __init__(
        self,
        *,
        model: str = MODEL,
        api_base: str | None = None,
        key: str | None = None,
        cache_dir: Path | None = None,
        batch: int = BATCH,
        dimensions: int | None = None,
        calls: Calls | None = None,
    ) -> None:
        """`key`: name of the environment variable that holds the key. `dimensions`: numbers in a vector,
        where the model leaves the choice. `cache_dir`: None keeps vectors in this process only. `calls`:
        None: each is made once, and nobody counts it."""
        if batch < 1:
            raise UserError("embedder.options: batch has to be at least 1")
        if dimensions is not None and dimensions < 1:
            raise UserError("embedder.options: dimensions has to be at least 1")
        self._arguments = {name: value for name, value in locals().items() if name != "self"}
        self.endpoint = endpoint_of(model=model, api_base=api_base, key=key)
        named = ":".join(["litellm", model, *([str(dimensions)] if dimensions else [])])
        self._batch = batch
        self._dimensions = dimensions
        self._calls = calls or SingleCalls()
        self._recent = RecentVectors()
        # A server of one's own may serve something else under the name that a provider uses.
        where = (self.endpoint.base or "") if self.endpoint.is_own_server else ""
        self.id = f"{named}#{hashlib.sha256(where.encode()).hexdigest()[:8]}" if where else named
        self._kept = KeptVectors(cache_dir / VECTORS_FILE, f"{named} {where}") if cache_dir else None
        self._measuring = threading.Lock()
        self._width = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._arguments,)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `Embedder`; a blank text gives zeros and is not sent."""
        import numpy as np

        sent = [as_text(text)[:MOST_CHARACTERS] for text in texts]
        worded = [text for text in sent if text.strip()]
        if not worded:
            return np.zeros((len(sent), self._measured()), dtype=np.float32)
        rows = self._recent.rows(worded, self._compute)
        vectors = np.zeros((len(sent), rows.shape[1]), dtype=np.float32)
        vectors[[at for at, text in enumerate(sent) if text.strip()]] = rows
        return vectors

    def _measured(self) -> int:
        """How many numbers a vector has; asked of the model when nothing else was."""
        with self._measuring:
            if not self._width:
                self._width = self._recent.rows(["a text"], self._compute).shape[1]
            return self._width

    def _compute(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return through(self._kept, texts, self._call, self._batch)

    def _call(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Vectors of a batch. What is too much at once is halved: first the batch, then a text by itself."""
        import numpy as np

        secret = self._secret()
        try:
            return self._calls.make(lambda timeout_s: self._served(texts, secret, timeout_s), texts).vectors
        except TextsTooLong as error:
            said = str(error)
        if len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate([self._call(texts[:half]), self._call(texts[half:])])
        if len(texts[0]) > FEWEST_CHARACTERS and texts[0][: len(texts[0]) // 2].strip():
            return self._call([texts[0][: len(texts[0]) // 2]])
        raise EmbedderUnavailable(f"{self._where()} takes not even {len(texts[0])} letters: {said}")

    def _served(self, texts: Sequence[str], secret: str | None, timeout_s: float) -> Served:
        """One call. Raises what litellm raises, and OddReply."""
        import numpy as np

        further = {"dimensions": self._dimensions} if self._dimensions else {}
        response = litellm_module().embedding(
            model=self.endpoint.model,
            input=list(texts),
            api_base=self.endpoint.base,
            api_key=secret,
            timeout=timeout_s,
            max_retries=0,
            encoding_format="float",
            drop_params=True,
            **further,
        )
        try:
            entries = sorted(response.data, key=lambda entry: entry["index"])
            indices = [entry["index"] for entry in entries]
            vectors = np.asarray([entry["embedding"] for entry in entries], dtype=np.float32)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise OddReply("the reply has not the form of vectors") from error
        if indices != list(range(len(texts))):
            raise OddReply(f"{len(texts)} texts were sent, and there is not one entry for each")
        if vectors.ndim != 2 or vectors.size == 0 or not np.isfinite(vectors).all():
            raise OddReply(f"{len(texts)} texts were sent, and what came back is no vector for each")
        usage = getattr(response, "usage", None)
        return Served(unit_rows(vectors), getattr(usage, "prompt_tokens", None))

    def _secret(self) -> str | None:
        """The key; None: litellm looks for it. UserError names the variable that should hold it."""
        secret = self.endpoint.secret()
        if secret is not None:
            return secret
        if self.endpoint.needs_key:
            names = " or ".join(self.endpoint.key_variables)
            raise UserError(f"{self._where()} needs a key: put it into the environment variable {names}")
        return NO_KEY if provider_named(self.endpoint.provider) is not None else None

    def _where(self) -> str:
        return f"embedder.model={self.endpoint.model} at {self.endpoint.address or 'its provider'}"


def endpoint_of(
    model: str = MODEL,
    api_base: str | None = None,
    key: str | None = None,
    **others: Any,  # noqa: ARG001
) -> Endpoint:
    """Where an embedder with these options calls; UserError names what does not do."""
    try:
        return Endpoint(model=model, api_base=api_base, key=key, use="embedding")
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        raise UserError(f"embedder.{first['loc'][0]}: {in_words(first)}") from None


def _again(arguments: dict[str, Any]) -> HostedEmbedder:
    return HostedEmbedder(**arguments)
