"""A recording whose pictures are coded as two fields each, as camcorders and broadcasters do.

No encoder at hand does it, so the stream is written here: H.264 without any compression (I_PCM), a shade of
grey a picture, every second picture one that no other is built from.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

ACROSS, DOWN = 4, 4
"""Blocks of 16 x 16 of a field."""
WIDTH, HEIGHT = ACROSS * 16, DOWN * 32


class _Bits:
    def __init__(self) -> None:
        self.bits: list[int] = []

    def number(self, value: int, bits: int) -> None:
        self.bits += [value >> at & 1 for at in reversed(range(bits))]

    def golomb(self, *values: int) -> None:
        for value in values:
            bits = (value + 1).bit_length()
            self.number(value + 1, 2 * bits - 1)

    def align(self) -> None:
        self.bits += [0] * (-len(self.bits) % 8)

    def unit(self, head: int) -> bytes:
        """With its stop bit, and what keeps it from looking like a start code."""
        self.bits.append(1)
        self.align()
        data = bytearray([head])
        for at in range(0, len(self.bits), 8):
            byte = int("".join(map(str, self.bits[at : at + 8])), 2)
            if byte <= 3 and data[-2:] == b"\0\0":
                data.append(3)
            data.append(byte)
        return b"\0\0\0\1" + bytes(data)


def _heads() -> bytes:
    sequence = _Bits()
    for value in (77, 0, 30):  # main profile, level 3
        sequence.number(value, 8)
    sequence.golomb(0, 0, 2, 1)  # ids, short counters, pictures come in the order of decoding, one is kept
    sequence.number(0, 1)
    sequence.golomb(ACROSS - 1, DOWN - 1)
    sequence.number(0b00100, 5)  # fields, direct inference, nothing cropped, nothing said of colours
    picture = _Bits()
    picture.golomb(0, 0)
    picture.number(0, 2)
    picture.golomb(0, 0, 0)
    picture.number(0, 3)
    picture.golomb(0, 0, 0)
    picture.number(0b100, 3)
    return sequence.unit(0x67) + picture.unit(0x68)


def _field(number: int, lower: bool) -> bytes:
    needed = number % 2 == 0
    clean = needed and not lower
    slice_ = _Bits()
    slice_.golomb(0, 7, 0)
    slice_.number(0 if needed else 1, 4)
    slice_.number(2 | lower, 2)
    if clean:
        slice_.golomb(number // 2 % 2)
        slice_.number(0, 2)
    elif needed:
        slice_.number(0, 1)
    slice_.golomb(0, 1)
    for _ in range(ACROSS * DOWN):
        slice_.golomb(25)
        slice_.align()
        for value in [shade(number)] * 256 + [128] * 128:
            slice_.number(value, 8)
    return slice_.unit(0x65 if clean else 0x61 if needed else 0x01)


def shade(number: int) -> int:
    """Luma of a picture."""
    return 40 + 4 * number


def record_fields(path: Path, count: int) -> Path:
    """So many pictures, 25 a second."""
    import av

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for number in range(count):
            data = _field(number, lower=False) + _field(number, lower=True)
            packet: Any = av.Packet(_heads() + data if number % 2 == 0 else data)
            packet.pts = packet.dts = number
            packet.duration, packet.time_base = 1, Fraction(1, 25)
            packet.is_keyframe, packet.stream = number % 2 == 0, stream
            container.mux(packet)
    return path
