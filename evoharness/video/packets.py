"""The packets of a video stream: one reading of the container, nothing decoded."""

import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evoharness.video.container import packets_of


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
    spare: bool = False
    """Whether no other picture is built from its own (known of H.264 and HEVC only)."""
    leans: bool = False
    """Whether decoding can start here, though later pictures may be built from earlier ones (H.264 only)."""
    hurt: bool = False
    """Whether its inner lengths do not add up, or the container says that it is damaged."""


ORDERLESS = ("avi", "asf")
"""Containers that tell when a picture is decoded, not when it is shown."""


@dataclass
class PacketTable:
    """What one reading of a container found in its video stream."""

    packets: list[Packet] = field(default_factory=list)
    """In the order of the file."""
    counted: bool = False
    """The container carries no times of presentation: pictures come in the order of the decoder."""
    timed: bool = True
    """False: it carries no times at all, and `pts` is the position of a packet."""
    complaints: list[str] = field(default_factory=list)
    """What disturbed the reading; empty when the container could be read to its end."""

    @property
    def hurt(self) -> int:
        """How many packets are damaged."""
        return sum(packet.hurt for packet in self.packets)


def read_packets(container: Any, stream: Any) -> PacketTable:
    """List the packets of a PyAV stream; damage ends the list or is counted, and never raises."""
    table = PacketTable()
    timeless: list[Packet] = []
    codec = stream.codec_context.codec.canonical_name
    prefix = _length_prefix(stream.codec_context)
    in_order: list[Packet] = []
    # Their times of presentation are made up from those of decoding, and wrong where the order differs.
    orderless = (
        container.format.name in ORDERLESS and codec in ("h264", "hevc") and stream.codec_context.has_b_frames
    )
    layers = set()
    for packet in packets_of(container, stream, table.complaints):
        pts = packet.pts if packet.pts is not None else packet.dts
        data = memoryview(packet)
        sound, picture = _chain(data, prefix, codec) if prefix else (True, _first_picture(data, codec))
        if prefix and codec == "h264" and picture is None:
            sound = False  # it holds no picture, where its container says that it does
        row = Packet(
            pts or 0,
            packet.duration or 0,
            packet.size,
            bool(packet.is_keyframe),
            not packet.is_discard,
            zlib.crc32(data),
            spare=picture is not None and _is_spare(codec, picture[0]),
            leans=codec == "h264"
            and bool(packet.is_keyframe)
            and picture is not None
            and picture[0] & 31 != 5,
            hurt=bool(packet.is_corrupt) or not sound,
        )
        if codec == "hevc" and picture is not None:
            layers.add(picture[1] & 7)
        (table.packets if pts is not None else timeless).append(row)
        if orderless and packet.dts is not None:
            in_order.append(row._replace(pts=packet.dts))
    if orderless and len(in_order) == len(table.packets):
        table.counted = True
        table.packets = in_order
    if len(layers) > 1:  # then a picture may be needed by those of a higher layer
        table.packets = [row._replace(spare=False) for row in table.packets]
    if timeless and not table.packets:
        table.counted = True
        table.timed = False
        table.packets = [row._replace(pts=n, duration=1) for n, row in enumerate(timeless)]
    return table


def _length_prefix(codec_context: Any) -> int:
    """Bytes of the length before each unit of an H.264 or HEVC packet; 0 when packets are not built so."""
    extra = codec_context.extradata or b""
    place = {"h264": 4, "hevc": 21}.get(codec_context.codec.canonical_name)
    if place is None or len(extra) <= place or extra[0] != 1:
        return 0
    return (extra[place] & 3) + 1


def _chain(data: memoryview, prefix: int, codec: str) -> tuple[bool, bytes | None]:
    """Whether a packet is a chain of units that ends where the packet ends; how its picture begins."""
    at, size, picture = 0, len(data), None
    while at < size:
        length = int.from_bytes(data[at : at + prefix], "big")
        if length == 0:
            return False, picture
        at += prefix
        if picture is None and at + 1 < size and _is_picture(codec, data[at]):
            picture = bytes(data[at : at + 2])
        at += length
    return at == size, picture


def _first_picture(data: memoryview, codec: str) -> bytes | None:
    """How the picture begins in a packet with start codes between its units; None for other codecs."""
    if codec not in ("h264", "hevc"):
        return None
    head = bytes(data[:4096])
    at = head.find(b"\0\0\1")
    while 0 <= at < len(head) - 4:
        if _is_picture(codec, head[at + 3]):
            return head[at + 3 : at + 5]
        at = head.find(b"\0\0\1", at + 3)
    return None


def _is_picture(codec: str, first: int) -> bool:
    """Whether a unit that begins with this byte holds a picture, or a part of one."""
    return first & 0x1F in (1, 2, 5) if codec == "h264" else first >> 1 & 0x3F < 32


def _is_spare(codec: str, first: int) -> bool:
    """Whether a picture that begins with this byte says that no other one of its layer is built from it."""
    return first & 0x60 == 0 if codec == "h264" else first >> 1 & 0x3F in range(0, 16, 2)
