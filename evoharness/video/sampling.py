"""Which times to look at."""

from random import Random

from evoharness.records.interval import Interval


def sample_times(span: Interval, fps: float, cap: int | None = None) -> list[float]:
    """Times in seconds: `start`, `start + 1/fps`, … before the end of the span; an instant is one time.

    Where that is more than `cap`, the rate is lowered until it is not: the times stay evenly spread over
    the whole span. None means no cap. ValueError when `fps` is not positive or `cap` is below one.
    """
    if not fps > 0:
        raise ValueError(f"a sampling rate is positive, not {fps} fps")
    if cap is not None and cap < 1:
        raise ValueError(f"a cap of frames is at least 1, not {cap}")
    count = max(1, int(span.duration * fps))
    if count / fps < span.duration - 1e-9:
        count += 1
    step = 1 / fps
    if cap is not None and count > cap:
        count = cap
        step = span.duration / cap
    return [span.start + number * step for number in range(count)]


def scattered_times(span: Interval, fps: float, cap: int | None, seed: str) -> list[float]:
    """As many times as `sample_times` gives, one in each of its steps, each at a place drawn from `seed`.

    A regular grid sees just what every other grid of the same phase sees, and misses what they all miss;
    times that are scattered share a phase with nobody.
    """
    rng = Random(seed)
    starts = sample_times(span, fps, cap)
    ends = [*starts[1:], span.end]
    return [rng.uniform(start, end) for start, end in zip(starts, ends, strict=True)]
