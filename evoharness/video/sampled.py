"""The pictures by which a stretch of a video is described, out of one decoding pass.

The pass reads the pictures at scattered times, leaves out those that look like the one before, and keeps
the others on disk, with small copies for people. A picture that was left out leaves its trace: `until` of
the frame before it says up to when nothing changed.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
from evoharness.video.ahead import ahead
from evoharness.video.likeness import nearly_same
from evoharness.video.sampling import scattered_times
from evoharness.video.spool import Spool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.video.video import Video

THUMBNAIL_WIDTH = 160
THUMBNAIL_QUALITY = 70
MOST_THUMBNAILS = 12
"""Of one stretch."""
GRACE_S = 5e-7
"""A picture's own time, as a float, must find that picture."""


@dataclass(frozen=True)
class Thumbnail:
    """A small copy of a picture, for people."""

    time: float
    """Seconds from the first picture of the video."""
    jpeg: bytes


@dataclass(frozen=True)
class SegmentPictures:
    """What a stretch of a video looks like."""

    frames: tuple[Frame, ...]
    """The pictures that differ, of those that can be decoded, in order of time; their pixels are read without
    decoding again for as long as the context they come from is open, and decoded afterwards."""
    thumbnails: tuple[Thumbnail, ...]
    """At most `MOST_THUMBNAILS` of these, spread over the stretch."""
    repeats: int
    """How many looks found what the look before had found, or what hardly differs from it."""


@contextmanager
def sampled(
    video: "Video",
    span: Interval,
    *,
    fps: float,
    cap: int | None,
    detail: Detail,
    least: int = 1,
    folder: Path | None = None,
) -> Iterator[SegmentPictures]:
    """The pictures of a span at `fps`, at most `cap`, at scattered times (see `scattered_times`).

    A span so short that there would be fewer than `least` is looked at more often. `folder`: where decoded
    pictures are kept meanwhile; None: where the system keeps temporary files.
    """
    if span.duration > 0:
        fps = max(fps, min(least, cap or least) / span.duration)
    times = scattered_times(span, fps, cap, f"{video.info.content_hash} {span.start}")
    frames = video.frames(times, detail)
    with Spool(video, folder) as spool:
        distinct = Distinct(spool)
        shown = {at: distinct.add(frames[at], rgb) for at, rgb in readable(video, frames, folder)}
        yield distinct.seen_in(sights(frames, shown, times))


def readable(
    video: "Video", frames: Sequence[Frame], folder: Path | None
) -> "Iterator[tuple[int, NDArray[np.uint8]]]":
    """(position in `frames`, RGB array) of those that can be decoded; nothing stands in for the others.

    Which ones can, may only be known at the end of a pass over a file that is damaged; so what comes out of
    such a one is kept in `folder` until then.
    """
    lost = video.losses.pictures
    numbers = [video.index.number_at(frame.time) for frame in frames]
    if not video.info.warnings:
        for at, rgb in enumerate(ahead(video.pixels(frames))):
            if numbers[at] not in lost:
                yield at, rgb
        return
    with Spool(video, folder) as spool:
        kept = [spool.keep(frame, rgb) for frame, rgb in zip(frames, video.pixels(frames), strict=True)]
        good = [at for at, number in enumerate(numbers) if number not in lost]
        yield from zip(good, spool.pixels([kept[at] for at in good]), strict=True)


@dataclass(frozen=True)
class Sight:
    """A look at a time."""

    time: float
    """Seconds."""
    picture: int
    """Which of the distinct pictures was on display, or one that hardly differs from it."""


def sights(frames: Sequence[Frame], shown: Mapping[int, int], times: Sequence[float]) -> list[Sight]:
    """What was seen at each of `times`, ascending: the last frame that begins at or before it.

    `shown`: which distinct picture each frame shows, by its position; of the others nothing was seen.
    """
    starts = [frame.time for frame in frames]
    found = ((time, max(0, bisect_right(starts, time + GRACE_S) - 1)) for time in times)
    return [Sight(time, shown[at]) for time, at in found if at in shown]


class Distinct:
    """Pictures in order of time, those left out that look like the last one that was not."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._frames: list[Frame] = []
        self._thumbnails: list[Thumbnail] = []
        self._last: NDArray[np.uint8] | None = None

    def add(self, frame: Frame, rgb: "NDArray[np.uint8]") -> int:
        """The number of the picture that stands for this one: its own, when it is kept."""
        if self._last is None or not nearly_same(self._last, rgb):
            self._last = rgb
            self._frames.append(self._spool.keep(frame, rgb))
            self._thumbnails.append(Thumbnail(frame.time, thumbnail(rgb)))
        return len(self._frames) - 1

    def seen_in(self, looks: Sequence[Sight], since: float = 0.0) -> SegmentPictures:
        """The pictures of a stretch, out of all looks at it in order of time.

        Of one that was there before `since`, where the stretch begins, it is told how long it stays also when
        it was looked at only once.
        """
        frames, thumbnails, repeats = [], [], 0
        for number, group in groupby(looks, key=lambda look: look.picture):
            times = [look.time for look in group]
            frame = self._frames[number]
            until = times[-1] if len(times) > 1 or frame.time < since else None
            frames.append(replace(frame, until=until))
            thumbnails.append(self._thumbnails[number])
            repeats += len(times) - 1
        return SegmentPictures(tuple(frames), tuple(_spread(thumbnails)), repeats)


def _spread(thumbnails: Sequence[Thumbnail]) -> list[Thumbnail]:
    """Not more than enough of them, evenly spread."""
    count = min(len(thumbnails), MOST_THUMBNAILS)
    return [thumbnails[number * len(thumbnails) // count] for number in range(count)]


def thumbnail(rgb: "NDArray[np.uint8]") -> bytes:
    """A small JPEG of an RGB picture."""
    import cv2

    height, width = rgb.shape[:2]
    size = (THUMBNAIL_WIDTH, max(1, round(height * THUMBNAIL_WIDTH / width)))
    small = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)
    quality = [cv2.IMWRITE_JPEG_QUALITY, THUMBNAIL_QUALITY]
    return bytes(cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), quality)[1])
