"""Which pictures of a file can be had."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from evoharness.video.container import damage, limit_pictures, open_container, packets_of, pick_stream
from evoharness.video.packets import Packet

MOST_DECODED = 2_000
"""At most so many pictures are decoded to find out; of the rest it is believed that they are there."""


def without_undecodable(path: Path, packets: Sequence[Packet]) -> list[Packet]:
    """The packets without those that give no picture.

    Those are tried that are damaged or lead up to the first key frame. Damage is often concealed: a damaged
    packet may give a picture that is right for the most part, or none. Only decoding tells. It is done from
    the key frame before each doubtful packet to the one behind it.
    """
    doubtful = {packet.pts for packet in packets if packet.hurt} | _before_any_key(packets)
    tried = _around(packets, doubtful)
    if not tried:
        return list(packets)
    given = _decodable(path, tried)
    kept = [packet for packet in packets if packet.pts not in doubtful & tried or packet.pts in given]
    return kept if any(packet.shown for packet in kept) else list(packets)


def _around(packets: Sequence[Packet], doubtful: set[int]) -> set[int]:
    """Times of the pictures to decode for an answer about the doubtful ones."""
    times: set[int] = set()
    group: list[int] = []  # from one key frame to the next, in the order of the file
    for packet in packets:
        group.append(packet.pts)
        if packet.key:
            if not doubtful.isdisjoint(group):
                times.update(group)
            group = [packet.pts]
        if len(times) > MOST_DECODED:
            return times
    if not doubtful.isdisjoint(group):
        times.update(group[: MOST_DECODED + 1])
    return times


def _before_any_key(packets: Sequence[Packet]) -> set[int]:
    """Times of the pictures before the first key frame: some recordings begin in the middle."""
    first = next((packet for packet in packets if packet.key), None)
    if first is None:
        return set()
    return {packet.pts for packet in packets if packet.pts < first.pts}


def _decodable(path: Path, tried: set[int]) -> set[int]:
    """Times of the pictures that come out of the packets with the times `tried`, in units."""
    given: set[int] = set()
    with open_container(path) as container:
        stream = pick_stream(container)
        if stream is None:
            return given
        decoder = stream.codec_context
        limit_pictures(decoder)
        decoder.thread_count = 1
        feeding = False
        for packet in chain(packets_of(container, stream), [None]):
            fed = packet is not None and (packet.pts if packet.pts is not None else packet.dts) in tried
            if fed or feeding:
                given.update(_times_out_of(decoder, packet if fed else None))
            if feeding and not fed:
                decoder.flush_buffers()
            feeding = fed
    return given


def _times_out_of(decoder: Any, packet: Any) -> Iterator[int]:
    try:
        pictures = decoder.decode(packet)
    except damage():
        return
    for picture in pictures:
        pts = picture.pts if picture.pts is not None else picture.dts
        if pts is not None:
            yield pts
