"""Whether two pictures show the same, but for the noise of a lossy encoder.

A mean over the whole picture would overlook a small thing that moves; so the difference is taken place by
place, at the size of a stroke and at the size of a letter, and the largest one decides.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STROKE, STROKE_LIMIT = 3, 9
"""Side of a square in pixels, and the largest mean difference of a channel (of 255) within one."""


def nearly_same(one: "NDArray[np.uint8]", other: "NDArray[np.uint8]") -> bool:
    """Whether no place of two RGB pictures differs by more than encoding noise; sizes that differ do."""
    import cv2

    if one.shape != other.shape:
        return False
    difference = cv2.absdiff(one, other)
    return bool(cv2.blur(difference, (STROKE, STROKE)).max() <= STROKE_LIMIT)
