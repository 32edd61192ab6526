"""Regions of one colour that stand out: where things are, before they are named.

The picture falls apart into flat regions along its edges. Smooth or lightly textured backgrounds stay one
region, whatever their colour; a thing is a flat region of moderate size that differs from what is around it.
Cards, bars and panels are surroundings, not things.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FLAT = 16
"""Levels across three pixels, in the channel that changes most, up to which a region goes on."""
WORK_WIDTH = 640
"""Wider pictures are halved until they are narrower than twice this."""
LEAST_SIDE, LEAST_AREA = 5, 22
"""Of the flat core of a thing, in pixels."""
LARGEST = 0.16
"""Share of the picture above which a region is surroundings."""
LONGEST = 0.62
"""Share of the width or height above which a region is a bar or a panel."""
CONTRAST = 30.0
"""Least distance in RGB between a thing and its surroundings."""
MOST = 28
"""At most this many regions a picture, the largest first."""


@dataclass(frozen=True)
class Region:
    """A thing's pixels."""

    mask: "NDArray[np.uint8]"
    """255 where the thing is, cropped to it; small things are enlarged."""
    colour: tuple[int, int, int]
    """RGB of its core."""
    outside: tuple[int, int, int]
    """RGB of what lies around it."""
    box: tuple[float, float, float, float]
    """(x1, y1, x2, y2) in pixels."""
    area: float
    """In pixels."""
    cut: bool
    """Touches the edge of the picture."""


def find_regions(rgb: "NDArray[np.uint8]") -> list[Region]:
    """Regions of an RGB picture (height, width, 3), the largest first."""
    import cv2
    import numpy as np

    smooth = cv2.blur(rgb, (3, 3))
    kernel = np.ones((3, 3), np.uint8)
    gradient = cv2.morphologyEx(smooth, cv2.MORPH_GRADIENT, kernel)
    red, green, blue = cv2.split(gradient)
    steepest = cv2.max(cv2.max(red, green), blue)
    flat = cv2.threshold(steepest, FLAT, 255, cv2.THRESH_BINARY_INV)[1]
    regions = []
    for core in _cores(flat):
        region = _outlined(rgb, core)
        if region is not None:
            regions.append(region)
    return regions


@dataclass(frozen=True)
class _Core:
    """A flat region by its outline, in pixels."""

    left: int
    top: int
    width: int
    height: int
    area: float
    outer: "NDArray[np.int32]"
    holes: "list[NDArray[np.int32]]"

    def drawn(self, left: int, top: int, width: int, height: int) -> "NDArray[np.uint8]":
        """1 where the core is, in a window of the picture."""
        import cv2
        import numpy as np

        window = np.zeros((height, width), np.uint8)
        cv2.drawContours(window, [self.outer], -1, 1, -1, offset=(-left, -top))
        for hole in self.holes:
            cv2.drawContours(window, [hole], -1, 0, -1, offset=(-left, -top))
            cv2.drawContours(window, [hole], -1, 1, 1, offset=(-left, -top))
        return window


def _cores(flat: "NDArray[np.uint8]") -> list[_Core]:
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
        holes = []
        child = links[index][2]
        while child >= 0:
            holes.append(contours[child])
            child = links[child][0]
        area = cv2.contourArea(contour) - sum(cv2.contourArea(hole) for hole in holes)
        if LEAST_AREA <= area <= LARGEST * rows * columns:
            cores.append(_Core(x, y, w, h, area, contour, holes))
    cores.sort(key=lambda core: (-core.area, core.top, core.left))
    return cores[:MOST]


def _outlined(rgb: "NDArray[np.uint8]", flat: _Core) -> Region | None:
    """The full extent of a flat core: up to where the colour is halfway to that of the surroundings."""
    import cv2
    import numpy as np

    rows, columns = rgb.shape[:2]
    x, y, w, h = flat.left, flat.top, flat.width, flat.height
    margin = 6
    left, top = max(0, x - margin), max(0, y - margin)
    right, bottom = min(columns, x + w + margin), min(rows, y + h + margin)
    drawn = flat.drawn(left, top, right - left, bottom - top)
    core = drawn > 0
    patch = rgb[top:bottom, left:right].astype(np.float32)
    colour = np.median(patch[core], axis=0)
    near = cv2.dilate(drawn, np.ones((2 * margin - 1, 2 * margin - 1), np.uint8))
    close = cv2.dilate(drawn, np.ones((7, 7), np.uint8))
    around = (near > 0) & (close == 0)
    if around.sum() < 12:
        return None
    outside = np.median(patch[around], axis=0)
    towards = outside - colour
    distance = float(np.sqrt((towards**2).sum()))
    if distance < CONTRAST:
        return None
    spread = np.abs(patch[around] - outside).max(axis=1)
    if float((spread > 40).mean()) > 0.55:
        return None
    share = ((patch - colour) @ towards) / distance**2
    off = np.abs(patch - colour - share[:, :, None] * towards).max(axis=2)
    inside = np.where(off > 60, 1.0, np.clip(share, 0.0, 1.0)).astype(np.float32)
    inside[close == 0] = 1.0
    scale = max(1.0, min(6.0, 72.0 / max(w, h)))
    if scale > 1.0:
        inside = cv2.resize(inside, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
    mask = np.where(inside < 0.5, 255, 0).astype(np.uint8)
    return _largest(mask, scale, (left, top), (_rgb(colour), _rgb(outside)), (rows, columns))


def _largest(
    mask: "NDArray[np.uint8]",
    scale: float,
    origin: tuple[int, int],
    colours: tuple[tuple[int, int, int], tuple[int, int, int]],
    size: tuple[int, int],
) -> Region | None:
    import cv2
    import numpy as np

    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4, ltype=cv2.CV_32S)
    if len(stats) < 2:
        return None
    best = 1 + int(np.argmax(stats[1:, 4]))
    x, y, w, h, area = (int(value) for value in stats[best])
    only = np.where(labels[y : y + h, x : x + w] == best, 255, 0).astype(np.uint8)
    left, top = origin
    box = (left + x / scale, top + y / scale, left + (x + w) / scale, top + (y + h) / scale)
    rows, columns = size
    cut = box[0] <= 1.5 or box[1] <= 1.5 or box[2] >= columns - 1.5 or box[3] >= rows - 1.5
    return Region(only, colours[0], colours[1], box, area / scale**2, cut)


def _rgb(colour: "NDArray[np.float32]") -> tuple[int, int, int]:
    red, green, blue = (round(float(value)) for value in colour)
    return red, green, blue
