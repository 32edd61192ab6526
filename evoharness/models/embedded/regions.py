"""Regions of one colour that stand out: where things are, before they are named.

The picture falls apart into flat regions along its edges. Smooth or lightly textured backgrounds stay one
region, whatever their colour; a thing is a flat region of moderate size that differs from what is around it.
Cards, bars and panels are surroundings, not things.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

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
SAME = 12
"""Largest difference of a channel between surroundings that are taken for the same."""
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
    outlines: tuple[tuple[float, float, float, float], ...]
    """Boxes of its outline and of the outline of its largest hole, in fractions of the picture."""


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
        regions = []
        measured = {}
        for core in _cores(_flat(rgb), boxes):
            left, top, right, bottom = window = core.window(rows, columns)
            patch = rgb[top:bottom, left:right]
            old = self._measured.get(window)
            if old is not None and int(cv2.absdiff(old[0], patch).max()) <= SAME:
                measured[window] = old
            else:
                measured[window] = (patch, _outlined(rgb, core))
            region = measured[window][1]
            if region is not None:
                regions.append(region)
        self._measured = measured
        return regions


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

    def window(self, rows: int, columns: int) -> tuple[int, int, int, int]:
        """(left, top, right, bottom) of the core and its surroundings, inside the picture."""
        margin = min(24, max(6, max(self.width, self.height) // 3))
        return (
            max(0, self.left - margin),
            max(0, self.top - margin),
            min(columns, self.left + self.width + margin),
            min(rows, self.top + self.height + margin),
        )

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


def _cores(flat: "NDArray[np.uint8]", taken: Sequence[tuple[float, float, float, float]]) -> list[_Core]:
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
        area = cv2.contourArea(contour) - sum(cv2.contourArea(hole) for hole in holes)
        if LEAST_AREA <= area <= LARGEST * rows * columns:
            cores.append(_Core(x, y, w, h, area, contour, holes))
    cores.sort(key=lambda core: (-core.area, core.top, core.left))
    return cores[:MOST]


def _is_letter(x: int, y: int, w: int, h: int, text: tuple[float, float, float, float]) -> bool:
    x1, y1, x2, y2 = text
    return x >= x1 - 2 and x + w <= x2 + 2 and y >= y1 - 2 and y + h <= y2 + 2


def _outlined(rgb: "NDArray[np.uint8]", flat: _Core) -> Region | None:
    """The full extent of a flat core: up to where the colour is halfway to that of the surroundings."""
    import cv2
    import numpy as np

    rows, columns = rgb.shape[:2]
    w, h = flat.width, flat.height
    left, top, right, bottom = flat.window(rows, columns)
    drawn = flat.drawn(left, top, right - left, bottom - top)
    core = drawn > 0
    patch = rgb[top:bottom, left:right].astype(np.float32)
    colour = np.median(patch[core], axis=0)
    near = cv2.dilate(drawn, np.ones((11, 11), np.uint8))
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
    scale = max(1.0, min(6.0, 72.0 / max(w, h)))
    if scale > 1.0:
        inside = cv2.resize(inside, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
        drawn = cv2.resize(drawn, None, fx=scale, fy=scale, interpolation=cv2.INTER_NEAREST)
    mask = np.where(inside < 0.5, 255, 0).astype(np.uint8)
    return _connected(mask, drawn, scale, (left, top), (_rgb(colour), _rgb(outside)), (rows, columns))


def _connected(
    mask: "NDArray[np.uint8]",
    core: "NDArray[np.uint8]",
    scale: float,
    origin: tuple[int, int],
    colours: tuple[tuple[int, int, int], tuple[int, int, int]],
    size: tuple[int, int],
) -> Region | None:
    """The piece of a mask that holds most of the core."""
    import cv2
    import numpy as np

    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4, ltype=cv2.CV_32S)
    votes = np.bincount(labels[core > 0], minlength=len(stats))
    votes[0] = 0
    best = int(votes.argmax())
    if not votes[best]:
        return None
    x, y, w, h, area = (int(value) for value in stats[best])
    only = np.where(labels[y : y + h, x : x + w] == best, 255, 0).astype(np.uint8)
    left, top = origin
    box = (left + x / scale, top + y / scale, left + (x + w) / scale, top + (y + h) / scale)
    rows, columns = size
    cut = box[0] <= 1.5 or box[1] <= 1.5 or box[2] >= columns - 1.5 or box[3] >= rows - 1.5
    outlines = [(box[0] / columns, box[1] / rows, box[2] / columns, box[3] / rows)]
    hole = _largest_hole(only)
    if hole is not None:
        across, down = columns * scale, rows * scale
        x1, y1 = box[0] / columns + hole[0] / across, box[1] / rows + hole[1] / down
        outlines.append((x1, y1, x1 + hole[2] / across, y1 + hole[3] / down))
    return Region(only, colours[0], colours[1], box, area / scale**2, cut, tuple(outlines))


def _largest_hole(mask: "NDArray[np.uint8]") -> tuple[int, int, int, int] | None:
    """(x, y, width, height) of the largest hole in a mask."""
    import cv2

    contours, hierarchy = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    holes = [contour for contour, link in zip(contours, hierarchy[0], strict=True) if link[3] >= 0]
    if not holes:
        return None
    x, y, w, h = cv2.boundingRect(max(holes, key=cv2.contourArea))
    return x, y, w, h


def _rgb(colour: "NDArray[np.float32]") -> tuple[int, int, int]:
    red, green, blue = (round(float(value)) for value in colour)
    return red, green, blue
