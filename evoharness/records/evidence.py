"""Evidence: one thing that was gathered to answer a question."""

from evoharness.records.base import Record
from evoharness.records.interval import Interval


class Evidence(Record):
    """A piece of text about a stretch of the video, and how it was come by."""

    source: str
    """The call that gathered it: `look`, `localize`, `search`, `records`, `transcript`, …"""
    interval: Interval | None = None
    """The stretch that it speaks of; None when it speaks of no particular time."""
    text: str
    """What was found."""
    frames: tuple[str, ...] = ()
    """Opaque ids of the frames behind it."""
