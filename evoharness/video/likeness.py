"""Whether two pictures show the same, but for the noise of a lossy encoder.

A mean over the whole picture would overlook a small thing that moves; so the difference is taken place by
place, at the width of a stroke and at the size of a letter, and every place has to pass. An encoder's noise
gathers around sharp edges, where people do not see it either, so a place may differ by a share of the
contrast around it: next to nothing on an even ground, where even something faint would be news.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REACH = 8
"""Pixels around an edge that its noise reaches: a block of the usual codecs."""


class Tolerance(NamedTuple):
    """How much squares of one size may differ."""

    side: int
    """Pixels."""
    flat: float
    """Largest mean difference of a channel (of 255) on an even ground."""
    share: float
    """What may be added, as a share of the contrast around."""


TOLERANCES = (Tolerance(side=3, flat=8.0, share=0.15), Tolerance(side=8, flat=6.0, share=0.1))
"""Static pictures after x264 at crf 20 to 23 keep within half of these shares, most at crf 28 within them;
a digit that changes or a dot that moves, of whatever contrast, needs three times as much."""


def nearly_same(one: "NDArray[np.uint8]", other: "NDArray[np.uint8]") -> bool:
    """Whether no place of two RGB pictures differs by more than encoding noise; sizes that differ do."""
    import cv2

    if one.shape != other.shape:
        return False
    difference = cv2.absdiff(one, other)
    if difference.max() <= min(limit.flat for limit in TOLERANCES):
        return True
    found = []
    for limit in TOLERANCES:
        mean = cv2.blur(difference, (limit.side, limit.side))
        highest = mean.max()
        if highest > limit.flat + 255 * limit.share:
            return False
        if highest > limit.flat:
            found.append((mean, limit))
    around = _contrast(one) if found else None
    return not any(cv2.subtract(mean, cv2.LUT(around, _allowed(limit))).any() for mean, limit in found)


def _contrast(rgb: "NDArray[np.uint8]") -> Any:
    """Largest less smallest value of each channel around each pixel."""
    import cv2
    import numpy as np

    around = np.ones((2 * REACH + 1, 2 * REACH + 1), np.uint8)
    return cv2.subtract(cv2.dilate(rgb, around), cv2.erode(rgb, around))


@cache
def _allowed(limit: Tolerance) -> "NDArray[np.uint8]":
    """The largest mean difference by the contrast around."""
    import numpy as np

    allowed: NDArray[np.uint8] = np.floor(limit.flat + limit.share * np.arange(256)).astype(np.uint8)
    return allowed
