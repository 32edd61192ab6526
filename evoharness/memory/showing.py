"""The page of a memory, with pictures from the video where none were kept."""

import base64
from typing import TYPE_CHECKING

from evoharness.memory.thumbnails import Picture, Thumbnails
from evoharness.records.frame import Detail
from evoharness.records.memory import VideoMemory
from evoharness.video import NotAVideo, Video, sample_times, thumbnail

if TYPE_CHECKING:
    from evoharness.memory.store import MemoryStore

MOST_FROM_VIDEO = 64
"""Pictures that are decoded for a page when none were kept."""


def page_of(store: "MemoryStore", video: Video) -> str:
    """The page of a video's memory, which is built when there is none."""
    from evoharness.memory.page import render_page

    memory = store.load_or_build(video)
    thumbnails = store.thumbnails(video)
    if thumbnails is None:
        thumbnails = pictures_from(video, memory)
    return render_page(memory, thumbnails, video.path.name)


def pictures_from(video: Video, memory: VideoMemory) -> Thumbnails:
    """Small pictures of each segment, decoded now; none where that cannot be done."""
    each = max(1, MOST_FROM_VIDEO // max(1, len(memory.segments)))
    found = {}
    for segment in memory.segments:
        span = segment.interval
        times = sample_times(span, each / span.duration if span.duration else 1.0, each)
        try:
            frames = video.frames(times, Detail.SMALL)
            pairs = zip(frames, video.pixels(frames), strict=True)
            found[segment.id] = tuple(
                Picture(time=frame.time, jpeg=base64.b64encode(thumbnail(pixels)).decode())
                for frame, pixels in pairs
            )
        except NotAVideo:
            break
    return Thumbnails(segments=found)
