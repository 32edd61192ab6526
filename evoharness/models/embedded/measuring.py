"""Measuring a region: its exact mask, from the flat core of it that was found."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoharness.models.embedded.percepts import overlap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONTRAST = 30.0
"""Least distance in RGB between a thing and its surroundings."""


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


@dataclass(frozen=True)
class Core:
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


def measure(rgb: "NDArray[np.uint8]", flat: Core) -> Region | None:
    """The full extent of a flat core: up to where the colour is halfway to that of the surroundings.

    None when the surroundings hardly differ from it or are no surroundings of one kind.
    """
    import cv2
    import numpy as np

    rows, columns = rgb.shape[:2]
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
    return _extent(patch, drawn, (colour, outside), (left, top), (rows, columns))


def measure_rim(rgb: "NDArray[np.uint8]", hole: Region) -> Region | None:
    """The ring or frame around a region that shows what also lies outside of it; None when it is no hole."""
    import cv2
    import numpy as np

    rows, columns = rgb.shape[:2]
    x1, y1, x2, y2 = (round(value) for value in hole.box)
    reach = max(8, 7 * max(x2 - x1, y2 - y1) // 10)
    left, top = max(0, x1 - reach), max(0, y1 - reach)
    right, bottom = min(columns, x2 + reach), min(rows, y2 + reach)
    patch = rgb[top:bottom, left:right].astype(np.float32)
    border = np.concatenate((patch[0], patch[-1], patch[:, 0], patch[:, -1]))
    if float(np.abs(np.median(border, axis=0) - hole.colour).max()) > 30:
        return None
    seed = np.zeros(patch.shape[:2], np.uint8)
    cv2.rectangle(seed, (x1 - left - 3, y1 - top - 3), (x2 - left + 3, y2 - top + 3), 1, 4)
    colours = (np.array(hole.outside, np.float32), np.array(hole.colour, np.float32))
    rim = _extent(patch, seed, colours, (left, top), (rows, columns))
    if rim is None or len(rim.outlines) < 2:
        return None
    inner = (
        rim.outlines[1][0] * columns,
        rim.outlines[1][1] * rows,
        rim.outlines[1][2] * columns,
        rim.outlines[1][3] * rows,
    )
    whole = (
        left < rim.box[0] - 1 and top < rim.box[1] - 1 and rim.box[2] + 1 < right and rim.box[3] + 1 < bottom
    )
    return rim if whole and overlap(inner, hole.box) > 0.6 else None


def _extent(
    patch: "NDArray[np.float32]",
    core: "NDArray[np.uint8]",
    colours: "tuple[NDArray[np.float32], NDArray[np.float32]]",
    origin: tuple[int, int],
    size: tuple[int, int],
) -> Region | None:
    """Pixels nearer to the first colour than to the second, connected with a core; enlarged when few."""
    import cv2
    import numpy as np

    colour, outside = colours
    towards = outside - colour
    share = ((patch - colour) @ towards) / max(1.0, float((towards**2).sum()))
    off = np.abs(patch - colour - share[:, :, None] * towards).max(axis=2)
    inside = np.where(off > 60, 1.0, np.clip(share, 0.0, 1.0)).astype(np.float32)
    height, width = core.shape
    scale = max(1.0, min(6.0, 96.0 / max(width, height)))
    if scale > 1.0:
        inside = cv2.resize(inside, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
        core = cv2.resize(core, None, fx=scale, fy=scale, interpolation=cv2.INTER_NEAREST)
    mask = np.where(inside < 0.5, 255, 0).astype(np.uint8)
    return _connected(mask, core, scale, origin, (_rgb(colour), _rgb(outside)), size)


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
