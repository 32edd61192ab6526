"""The identity of a video file."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from evoharness.video.packets import Packet

WHOLE_BYTES = 64 * 2**20
"""Every byte of a file up to this size goes into its hash."""
EDGE_BYTES = 65_536
"""How much of the head and of the tail of a larger one does."""
BLOCKS = 256
BLOCK_BYTES = 16_384
"""So many blocks of this size, evenly spread over a larger file, go in beside its pictures."""


def content_hash(path: Path, packets: Iterable[Packet]) -> str:
    """Identity of a video file: sha256 over its size, its bytes and the packet table.

    The table has the time, size, kind and CRC-32 of every picture's packet, which the reading of the
    container has in hand anyway: one picture changed in a file of any size, whatever the codec, changes the
    hash. All bytes count in files up to `WHOLE_BYTES`; of larger ones head, tail and `BLOCKS` blocks spread
    evenly, so that two large files with the same pictures, and sound that differs only between the blocks,
    share a hash: accepted, because reading gigabytes once more costs seconds a file.
    """
    digest = hashlib.sha256()
    size = path.stat().st_size
    digest.update(f"{size}\n".encode())
    with path.open("rb") as file:
        if size <= WHOLE_BYTES:
            while data := file.read(BLOCK_BYTES * BLOCKS):
                digest.update(data)
        else:
            digest.update(file.read(EDGE_BYTES))
            for number in range(BLOCKS):
                file.seek((size - BLOCK_BYTES) * number // (BLOCKS - 1))
                digest.update(file.read(BLOCK_BYTES))
            file.seek(size - EDGE_BYTES)
            digest.update(file.read(EDGE_BYTES))
    for packet in packets:
        digest.update(b"%d %d %d %d\n" % (packet.pts, packet.size, packet.key, packet.check))
    return digest.hexdigest()
