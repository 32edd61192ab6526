"""The pictures by which a stretch of a video is described, out of one decoding pass.

The pass reads the pictures at scattered times, leaves out those that look like the one before, and keeps
the others on disk, with small copies for people. A picture that was left out leaves its trace: `until` of
the frame before it says up to when nothing changed.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
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
    """The pictures that differ, in order of time; their pixels are read without decoding again for as long
    as the context they come from is open, and decoded afterwards."""
    thumbnails: tuple[Thumbnail, ...]
    """At most `MOST_THUMBNAILS` of these, spread over the stretch."""
    repeats: int
    """How many pictures were left out because they look like the one before."""


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
        yield gather(frames, times, video.pixels(frames), spool)


def gather(
    frames: Sequence[Frame], times: Sequence[float], pixels: "Iterator[NDArray[np.uint8]]", spool: Spool
) -> SegmentPictures:
    """Keep what differs. `times`, ascending: when each frame, or the one before it still, was on display."""
    kept: list[Frame] = []
    lasts: list[float] = []  # when each kept picture was last seen
    thumbnails: list[Thumbnail] = []
    anchor = None
    for frame, last, rgb in zip(frames, _last_times(frames, times), pixels, strict=True):
        if anchor is not None and nearly_same(anchor, rgb):
            lasts[-1] = last
            continue
        anchor = rgb
        kept.append(spool.keep(frame, rgb))
        lasts.append(last)
        thumbnails.append(Thumbnail(frame.time, thumbnail(rgb)))
    return SegmentPictures(
        frames=tuple(
            replace(frame, until=last) if last > frame.time else frame
            for frame, last in zip(kept, lasts, strict=True)
        ),
        thumbnails=tuple(_spread(thumbnails)),
        repeats=len(frames) - len(kept),
    )


def _last_times(frames: Sequence[Frame], times: Sequence[float]) -> list[float]:
    """When each frame was last looked at: its own time, or a later one of `times` that found it again."""
    lasts = [frame.time for frame in frames]
    starts = list(lasts)
    before = -1
    for time in times:
        number = bisect_right(starts, time + GRACE_S) - 1
        if number == before and number >= 0:
            lasts[number] = time
        before = number
    return lasts


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
