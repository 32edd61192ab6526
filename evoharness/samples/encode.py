"""Write a timeline as an H.264 file."""

import os
import tempfile
from fractions import Fraction
from pathlib import Path

import av
from av.video.frame import PictureType

from evoharness.samples.scene import Stage
from evoharness.samples.timeline import Timeline

KEY_SECONDS = 3
"""A key frame at least this often, so that any instant can be reached quickly."""


def encode(timeline: Timeline, path: Path) -> int:
    """Draw and encode a whole recording; returns the number of frames in the file.

    At a constant rate every frame is there. At a variable rate a frame is there when something changes,
    and once a second besides. The file appears under its name when it is complete.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=".unfinished-", suffix=".mp4", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            written = _write(timeline, file)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return written


def _write(timeline: Timeline, file: object) -> int:
    fps, last = timeline.fps, round(timeline.duration * timeline.fps) - 1
    written, since, key = 0, 0, -KEY_SECONDS * fps
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = timeline.width, timeline.height, "yuv420p"
        stream.time_base = Fraction(1, 90_000)
        context = stream.codec_context
        context.time_base = Fraction(1, fps)
        context.thread_count = 1
        context.gop_size = 20 * KEY_SECONDS * fps
        stream.options = {"preset": "ultrafast", "qp": "20"}
        for number, canvas, changed in Stage(timeline).frames():
            if timeline.variable_rate and not changed and number - since < fps and number < last - 1:
                continue
            since = number
            frame = av.VideoFrame.from_ndarray(canvas.planes, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            if number - key >= KEY_SECONDS * fps:
                frame.pict_type, key = PictureType.I, number
            container.mux(stream.encode(frame))
            written += 1
        container.mux(stream.encode(None))
    return written
