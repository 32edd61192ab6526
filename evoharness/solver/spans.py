"""Spans as strategies write them, and how frames are shared over them."""

import math
from typing import Any

from evoharness.records.interval import Interval
from evoharness.sandbox import HostCallError

MOST_SPANS = 1000
"""Spans of one look."""


def read_spans(value: Any, duration: float) -> list[Interval]:
    """Intervals inside a video of `duration` seconds, in the order given.

    `value`: a list of `[start, end]` or `{start, end}` in seconds, or one of them, or nothing, which means
    the whole video. What lies outside the video is cut off. HostCallError for anything else.
    """
    whole = Interval(start=0.0, end=duration)
    if value is None or value == []:
        return [whole]
    items = [value] if isinstance(value, dict) or _is_pair(value) else value
    if not isinstance(items, list):
        raise HostCallError("spans must be a list of [start, end] in seconds")
    if len(items) > MOST_SPANS:
        raise HostCallError(f"{len(items)} spans; {MOST_SPANS} is the most")
    intervals = []
    for item in items:
        start, end = _ends(item)
        if start < duration or start == end == duration:
            first = min(max(0.0, start), duration)
            intervals.append(Interval(start=first, end=min(max(first, end), duration)))
    if not intervals:
        raise HostCallError(f"no span lies inside the video (0 to {duration:.1f} s)")
    return intervals


def shared(frames: int, spans: list[Interval]) -> list[int]:
    """How many frames each span gets: one, and what is left over in proportion to its length.

    When there are fewer frames than spans, the longest spans get one each.
    """
    longest_first = sorted(range(len(spans)), key=lambda i: (-spans[i].duration, i))
    if frames <= len(spans):
        chosen = set(longest_first[:frames])
        return [int(i in chosen) for i in range(len(spans))]
    left = frames - len(spans)
    total = sum(span.duration for span in spans)
    claims = [left * (span.duration / total if total else 1 / len(spans)) for span in spans]
    shares = [1 + int(claim) for claim in claims]
    by_remainder = sorted(range(len(spans)), key=lambda i: (int(claims[i]) - claims[i], i))
    for i in by_remainder[: frames - sum(shares)]:
        shares[i] += 1
    return shares


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(x, int | float) for x in value)


def _ends(item: Any) -> tuple[float, float]:
    pair: Any = [item.get("start"), item.get("end")] if isinstance(item, dict) else item
    if not _is_pair(pair) or not all(math.isfinite(x) for x in pair) or pair[1] < pair[0]:
        raise HostCallError(f"a span is [start, end] in seconds with start <= end, not {str(item)[:80]}")
    return float(pair[0]), float(pair[1])
