"""The packet index: when each picture of a file is shown, and where decoding can start.

It is made by reading the container once without decoding. Everything that addresses pictures by time goes
through it, so a variable rate, a start offset or a wrong frame count in the header cannot shift anything.
"""

import hashlib
import zlib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from evoharness.video.container import packets_of

WHOLE_BYTES = 64 * 2**20
"""Every byte of a file up to this size goes into its hash."""
EDGE_BYTES = 65_536
"""How much of the head and of the tail of a larger one does."""
BLOCKS = 256
BLOCK_BYTES = 16_384
"""So many blocks of this size, evenly spread over a larger file, go in beside its pictures."""


class Packet(NamedTuple):
    """One packet of the video stream, as the container lists it."""

    pts: int
    """When its picture is shown, in units of the stream's time base."""
    duration: int
    """How long, in the same units; 0 when the container does not say."""
    size: int
    """Bytes."""
    key: bool
    """Whether decoding can start here."""
    shown: bool
    """False for pictures that an edit list cuts away."""
    check: int = 0
    """CRC-32 of its bytes."""


class PacketIndex:
    """Pictures of one stream in order of presentation."""

    def __init__(self, packets: Iterable[Packet], seconds_per_unit: float, *, counted: bool = False) -> None:
        """Orders the packets; ValueError when none of them is shown.

        `counted`: the container carries no times, so that `pts` is only the position of a picture.
        """
        by_time: dict[int, Packet] = {}
        for packet in packets:
            known = by_time.get(packet.pts)
            if known is None or (packet.shown and not known.shown):
                by_time[packet.pts] = packet
        ordered = [by_time[pts] for pts in sorted(by_time)]
        shown = [packet for packet in ordered if packet.shown]
        if not shown:
            raise ValueError("no packet of the stream is shown")
        self.counted = counted
        self.seconds_per_unit = seconds_per_unit
        self.pts = [packet.pts for packet in shown]
        """When each picture is shown, ascending, in units of the time base."""
        self.keys = [packet.pts for packet in ordered if packet.key]
        """The same for the pictures where decoding can start."""
        last = ordered[-1] if ordered[-1].pts > shown[-1].pts else shown[-1]
        self.end = last.pts + (last.duration or self._usual_gap())
        """End of the last picture, in units of the time base."""

    def __len__(self) -> int:
        return len(self.pts)

    @property
    def duration(self) -> float:
        """Seconds from the first picture to the end of the last."""
        return (self.end - self.pts[0]) * self.seconds_per_unit

    def time(self, number: int) -> float:
        """Seconds from the first picture to picture `number`."""
        return (self.pts[number] - self.pts[0]) * self.seconds_per_unit

    def number_at(self, time: float) -> int:
        """Number of the picture on display at `time`: the last one that begins at or before it.

        Times before the first picture give the first, times after the last give the last.
        """
        if time != time:
            raise ValueError("a time is a number of seconds, not NaN")
        # Half a microsecond of grace: a picture's own time, as a float, must find that picture.
        units = (time + 5e-7) / self.seconds_per_unit + self.pts[0]
        return max(0, bisect_right(self.pts, units) - 1)

    def number_of(self, pts: int) -> int:
        """Number of the last picture shown at or before `pts`; -1 when there is none."""
        return bisect_right(self.pts, pts) - 1

    def key_before(self, pts: int) -> int | None:
        """The last place at or before `pts` where decoding can start; None when there is none."""
        position = bisect_right(self.keys, pts)
        return self.keys[position - 1] if position else None

    def _usual_gap(self) -> int:
        gaps = sorted(after - before for before, after in pairwise(self.pts))
        return gaps[len(gaps) // 2] if gaps else round(0.04 / self.seconds_per_unit)


@dataclass
class PacketTable:
    """What one reading of a container found in its video stream."""

    packets: list[Packet] = field(default_factory=list)
    """In the order of the file."""
    counted: bool = False
    """The container carries no times: `pts` is the position of a packet."""
    damaged: int = 0
    """Packets whose inner lengths do not add up."""
    complaints: list[str] = field(default_factory=list)
    """What disturbed the reading; empty when the container could be read to its end."""


def read_packets(container: Any, stream: Any) -> PacketTable:
    """List the packets of a PyAV stream; damage ends the list or is counted, and never raises."""
    table = PacketTable()
    timeless: list[Packet] = []
    prefix = _length_prefix(stream.codec_context)
    for packet in packets_of(container, stream, table.complaints):
        pts = packet.pts if packet.pts is not None else packet.dts
        key, shown = bool(packet.is_keyframe), not packet.is_discard
        data = memoryview(packet)
        row = Packet(pts or 0, packet.duration or 0, packet.size, key, shown, zlib.crc32(data))
        (table.packets if pts is not None else timeless).append(row)
        if packet.is_corrupt or (prefix and not _adds_up(data, prefix)):
            table.damaged += 1
    if timeless and not table.packets:
        table.counted = True
        table.packets = [row._replace(pts=n, duration=1) for n, row in enumerate(timeless)]
    return table


def _length_prefix(codec_context: Any) -> int:
    """Bytes of the length before each unit of an H.264 or HEVC packet; 0 when packets are not built so."""
    extra = codec_context.extradata or b""
    place = {"h264": 4, "hevc": 21}.get(codec_context.codec.canonical_name)
    if place is None or len(extra) <= place or extra[0] != 1:
        return 0
    return (extra[place] & 3) + 1


def _adds_up(data: memoryview, prefix: int) -> bool:
    """Whether a packet is a chain of units that ends where the packet ends."""
    at, size = 0, len(data)
    while at < size:
        length = int.from_bytes(data[at : at + prefix], "big")
        if length == 0:
            return False
        at += prefix + length
    return at == size


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
