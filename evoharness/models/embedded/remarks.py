"""A remark: one English sentence about what some frames show, with its parts for those who want them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evoharness.records.interval import Interval


@dataclass(frozen=True)
class Remark:
    """One thing that can be said."""

    kind: str
    """`text`, `presence`, `appearance`, `departure`, `motion`, `change`, `count`, `repetition`,
    `relation`, `contact` or `unread`."""
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

    A frame stands for the time up to the next one. A state first seen in a frame began at most one sampling
    step before it: the middle is the best guess. A longer gap between two frames means that the picture
    stayed (pictures that repeat are handed over once), so it does not widen the guess.
    """

    def __init__(self, times: Sequence[float], span: Interval) -> None:
        self.times = times
        gaps = sorted(later - earlier for earlier, later in pairwise(times))
        self.step = gaps[len(gaps) // 4] if gaps else 0.0
        self._span = span

    def start(self, index: int) -> float:
        """When a state seen first in that frame began."""
        if index <= 0:
            return self._span.start
        return self._within(self.times[index] - self._doubt(index))

    def end(self, index: int) -> float:
        """When a state seen last in that frame ended."""
        if index + 1 >= len(self.times):
            return self._span.end
        return self._within(self.times[index + 1] - self._doubt(index + 1))

    def brief(self, first: int, last: int) -> bool:
        """Whether a state seen from one frame to another lasted about a sampling step or less."""
        return 0 < self.step <= 2.0 and self.end(last) - self.start(first) <= 1.3 * self.step

    def _doubt(self, index: int) -> float:
        """Half of the time before a frame in which a change may have happened."""
        return min(self.times[index] - self.times[index - 1], self.step) / 2

    def _within(self, time: float) -> float:
        return min(self._span.end, max(self._span.start, time))

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
        here = self.times[frame]
        before = here - 2 * self._doubt(frame) if frame else here
        start, end = round(self._within(before), 2), round(self._within(here), 2)
        return Remark(kind, start, max(start, end), text, weight, *parts)

    def during(
        self, kind: str, frames: tuple[int, int], text: str, weight: float, parts: tuple[str, str, str]
    ) -> Remark:
        """A remark about what goes on between two frames."""
        start, end = (round(self._within(self.times[index]), 2) for index in frames)
        return Remark(kind, start, max(start, end), text, weight, *parts)
