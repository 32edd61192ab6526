"""What an embedder is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from evoharness.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbedderUnavailable(ConnectionError, UserError):
    """No vectors came, however often they were asked for: the fault of the apparatus."""


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
