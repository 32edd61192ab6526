"""Vectors from a provider's endpoint, or from a server of one's own, through litellm."""

import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import ValidationError

from evoharness.errors import UserError
from evoharness.providers import Endpoint, litellm_module, missing_key, provider_named
from evoharness.providers.waiting import asked_wait, headers_of
from evoharness.retrieval.embedders.base import EmbedderUnavailable
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
LONGEST_WAIT_S = 60.0
"""No wait of our own choosing is longer."""
PATIENCE_S = 600.0
"""A server that asks to wait longer than this is not waited for."""
NO_KEY = "none"
"""Sent to servers that ask for no key: clients insist on one."""
_FINAL = (400, 401, 403, 404, 405, 413, 422)
"""Replies after which asking again would be in vain."""


class HostedEmbedder:
    """Texts are sent in batches, each text once: what came back is kept in the cache folder, for all runs.

    May be used from several threads. A server that is busy, or that drops the connection, is asked again,
    each time after a longer wait. Raises EmbedderUnavailable when that does not help, UserError when asking
    again would be in vain (no key, no such model).
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
        attempts: int = 5,
        timeout_s: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`key`: name of the environment variable that holds the key. `dimensions`: numbers in a vector,
        where the model leaves the choice. `cache_dir`: None keeps vectors in this process only."""
        if batch < 1 or attempts < 1:
            raise UserError("embedder.options: batch and attempts have to be at least 1")
        if not 0 < timeout_s < math.inf or (dimensions is not None and dimensions < 1):
            raise UserError("embedder.options: timeout_s and dimensions have to be more than 0")
        self._arguments = {name: value for name, value in locals().items() if name not in ("self", "sleep")}
        self.endpoint = endpoint_of(model=model, api_base=api_base, key=key)
        self.id = ":".join(["litellm", model, *([str(dimensions)] if dimensions else [])])
        self._batch = batch
        self._dimensions = dimensions
        self._attempts = attempts
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._jitter = random.Random(self.id)
        self._recent = RecentVectors()
        # A server of one's own may serve something else under the name that a provider uses.
        where = self.endpoint.base if self.endpoint.is_own_server else ""
        self._kept = KeptVectors(cache_dir / VECTORS_FILE, f"{self.id} {where}") if cache_dir else None
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
        for attempt in range(1, self._attempts + 1):
            try:
                return self._call_once(texts)
            except UserError:
                raise
            except Exception as error:
                told, status = _told(error), getattr(error, "status_code", None)
                asked = asked_wait(headers_of(error), "", time.time())
            # Outside the handler: what litellm raised may hold a key, and goes no further.
            if status in _FINAL:
                self._give_up(status, told)
            if attempt == self._attempts or (asked or 0.0) > PATIENCE_S:
                wish = f", and asks to wait {asked:.0f} s" if asked is not None and asked > PATIENCE_S else ""
                times = "attempt" if attempt == 1 else "attempts"
                raise EmbedderUnavailable(
                    f"{self._where()} gave no vectors in {attempt} {times}: {told}{wish}"
                )
            own = min(LONGEST_WAIT_S, 0.5 * 2 ** (attempt - 1)) * self._jitter.uniform(1.0, 1.5)
            self._sleep(own if asked is None else asked + min(own, 1.0))
        raise AssertionError("unreachable")

    def _call_once(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        further = {"dimensions": self._dimensions} if self._dimensions else {}
        response = litellm_module().embedding(
            model=self.endpoint.model,
            input=list(texts),
            api_base=self.endpoint.api_base,
            api_key=self._secret(),
            timeout=self._timeout_s,
            max_retries=0,
            encoding_format="float",
            drop_params=True,
            **further,
        )
        entries = sorted(response.data, key=lambda entry: entry["index"])
        if [entry["index"] for entry in entries] != list(range(len(texts))):
            raise ValueError(f"{len(texts)} texts were sent, and there is not one entry for each")
        vectors = np.asarray([entry["embedding"] for entry in entries], dtype=np.float32)
        if (
            vectors.ndim != 2
            or vectors.size == 0
            or len(vectors) != len(texts)
            or not np.isfinite(vectors).all()
        ):
            raise ValueError(f"{len(texts)} texts were sent, and what came back is no vector for each")
        return unit_rows(vectors)

    def _secret(self) -> str | None:
        """The key; None: litellm looks for it. UserError names the variable that should hold it."""
        secret = self.endpoint.secret()
        if secret is not None:
            return secret
        if self.endpoint.needs_key:
            names = " or ".join(self.endpoint.key_variables)
            raise UserError(f"{self._where()} needs a key: put it into the environment variable {names}")
        return NO_KEY if provider_named(self.endpoint.provider) is not None else None

    def _give_up(self, status: int, told: str) -> NoReturn:
        if status in (401, 403):
            variable = missing_key(self.endpoint)
            named = " or ".join(self.endpoint.key_variables) or "its environment variable"
            said = f"set the environment variable {variable}" if variable else f"check the key in {named}"
            raise UserError(f"{self._where()} refuses the request for want of a key: {said}")
        if status == 404:
            raise UserError(f"{self._where()} has no such model")
        raise UserError(f"{self._where()} refuses the texts: {told}")

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
        said = str(first["msg"]).removeprefix("Value error, ")
        raise UserError(f"embedder.{first['loc'][0]}: {said}") from None


def _again(arguments: dict[str, Any]) -> HostedEmbedder:
    return HostedEmbedder(**arguments)


def _told(error: Exception) -> str:
    """The kind of error and its status, without what the server said: it may repeat the key."""
    status = getattr(error, "status_code", None)
    return f"{type(error).__name__}{f' (HTTP {status})' if status else ''}"
