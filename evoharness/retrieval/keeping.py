"""An index on disk: one file, checked before it is believed.

The file is a zip of arrays (numpy's `.npz`) and a checksum after it. It says which embedder made its vectors,
and of which texts. An index can be built again at any time: what is damaged, or was made by another version,
is treated as if it were not there, and nothing is forced to the disk when it is written.
"""

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evoharness.retrieval.meaning import MeaningRanking
from evoharness.retrieval.wording import ARRAYS, WordRanking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = 1
"""Raised when files are written otherwise, or words are told apart otherwise."""
DIGEST_BYTES = 16
READ_AT_ONCE = 1 << 20


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
    arrays: dict[str, NDArray[Any]] = {
        "header": np.frombuffer(header, dtype=np.uint8),
        "digests": index.digests,
        "rows": index.rows,
        "meaning": index.meaning.array(),
        **index.words.arrays(),
    }
    temporary = file.with_name(f".{file.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w+b") as content:
            np.savez(content, allow_pickle=False, **arrays)
            length = content.seek(0, os.SEEK_END)
            content.seek(0)
            checksum = _checksum(content, length)
            content.seek(length)
            content.write(checksum)
        os.replace(temporary, file)
    except OSError:
        return
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def kept(file: Path, embedder_id: str) -> KeptIndex | None:
    """The index in a file; None when there is none, or it is damaged or another embedder's."""
    import numpy as np

    try:
        content = file.open("rb")
    except OSError:
        return None
    with content:
        length = os.fstat(content.fileno()).st_size - DIGEST_BYTES
        if length < 0 or _checksum(content, length) != content.read(DIGEST_BYTES):
            return None
        content.seek(0)
        with np.load(content, allow_pickle=False) as arrays:
            if json.loads(arrays["header"].tobytes()) != {"version": VERSION, "embedder": embedder_id}:
                return None
            return KeptIndex(
                digests=arrays["digests"],
                rows=arrays["rows"],
                meaning=MeaningRanking.from_array(arrays["meaning"]),
                words=WordRanking.from_arrays({name: arrays[name] for name in ARRAYS}),
            )


def _checksum(file: BinaryIO, length: int) -> bytes:
    """Of so many bytes from where the file stands."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    while length > 0 and (some := file.read(min(length, READ_AT_ONCE))):
        digest.update(some)
        length -= len(some)
    return digest.digest()
