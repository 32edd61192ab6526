"""Pictures that stayed: one known to last counts as seen again and again, as it would have been."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from evoharness.records.frame import Frame


def sightings(frames: Sequence[Frame], start: float = 0.0) -> list[tuple[int, float]]:
    """(position in `frames`, time) of each sight, in order of time, for frames in that order.

    A frame is seen at its own time and, if it lasted, up to the end of that: at the usual distance of the
    frames, so that what lasts is told from what is seen once. What lasts since before `start` counts from
    there.
    """
    ends = [frame.time if frame.until is None else max(frame.time, frame.until) for frame in frames]
    gaps = [frame.time - end for end, (_, frame) in zip(ends, pairwise(frames), strict=False)]
    step = median(gaps) if gaps else 0.0
    seen: list[tuple[int, float]] = []
    for position, (frame, end) in enumerate(zip(frames, ends, strict=True)):
        first = frame.time if end == frame.time else min(end, max(frame.time, start))
        seen.append((position, first))
        lasts = end - first
        if lasts > 0:
            times = max(1, round(lasts / step)) if step > 0 else 1
            seen += [(position, first + lasts * number / times) for number in range(1, times + 1)]
    return seen
