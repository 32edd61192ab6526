"""Which pictures of a file can be had."""

from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from evoharness.video.container import damage, limit_pictures, open_container, packets_of, pick_stream
from evoharness.video.packets import Packet

MOST_DECODED = 5_000
"""At most so many pictures are decoded to find out; what lies behind them is believed to be there."""


def without_undecodable(path: Path, packets: Sequence[Packet]) -> list[Packet]:
    """The packets without those that give no picture.

    Those are tried that are damaged or lead up to the first key frame. Damage is often concealed: a damaged
    packet may give a picture that is right for the most part, or none. Only decoding tells. It is done up to
    the last doubtful packet and the key frame that follows it.
    """
    doubtful = {packet.pts for packet in packets if packet.hurt} | _before_any_key(packets)
    last = max((n for n, packet in enumerate(packets) if packet.pts in doubtful), default=None)
    if last is None:
        return list(packets)
    behind = next((n for n in range(last + 1, len(packets)) if packets[n].key), len(packets))
    count = min(behind + 1, MOST_DECODED)
    given = _decodable(path, count)
    tried = {packet.pts for packet in packets[:count]}
    kept = [packet for packet in packets if packet.pts not in doubtful & tried or packet.pts in given]
    return kept if any(packet.shown for packet in kept) else list(packets)


def _before_any_key(packets: Sequence[Packet]) -> set[int]:
    """Times of the pictures before the first key frame: some recordings begin in the middle."""
    first = next((packet for packet in packets if packet.key), None)
    if first is None:
        return set()
    return {packet.pts for packet in packets if packet.pts < first.pts}


def _decodable(path: Path, count: int) -> set[int]:
    """Times of the pictures that the first `count` packets give, in units of the time base."""
    given: set[int] = set()
    with open_container(path) as container:
        stream = pick_stream(container)
        if stream is None:
            return given
        limit_pictures(stream.codec_context)
        stream.codec_context.thread_count = 1
        for packet in chain(islice(packets_of(container, stream), count), [None]):
            try:
                pictures = stream.codec_context.decode(packet)
            except damage():
                continue
            for picture in pictures:
                pts = picture.pts if picture.pts is not None else picture.dts
                if pts is not None:
                    given.add(pts)
    return given
