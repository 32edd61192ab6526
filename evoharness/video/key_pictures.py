"""Pictures at key frames alone: a look at a whole video that decodes a hundredth of it."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.records.frame import Detail
from evoharness.video.container import damage, limit_pictures, open_container, packets_of, pick_stream
from evoharness.video.detail import fit
from evoharness.video.index import PacketIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def widest_gap(index: PacketIndex) -> float:
    """The longest stretch, in seconds, in which decoding cannot start anywhere; the whole video at most."""
    unit, first = index.seconds_per_unit, index.pts[0]
    starts = [(pts - first) * unit for pts in index.keys if pts >= first]
    return max(later - earlier for earlier, later in pairwise([0.0, *starts, index.duration]))


def key_times(index: PacketIndex, times: Sequence[float]) -> list[int]:
    """For each time the last key frame that is shown at or before it, each one once, in units."""
    found: list[int] = []
    for time in times:
        pts = index.key_before(index.pts[index.number_at(time)])
        if pts is not None and pts >= index.pts[0] and (not found or pts > found[-1]):
            found.append(pts)
    return found


def key_pictures(
    path: Path, wanted: Sequence[int], threads: int = 1
) -> "Iterator[tuple[int, NDArray[np.uint8]]]":
    """(time in units, RGB array at the small level of detail) of key frames, in order of time.

    `wanted`: their times, ascending. One that cannot be decoded is left out. The pictures are not turned
    upright. May raise what opening the file raises.
    """
    missing = set(wanted)
    with open_container(path) as container:
        stream = pick_stream(container)
        if stream is None:
            return
        decoder = stream.codec_context
        limit_pictures(decoder)
        decoder.thread_count = threads
        decoder.thread_type = "FRAME"
        decoder.skip_frame = "NONKEY"
        for packet in chain(packets_of(container, stream), [None]):
            if packet is not None and not (packet.is_keyframe and _time(packet) in missing):
                continue
            try:
                pictures = decoder.decode(packet)
            except damage():
                continue
            for picture in pictures:
                pts = _time(picture)
                if pts in missing:
                    missing.discard(pts)
                    yield pts, _small(picture)


def _time(timed: Any) -> int | None:
    """When a packet or a picture is shown, as the index has it."""
    pts: int | None = timed.pts if timed.pts is not None else timed.dts
    return pts


def _small(picture: Any) -> "NDArray[np.uint8]":
    width, height = fit(picture.width, picture.height, Detail.SMALL)
    small: NDArray[np.uint8] = picture.to_ndarray(
        format="rgb24", width=width, height=height, interpolation="AREA"
    )
    return small
