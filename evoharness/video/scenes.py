"""Where a video changes: segments of 30 to 300 seconds (appendix A.1)."""

from itertools import pairwise
from typing import TYPE_CHECKING

from evoharness.records.base import Record
from evoharness.records.frame import Detail
from evoharness.records.interval import Interval
from evoharness.video.sampling import sample_times

if TYPE_CHECKING:
    from evoharness.video.video import Video


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
    times, scores = differences(video, settings.scene_fps)
    return cut(times, scores, video.info.duration, settings)


def differences(video: "Video", fps: float) -> tuple[list[float], list[float]]:
    """Times (seconds) of sampled pictures after the first, and how much each differs from the one before.

    The difference is the mean change of hue, lightness and saturation over the pixels, summed.
    """
    import cv2
    import numpy as np

    span = Interval(start=0, end=video.info.duration)
    frames = video.frames(sample_times(span, fps), Detail.SMALL)
    scores = []
    before = None
    for pixels in video.pixels(frames):
        hls = cv2.cvtColor(pixels, cv2.COLOR_RGB2HLS)
        if before is not None:
            change = np.abs(hls.astype(np.int16) - before.astype(np.int16))
            hue = np.minimum(change[..., 0], 180 - change[..., 0])  # hue is a circle of 180 steps
            scores.append(float(hue.mean() + change[..., 1].mean() + change[..., 2].mean()))
        before = hls
    return [frame.time for frame in frames[1:]], scores


def cut(times: list[float], scores: list[float], duration: float, settings: SceneSettings) -> list[Interval]:
    """Cuts from differences: the threshold whose median segment comes nearest to (minimum + maximum) / 2."""
    wish = (settings.minimum_s + settings.maximum_s) / 2
    best: tuple[float, float, list[float]] | None = None
    thresholds = sorted(set(scores))
    for threshold in thresholds[:: 1 + len(thresholds) // MOST_THRESHOLDS]:
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
        parts = max(1, -int(-(end - start) // settings.maximum_s))
        bounds += [start + (end - start) * part / parts for part in range(1, parts + 1)]
    return bounds
