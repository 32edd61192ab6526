"""Lines of text that were read already, recognised by their pixels.

A line is known when nowhere in it a patch of the size of a stroke differs, so that `Step 0` never passes for
`Step 3`; a loose correlation over the whole line would let it.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from evoharness.models.embedded.text_regions import Line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CAPACITY = 200
"""Lines kept for one recording at one size."""
REJECTED = 40
"""Lines kept that turned out to be no text."""


@dataclass(frozen=True)
class KnownLine:
    """A line that was read, with the grey pixels it was read from."""

    pixels: "NDArray[np.uint8]"
    text: str
    """Empty: it is no text."""
    score: float

    @property
    def width(self) -> int:
        """Pixels across."""
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        """Pixels down."""
        return int(self.pixels.shape[0])


class KnownLines:
    """The lines read lately in one recording, at one size; the newest are tried first."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._lines: deque[KnownLine] = deque(maxlen=capacity)
        self._rejected: deque[KnownLine] = deque(maxlen=REJECTED)
        self._fresh: list[KnownLine] = []
        self.learned = 0
        """Number of the last line that was learned from elsewhere."""

    def add(self, line: Line, grey: "NDArray[np.uint8]", text: str, score: float) -> None:
        """Remember what a line of this picture says; an empty text: that it is no text."""
        pixels = grey[line.top : line.bottom, line.left : line.right].copy()
        known = KnownLine(pixels, text, score)
        if not text:
            self._rejected.appendleft(known)
            return
        self._lines.appendleft(known)
        self._fresh.append(known)

    def learn(self, numbered: Iterable[tuple[int, KnownLine]]) -> None:
        """Take over lines that were read in other processes, with their numbers."""
        for number, known in numbered:
            self._lines.appendleft(known)
            self.learned = max(self.learned, number)

    def fresh(self) -> list[KnownLine]:
        """The texts added here since the last call."""
        added, self._fresh = self._fresh, []
        return added

    def find(self, line: Line, grey: "NDArray[np.uint8]") -> KnownLine | None:
        """A known line that shows the same pixels, at the same place or elsewhere."""
        width, height = line.width, line.height
        for known in chain(self._lines, self._rejected):
            if abs(known.width - width) > 2 or abs(known.height - height) > 2:
                continue
            if _same_pixels(known.pixels, grey, line):
                return known
        return None


def _same_pixels(pixels: "NDArray[np.uint8]", grey: "NDArray[np.uint8]", line: Line) -> bool:
    import cv2
    import numpy as np

    height, width = pixels.shape
    top, left = max(0, line.top - 2), max(0, line.left - 2)
    area = grey[top : line.bottom + 2, left : line.right + 2]
    if area.shape[0] < height or area.shape[1] < width:
        return False
    if area.shape == pixels.shape:
        best = (0, 0)
    else:
        errors = cv2.matchTemplate(area, pixels, cv2.TM_SQDIFF)
        best = cv2.minMaxLoc(errors)[2]
    found = area[best[1] : best[1] + height, best[0] : best[0] + width]
    patch = max(3, height // 5)
    difference = cv2.blur(cv2.absdiff(found, pixels), (patch, patch))
    contrast = float(np.ptp(pixels))
    return bool(difference.max() < max(6.0, 0.15 * contrast))
