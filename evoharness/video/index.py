"""The packet index: when each picture of a file is shown, and where decoding can start.

It is made from the packets of one reading of the container, without decoding. Everything that addresses
pictures by time goes through it, so a variable rate, a start offset or a wrong frame count in the header
cannot shift anything.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise

from evoharness.video.packets import Packet


class PacketIndex:
    """Pictures of one stream in order of presentation."""

    def __init__(self, packets: Iterable[Packet], seconds_per_unit: float, *, counted: bool = False) -> None:
        """Orders the packets; ValueError when none of them is shown.

        `counted`: the pictures come in the order of these times, but do not carry them; the nth that is
        decoded is the nth here.
        """
        by_time: dict[int, Packet] = {}
        for packet in packets:
            known = by_time.get(packet.pts)
            if known is None or (packet.shown and not known.shown):
                by_time[packet.pts] = packet
        ordered = [by_time[pts] for pts in sorted(by_time)]
        shown = [packet for packet in ordered if packet.shown]
        if not shown:
            raise ValueError("no packet of the stream is shown")
        self.counted = counted
        self.seconds_per_unit = seconds_per_unit
        self.pts = [packet.pts for packet in shown]
        """When each picture is shown, ascending, in units of the time base."""
        self.keys = [packet.pts for packet in ordered if packet.key]
        """The same for the pictures where decoding can start."""
        self.cut_away = len(ordered) - len(shown)
        """Pictures in the file that an edit list leaves out."""
        self._needed = array("q", accumulate((not packet.spare for packet in shown), initial=0))
        last = ordered[-1] if ordered[-1].pts > shown[-1].pts else shown[-1]
        self.end = last.pts + (last.duration or self._usual_gap())
        """End of the last picture, in units of the time base."""

    def __len__(self) -> int:
        return len(self.pts)

    @property
    def duration(self) -> float:
        """Seconds from the first picture to the end of the last."""
        return (self.end - self.pts[0]) * self.seconds_per_unit

    @property
    def spare(self) -> int:
        """How many pictures no other picture is built from: a decoder can leave them out."""
        return len(self.pts) - self._needed[-1]

    def needed(self, first: int, last: int) -> int:
        """How many of the pictures `first` to `last`, both included, others are built from."""
        return self._needed[last + 1] - self._needed[first]

    def time(self, number: int) -> float:
        """Seconds from the first picture to picture `number`."""
        return (self.pts[number] - self.pts[0]) * self.seconds_per_unit

    def number_at(self, time: float) -> int:
        """Number of the picture on display at `time`: the last one that begins at or before it.

        Times before the first picture give the first, times after the last give the last.
        """
        if time != time:
            raise ValueError("a time is a number of seconds, not NaN")
        # Half a microsecond of grace: a picture's own time, as a float, must find that picture.
        units = (time + 5e-7) / self.seconds_per_unit + self.pts[0]
        return max(0, bisect_right(self.pts, units) - 1)

    def number_of(self, pts: int) -> int:
        """Number of the last picture shown at or before `pts`; -1 when there is none."""
        return bisect_right(self.pts, pts) - 1

    def key_before(self, pts: int) -> int | None:
        """The last place at or before `pts` where decoding can start; None when there is none."""
        position = bisect_right(self.keys, pts)
        return self.keys[position - 1] if position else None

    def _usual_gap(self) -> int:
        gaps = sorted(after - before for before, after in pairwise(self.pts))
        return gaps[len(gaps) // 2] if gaps else round(0.04 / self.seconds_per_unit)
