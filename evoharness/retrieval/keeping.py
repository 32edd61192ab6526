"""An index on disk: one file, checked before it is believed.

The file is a checksum and a zip of arrays (numpy's `.npz`). It says which embedder made its vectors, and of
which texts. An index can be built again at any time, so what is damaged, or was made by another version, is
treated as if it were not there.
"""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.records.storage import write_atomically
from evoharness.retrieval.meaning import MeaningRanking
from evoharness.retrieval.wording import ARRAYS, WordRanking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = 1
"""Raised when files are written otherwise, or words are told apart otherwise."""
DIGEST_BYTES = 16


@dataclass
class KeptIndex:
    """What lies in a file."""

    digests: "NDArray[np.void]"
    """Which text each row of `meaning` is the vector of."""
    rows: "NDArray[np.int32]"
    """Row of each text of the index, by position."""
    meaning: MeaningRanking
    words: WordRanking

    def is_of(self, digests: "NDArray[np.void]") -> bool:
        """Whether these are the texts of the index, in this order."""
        import numpy as np

        return bool(np.array_equal(self.digests[self.rows], digests))


def digests_of(texts: Sequence[str]) -> "NDArray[np.void]":
    """A digest of each text, shape (len(texts),)."""
    import numpy as np

    joined = b"".join(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
        for text in texts
    )
    return np.frombuffer(joined, dtype=f"V{DIGEST_BYTES}")


def keep(file: Path, index: KeptIndex, embedder_id: str) -> None:
    """Write an index; where the disk does not take it, it is built again another time."""
    import numpy as np

    header = json.dumps({"version": VERSION, "embedder": embedder_id}).encode()
    content = io.BytesIO()
    arrays: dict[str, NDArray[Any]] = {
        "header": np.frombuffer(header, dtype=np.uint8),
        "digests": index.digests,
        "rows": index.rows,
        "meaning": index.meaning.array(),
        **index.words.arrays(),
    }
    np.savez(content, allow_pickle=False, **arrays)
    body = content.getbuffer()
    try:
        write_atomically(file, b"".join([_checksum(body), body]))
    except OSError:
        return


def kept(file: Path, embedder_id: str) -> KeptIndex | None:
    """The index in a file; None when there is none, or it is damaged or another embedder's."""
    import numpy as np

    try:
        content = memoryview(file.read_bytes())
    except OSError:
        return None
    body = content[DIGEST_BYTES:]
    if content[:DIGEST_BYTES] != _checksum(body):
        return None
    with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        if json.loads(arrays["header"].tobytes()) != {"version": VERSION, "embedder": embedder_id}:
            return None
        return KeptIndex(
            digests=arrays["digests"],
            rows=arrays["rows"],
            meaning=MeaningRanking.from_array(arrays["meaning"]),
            words=WordRanking.from_arrays({name: arrays[name] for name in ARRAYS}),
        )


def _checksum(body: memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()
