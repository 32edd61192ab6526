"""What is heard in a video, addressed in seconds like its pictures."""

import io
import wave
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.records.interval import Interval
from evoharness.video.container import beyond_opening, damage, open_container, packets_of
from evoharness.video.errors import NotAVideo
from evoharness.video.probe import examine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE = 16_000
"""Samples a second, which models of speech work with."""
GAP_S = 0.1
"""A jump of the times larger than this is silence, or an overlap; a smaller one is rounding."""


def has_sound(path: Path) -> bool:
    """Whether a file has an audio stream that can be decoded; False for what is no such file."""
    try:
        with open_container(path) as container:
            return _stream(container) is not None
    except beyond_opening():
        return False


def sound_of(path: Path, span: Interval) -> "NDArray[np.int16]":
    """Mono samples at 16 kHz of a span, silence where the file has none.

    Second 0 is the first picture, or the first sound of a file without pictures. Shape: (seconds × 16,000,).
    """
    import numpy as np

    samples = np.zeros(max(0, round(span.duration * RATE)), dtype=np.int16)
    try:
        with open_container(path) as container:
            stream = _stream(container)
            if stream is not None:
                _fill(samples, container, stream, span.start + _begins(path, stream))
    except beyond_opening():
        pass  # what could be read until then is there
    return samples


def as_wav(samples: "NDArray[np.int16]") -> bytes:
    """The samples as a WAV file, which every server of speech models takes."""
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(RATE)
        written.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


def _stream(container: Any) -> Any | None:
    import av

    streams = [s for s in container.streams.audio if s.codec_context is not None]
    preferred = [s for s in streams if s.disposition & av.stream.Disposition.default]
    return next(iter(preferred + streams), None)


def _begins(path: Path, sound: Any) -> float:
    """Presentation time, in seconds, of what counts as second 0."""
    stamp = path.stat()
    shown = _first_shown(path.absolute(), stamp.st_mtime_ns, stamp.st_size)
    return float((sound.start_time or 0) * sound.time_base) if shown is None else shown


@lru_cache(maxsize=16)
def _first_shown(path: Path, _changed: int, _size: int) -> float | None:
    """Presentation time of the first picture that is shown; None for a file without pictures.

    Remembered, as a long video is listened to in many stretches.
    """
    try:
        index = examine(path).index
    except NotAVideo:
        return None
    return index.pts[0] * index.seconds_per_unit


def _fill(samples: "NDArray[np.int16]", container: Any, stream: Any, start: float) -> None:
    """Write what is heard from `start` on, in presentation time, to its place in `samples`."""
    import av

    unit = float(stream.time_base)
    if start > 1:
        try:
            container.seek(int((start - 1) / unit), stream=stream, backward=True)
        except damage():
            container.seek(0)
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    place: int | None = None
    for packet in packets_of(container, stream):
        try:
            pieces = stream.codec_context.decode(packet)
        except damage():
            continue
        for piece in pieces:
            at = place if piece.pts is None else round((piece.pts * unit - start) * RATE)
            if at is None:
                continue
            if place is None or abs(at - place) > GAP_S * RATE:
                if place is not None:
                    place = _write(samples, resampler.resample(None), place)
                    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
                place = at
            if place >= len(samples):
                return
            piece.pts = None
            place = _write(samples, resampler.resample(piece), place)
    if place is not None:
        _write(samples, resampler.resample(None), place)


def _write(samples: "NDArray[np.int16]", pieces: Any, place: int) -> int:
    """Copy what lies inside the array; gives the place behind the pieces."""
    for piece in pieces:
        heard = piece.to_ndarray().reshape(-1)
        begin, end = max(place, 0), min(place + len(heard), len(samples))
        if begin < end:
            samples[begin:end] = heard[begin - place : end - place]
        place += len(heard)
    return place
