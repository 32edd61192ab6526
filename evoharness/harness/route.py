"""Routes: which strategy answers questions about a video of a given length."""

from evoharness.records.base import Record


class Route(Record):
    """One row of the routing table; the first row that takes a duration decides."""

    until_s: float | None = None
    """Longest video that takes this route, in seconds; None: whatever is left."""
    including: bool = True
    """Whether a video of exactly `until_s` takes it."""
    strategy: str
    """Name of the strategy."""
    memory: bool = False
    """Whether the strategy may read the video's memory."""

    def takes(self, duration: float) -> bool:
        """Whether a video of `duration` seconds takes this route."""
        if self.until_s is None:
            return True
        return duration < self.until_s or (self.including and duration == self.until_s)
