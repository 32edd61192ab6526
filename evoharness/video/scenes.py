"""Where a video changes: segments of 30 to 300 seconds (appendix A.1)."""

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from evoharness.records.base import Record
from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
from evoharness.video.key_pictures import key_pictures, key_times, widest_gap
from evoharness.video.sampling import sample_times

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.video.video import Video


KEYS_APART_S = 15.0
"""Key frames alone are compared where they are no farther apart: half of the shortest segment."""
PART = 0.7
"""What is too long is split into parts of about so many of the longest length."""
MOST_THRESHOLDS = 128
"""How many thresholds are tried; hours of video have more different scores than that."""


class SceneSettings(Record):
    """How a video is cut into segments (Table 6, memory construction)."""

    scene_fps: float = 0.25
    """Rate at which pictures are compared."""
    minimum_s: float = 30.0
    """No segment is shorter, unless the video is."""
    maximum_s: float = 300.0
    """No segment is longer."""


def scenes(video: "Video", settings: SceneSettings | None = None) -> list[Interval]:
    """Segments that follow each other from 0 to the end of the video."""
    settings = settings or SceneSettings()
    duration = video.info.duration
    if one_segment(duration, settings):
        return cut([], [], duration, settings)
    times, scores = differences(video, settings.scene_fps)
    return cut(times, scores, duration, settings)


def differences(video: "Video", fps: float) -> tuple[list[float], list[float]]:
    """Times (seconds) of sampled pictures after the first, and how much each differs from the one before.

    Where key frames lie close together, each sample is taken at the last key frame at or before its time,
    and nothing else is decoded; elsewhere, and in damaged files, those at the very times are compared.
    """
    if keys_are_close(video) and not video.info.warnings:
        change = _by_keys(video, fps)
        if change is not None:
            return change.times, change.scores
    change = Change()
    frames = compared_frames(video, fps)
    for frame, rgb in zip(frames, video.pixels(frames), strict=True):
        change.add(frame.time, rgb)
    return change.times, change.scores


def _by_keys(video: "Video", fps: float) -> "Change | None":
    """The differences of key frames; None when one of them did not come."""
    from evoharness.video.video import decoder_threads

    index = video.index
    wanted = key_times(index, sample_times(Interval(start=0, end=video.info.duration), fps))
    change, found = Change(), 0
    for pts, rgb in key_pictures(video.path, wanted, decoder_threads()):
        change.add((pts - index.pts[0]) * index.seconds_per_unit, rgb)
        found += 1
    return change if found == len(wanted) else None


def compared_frames(video: "Video", fps: float) -> list[Frame]:
    """The pictures that are compared where key frames do not suffice."""
    return video.frames(sample_times(Interval(start=0, end=video.info.duration), fps), Detail.SMALL)


def keys_are_close(video: "Video") -> bool:
    """Whether decoding can start near any picture."""
    return not video.index.counted and widest_gap(video.index) <= KEYS_APART_S


def one_segment(duration: float, settings: SceneSettings) -> bool:
    """Whether a video cannot be cut, wherever it changes."""
    return duration < 2 * settings.minimum_s and duration <= settings.maximum_s


class Change:
    """How much each picture of a series differs from the one before."""

    def __init__(self) -> None:
        self.times: list[float] = []
        """Seconds, of all pictures but the first."""
        self.scores: list[float] = []
        """Mean change of hue, lightness and saturation over the pixels, summed."""
        self._before: NDArray[np.uint8] | None = None

    def add(self, time: float, rgb: "NDArray[np.uint8]") -> None:
        """The next picture."""
        import cv2
        import numpy as np

        hls = cv2.cvtColor(rgb, cv2.COLOR_RGB2HLS)
        if self._before is not None:
            change = cv2.absdiff(hls, self._before)
            hue = np.minimum(change[..., 0], 180 - change[..., 0])  # hue is a circle of 180 steps
            self.times.append(time)
            self.scores.append(float(hue.mean() + change[..., 1].mean() + change[..., 2].mean()))
        self._before = hls


def cut(times: list[float], scores: list[float], duration: float, settings: SceneSettings) -> list[Interval]:
    """Cuts from differences: the threshold whose median segment comes nearest to (minimum + maximum) / 2."""
    wish = (settings.minimum_s + settings.maximum_s) / 2
    best: tuple[float, float, list[float]] | None = None
    thresholds = sorted(set(scores))
    for threshold in thresholds[:: -1 - len(thresholds) // MOST_THRESHOLDS]:  # the largest: no cut at all
        bounds = _bounded(times, scores, threshold, duration, settings)
        lengths = sorted(b - a for a, b in pairwise(bounds))
        miss = abs(lengths[len(lengths) // 2] - wish)
        if best is None or (miss, -threshold) < best[:2]:
            best = (miss, -threshold, bounds)
    bounds = best[2] if best else _bounded([], [], 0.0, duration, settings)
    return [Interval(start=a, end=b) for a, b in pairwise(bounds)]


def _bounded(
    times: list[float], scores: list[float], threshold: float, duration: float, settings: SceneSettings
) -> list[float]:
    """Bounds of the segments: cuts above the threshold, short pieces merged, long ones split evenly."""
    starts = [0.0]
    for time, score in zip(times, scores, strict=True):
        if score > threshold and time - starts[-1] >= settings.minimum_s:
            starts.append(time)
    if len(starts) > 1 and duration - starts[-1] < settings.minimum_s:
        starts.pop()
    bounds = [0.0]
    for start, end in zip(starts, [*starts[1:], duration], strict=True):
        parts = _parts(end - start, settings)
        bounds += [start + (end - start) * part / parts for part in range(1, parts + 1)]
    return bounds


def _parts(length: float, settings: SceneSettings) -> int:
    """Into how many a piece is split: none is too long, and none too short where that is possible."""
    if length <= settings.maximum_s:
        return 1
    wished = round(length / (PART * settings.maximum_s))
    most = int(length // settings.minimum_s) if settings.minimum_s > 0 else wished
    return max(math.ceil(length / settings.maximum_s), min(wished, most))
