"""A remark: one English sentence about what some frames show, with its parts for those who want them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from evoharness.records.interval import Interval


@dataclass(frozen=True)
class Remark:
    """One thing that can be said."""

    kind: str
    """`text`, `presence`, `appearance`, `departure`, `motion`, `change`, `count`, `repetition` or
    `relation`."""
    start: float
    """Seconds."""
    end: float
    """Seconds."""
    text: str
    """The sentence, without a full stop."""
    weight: float
    """How much it matters when nothing particular is asked, from 0 to 1."""
    subject: str = ""
    action: str = ""
    object: str = ""

    @property
    def interval(self) -> Interval:
        """When it holds."""
        return Interval(start=self.start, end=self.end)


class Timeline:
    """When frames were taken, and what may be said of the time between them.

    A state seen first in one frame began somewhere after the frame before: the middle between the two is the
    best guess. States seen in the first or last frame reach to the ends of the span when these are less than
    one sampling step away.
    """

    def __init__(self, times: Sequence[float], span: Interval) -> None:
        self.times = times
        gaps = [later - earlier for earlier, later in pairwise(times)]
        self.step = median(gaps) if gaps else 0.0
        self._span = span

    def start(self, index: int) -> float:
        """When a state seen first in that frame began."""
        here = self.times[index]
        if index > 0:
            return (self.times[index - 1] + here) / 2
        first = self._span.start
        return first if 0 <= here - first <= 1.01 * self.step else here

    def end(self, index: int) -> float:
        """When a state seen last in that frame ended."""
        here = self.times[index]
        if index + 1 < len(self.times):
            return (here + self.times[index + 1]) / 2
        last = self._span.end
        return last if 0 <= last - here <= 1.5 * self.step else here

    def remark(
        self,
        kind: str,
        frames: tuple[int, int],
        text: str,
        weight: float,
        parts: tuple[str, str, str] = ("", "", ""),
    ) -> Remark:
        """A remark about the frames from the first to the last index; `parts`: subject, action, object."""
        start, end = self.start(frames[0]), self.end(frames[1])
        return Remark(kind, round(start, 2), round(max(start, end), 2), text, weight, *parts)

    def change(self, kind: str, frame: int, text: str, weight: float, parts: tuple[str, str, str]) -> Remark:
        """A remark about a change first seen in that frame: it happened since the frame before."""
        before = self.times[max(0, frame - 1)]
        return Remark(kind, round(before, 2), round(self.times[frame], 2), text, weight, *parts)
