"""Time in a video: seconds of presentation time from its first frame."""

from typing import Self

from pydantic import model_validator

from evoharness.records.base import Record


class Interval(Record):
    """A closed span of presentation time, in seconds."""

    start: float
    """Seconds from the first frame; never negative."""
    end: float
    """Seconds from the first frame; not before `start`."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"an interval needs 0 <= start <= end, not {self.start}..{self.end}")
        return self

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.end - self.start

    @property
    def middle(self) -> float:
        """The instant halfway, in seconds."""
        return (self.start + self.end) / 2

    def overlaps(self, other: "Interval") -> bool:
        """Whether the two share at least one instant."""
        return self.start <= other.end and other.start <= self.end

    def widened(self, seconds: float, duration: float) -> "Interval":
        """The interval with `seconds` more on each side, kept inside a video of `duration`."""
        return Interval(start=max(0.0, self.start - seconds), end=min(duration, self.end + seconds))


def merged(intervals: list[Interval], gap: float = 0.0) -> list[Interval]:
    """The intervals in order of time, joined where they overlap or lie at most `gap` seconds apart."""
    joined: list[Interval] = []
    for interval in sorted(intervals, key=lambda i: (i.start, i.end)):
        if joined and interval.start - joined[-1].end <= gap:
            joined[-1] = Interval(start=joined[-1].start, end=max(joined[-1].end, interval.end))
        else:
            joined.append(interval)
    return joined
