"""Regions of one colour that stand out: where things are, before they are named.

The picture falls apart into flat regions along its edges. Smooth or lightly textured backgrounds stay one
region, whatever their colour; a thing is a flat region of moderate size that differs from what is around it.
Cards, bars and panels are surroundings, not things.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from evoharness.models.embedded.measuring import Core, Region, measure, measure_rim
from evoharness.models.embedded.percepts import overlap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FLAT = 16
"""Levels across three pixels, in the channel that changes most, up to which a region goes on."""
LEAST_SIDE, LEAST_AREA = 5, 22
"""Of the flat core of a thing, in pixels."""
LARGEST = 0.16
"""Share of the picture above which a region is surroundings."""
LONGEST = 0.62
"""Share of the width or height above which a region is a bar or a panel."""
SAME = 12
"""Largest difference of a channel between surroundings that are taken for the same."""
MOST = 28
"""At most this many regions a picture, the largest first."""
FEW = 14
"""The same in a picture with more of them: it is all texture."""
RAGGED = 260.0
"""Squared length of an outline, for its area, above which no thing has such an edge (a disc: 12.6)."""


class RegionFinder:
    """Finds regions; one that lies in surroundings of the picture before is measured once."""

    def __init__(self) -> None:
        self._measured: dict[tuple[int, int, int, int], tuple[NDArray[np.uint8], Region | None]] = {}

    def find(
        self, rgb: "NDArray[np.uint8]", taken: Sequence[tuple[float, float, float, float]] = ()
    ) -> list[Region]:
        """Regions of an RGB picture (height, width, 3), the largest first.

        `taken` are boxes of text, in fractions of the picture: what fits into one is a letter and left out.
        """
        import cv2

        rows, columns = rgb.shape[:2]
        boxes = [(x1 * columns, y1 * rows, x2 * columns, y2 * rows) for x1, y1, x2, y2 in taken]
        regions: list[Region] = []
        measured = {}
        for core in _cores(_flat(rgb), boxes):
            left, top, right, bottom = window = core.window(rows, columns)
            patch = rgb[top:bottom, left:right]
            old = self._measured.get(window)
            if old is not None and int(cv2.absdiff(old[0], patch).max()) <= SAME:
                measured[window] = old
            else:
                measured[window] = (patch, _measured(rgb, core))
            region = measured[window][1]
            if region is not None and not any(overlap(region.box, other.box) > 0.9 for other in regions):
                regions.append(region)
        self._measured = measured
        return regions


def _measured(rgb: "NDArray[np.uint8]", core: Core) -> Region | None:
    """A region, or the rim around it when it is but the hole in that."""
    region = measure(rgb, core)
    if region is None:
        return None
    return measure_rim(rgb, region) or region


def find_regions(rgb: "NDArray[np.uint8]") -> list[Region]:
    """Regions of one picture by itself."""
    return RegionFinder().find(rgb)


def _flat(rgb: "NDArray[np.uint8]") -> "NDArray[np.uint8]":
    """255 where no channel changes much across three pixels."""
    import cv2
    import numpy as np

    gradient = cv2.morphologyEx(cv2.blur(rgb, (3, 3)), cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    red, green, blue = cv2.split(gradient)
    steepest = cv2.max(cv2.max(red, green), blue)
    return cast("NDArray[np.uint8]", cv2.threshold(steepest, FLAT, 255, cv2.THRESH_BINARY_INV)[1])


def _cores(flat: "NDArray[np.uint8]", taken: Sequence[tuple[float, float, float, float]]) -> list[Core]:
    """The flat regions that may be things, the largest first."""
    import cv2

    rows, columns = flat.shape
    contours, hierarchy = cv2.findContours(flat, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    links = hierarchy[0].tolist() if contours else []
    cores = []
    for index, contour in enumerate(contours):
        if links[index][3] >= 0 or len(contour) < 2 * LEAST_SIDE:
            continue
        x, y, w, h = cv2.boundingRect(contour)
        shorter, longer = sorted((w, h))
        if shorter < LEAST_SIDE or longer > 10 * shorter or w > LONGEST * columns or h > LONGEST * rows:
            continue
        if any(_is_letter(x, y, w, h, box) for box in taken):
            continue
        holes = []
        child = links[index][2]
        while child >= 0:
            holes.append(contours[child])
            child = links[child][0]
        full = cv2.contourArea(contour)
        if cv2.arcLength(contour, True) ** 2 > RAGGED * max(1.0, full):
            continue
        area = full - sum(cv2.contourArea(hole) for hole in holes)
        if LEAST_AREA <= area <= LARGEST * rows * columns:
            cores.append(Core(x, y, w, h, area, contour, holes))
    cores.sort(key=lambda core: (-core.area, core.top, core.left))
    return cores[: MOST if len(cores) <= MOST else FEW]


def _is_letter(x: int, y: int, w: int, h: int, text: tuple[float, float, float, float]) -> bool:
    x1, y1, x2, y2 = text
    return x >= x1 - 2 and x + w <= x2 + 2 and y >= y1 - 2 and y + h <= y2 + 2
