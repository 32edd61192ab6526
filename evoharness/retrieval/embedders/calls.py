"""How calls for vectors are made: handed in by whoever pays for them, and knows what servers can bear."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from evoharness.retrieval.embedders.base import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Served:
    """What one call gave."""

    vectors: "NDArray[np.float32]"
    """A row for each text, in their order."""
    tokens: int | None
    """What it took, as the server counts; None when it does not say."""


class OddReply(Exception):
    """A reply that has not a vector for each text."""


class TextsTooLong(Exception):
    """More text than the model, or its server, takes at once."""


class Calls(Protocol):
    """Makes calls for vectors: when they may be made, again when they fail, and paid for."""

    def make(self, call: Callable[[float], Served], texts: Sequence[str]) -> Served:
        """What `call` gives for these texts; its argument is how many seconds it may take.

        Raises TextsTooLong where fewer or shorter texts would do, and what the caller lets through when
        there are no vectors to be had.
        """
        ...


class SingleCalls:
    """Makes each call once, at once, and keeps no books: for work outside a run."""

    def make(self, call: Callable[[float], Served], texts: Sequence[str]) -> Served:
        """See `Calls`; EmbedderUnavailable when the call fails."""
        try:
            return call(TIMEOUT_S)
        except Exception as error:
            status = getattr(error, "status_code", None)
            told = f"{type(error).__name__}{f' (HTTP {status})' if status else ''}"
        # Outside the handler: what litellm raised may hold a key, and goes no further.
        if status == 413:
            raise TextsTooLong(told)
        raise EmbedderUnavailable(f"there are no vectors for {len(texts)} texts: {told}")
