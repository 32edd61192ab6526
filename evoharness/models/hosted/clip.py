"""Frames as one video, for models that take video: the same pictures at the same times, in far fewer bytes.

Such a model samples a video at a rate that the request names. The clip shows each frame from its time until
that of the next one, and the rate is that of the frames: what the model sees is what the harness chose.
"""

import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from evoharness.models.hosted.pictures import Picture, pixels_of
from evoharness.models.hosted.profiles import Profile
from evoharness.records.frame import Frame

UNEVEN = 1.6
"""Gaps that differ by more than this factor are no steady rate."""
MILLISECOND = Fraction(1, 1000)
CRF = "20"
"""Quality of the encoder: lower is better."""


@dataclass(frozen=True)
class Clip:
    """An encoded video, and how to sample it."""

    video: Picture
    fps: float
    """Pictures in a second."""
    seconds: float
    """Its length."""


def suits(frames: Sequence[Frame], profile: Profile) -> bool:
    """Whether frames are better sent as a video: many, alike in size, none too sharp, at a steady rate."""
    if not profile.video or len(frames) < max(2, profile.video_from):
        return False
    first = frames[0]
    if first.width % 2 or first.height % 2 or first.tokens > profile.video_tokens:
        return False
    if any(
        (frame.width, frame.height, frame.box) != (first.width, first.height, first.box) for frame in frames
    ):
        return False
    gaps = _gaps(frames)
    return min(gaps) > 0 and max(gaps) <= UNEVEN * min(gaps) and 1 / max(gaps) <= 24


def make_clip(frames: Sequence[Frame], profile: Profile) -> Clip | None:
    """The frames as an MP4; None when it would be larger than the model takes."""
    import av

    gap = statistics.median(_gaps(frames))
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", options={"crf": CRF, "preset": "veryfast", "threads": "1"})
        stream.width, stream.height = frames[0].width, frames[0].height
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = MILLISECOND
        last = None
        for frame, pixels in zip(frames, pixels_of(frames), strict=True):
            last = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            last.time_base = MILLISECOND
            last.pts = round(1000 * (frame.time - frames[0].time))
            container.mux(stream.encode(last))
        assert last is not None
        last.pts += round(1000 * gap)  # without an end, the last frame would be shown for no time
        container.mux(stream.encode(last))
        container.mux(stream.encode(None))
    video = Picture(buffer.getvalue(), "video/mp4")
    if len(video.data) > profile.max_video_bytes:
        return None
    return Clip(video, round(1 / gap, 3), round(frames[-1].time - frames[0].time + gap, 3))


def _gaps(frames: Sequence[Frame]) -> list[float]:
    return [later.time - earlier.time for earlier, later in pairwise(frames)]
