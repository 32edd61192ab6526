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
LEAST_SIDE, LEAST_AREA = 5, 30
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

    rows, columns = rgb.shape[:2]
    smooth = cv2.blur(rgb, (3, 3))
    kernel = np.ones((3, 3), np.uint8)
    gradient = cv2.morphologyEx(smooth, cv2.MORPH_GRADIENT, kernel)
    steepest = cv2.max(cv2.max(gradient[:, :, 0], gradient[:, :, 1]), gradient[:, :, 2])
    flat = cv2.threshold(steepest, FLAT, 255, cv2.THRESH_BINARY_INV)[1]
    _, labels, stats, _ = cv2.connectedComponentsWithStats(flat, connectivity=4, ltype=cv2.CV_32S)
    width, height, area = stats[:, 2], stats[:, 3], stats[:, 4]
    kept = (np.minimum(width, height) >= LEAST_SIDE) & (area >= LEAST_AREA)
    kept &= (area <= LARGEST * rows * columns) & (width <= LONGEST * columns) & (height <= LONGEST * rows)
    kept &= np.maximum(width, height) <= 10 * np.minimum(width, height)
    kept[0] = False
    chosen = np.flatnonzero(kept)
    chosen = chosen[np.argsort(-area[chosen], kind="stable")][:MOST]
    regions = []
    for label in chosen.tolist():
        region = _outlined(rgb, labels, label, stats[label])
        if region is not None:
            regions.append(region)
    return regions


def _outlined(
    rgb: "NDArray[np.uint8]", labels: "NDArray[np.int32]", label: int, stats: "NDArray[np.int32]"
) -> Region | None:
    """The full extent of a flat core: up to where the colour is halfway to that of the surroundings."""
    import cv2
    import numpy as np

    rows, columns = labels.shape
    x, y, w, h, _ = (int(value) for value in stats)
    margin = 6
    left, top = max(0, x - margin), max(0, y - margin)
    right, bottom = min(columns, x + w + margin), min(rows, y + h + margin)
    core = labels[top:bottom, left:right] == label
    patch = rgb[top:bottom, left:right].astype(np.float32)
    colour = np.median(patch[core], axis=0)
    near = cv2.dilate(core.astype(np.uint8), np.ones((2 * margin - 1, 2 * margin - 1), np.uint8))
    close = cv2.dilate(core.astype(np.uint8), np.ones((7, 7), np.uint8))
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
