"""Which times to look at."""

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
