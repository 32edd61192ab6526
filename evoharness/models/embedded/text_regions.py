"""Where lines of text may be.

1. Edges (morphological gradient) make glyphs into small dense blobs, whatever the colours of ink and paper.
2. Blobs of like height on one base line are joined into a line; a blob without company is a line by itself.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EDGE = 28
"""Grey levels across three pixels that make an edge of ink."""
LOWEST, TALLEST = 6, 0.22
"""Height of a glyph with its edges: least pixels, largest share of the picture."""
FILL = 0.15
"""Least share of its box that the edges of a glyph cover; the outline of a large thing covers less."""
MOST_LINES = 60
"""Lines proposed in one picture, the most text-like ones; real pages seldom have more."""
BLOBS = 700
"""More blobs than this are texture, not text; only the first ones are grouped."""


@dataclass(frozen=True)
class Line:
    """A proposed line of text, in pixels: columns left to right, rows top to bottom, ends excluded."""

    left: int
    top: int
    right: int
    bottom: int
    blobs: int
    """How many separate blobs of ink it joins."""

    @property
    def width(self) -> int:
        """Pixels across."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Pixels down."""
        return self.bottom - self.top

    @property
    def wordy(self) -> bool:
        """Long enough for a word; a shorter one may as well be the outline of a thing."""
        return self.width >= 1.7 * self.height

    @property
    def likeness(self) -> tuple[int, int, int, int]:
        """Sorts lines of many blobs first, wide ones before narrow ones."""
        return (-min(4, self.blobs), -self.width, self.top, self.left)


def propose_lines(grey: "NDArray[np.uint8]") -> list[Line]:
    """Lines of a grey picture (height, width) that look like text, the likeliest first."""
    import cv2
    import numpy as np

    rows, columns = grey.shape
    gradient = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    edges = cv2.threshold(gradient, EDGE, 255, cv2.THRESH_BINARY)[1]
    stats = _blobs(edges)
    width, height, area = stats[:, 2], stats[:, 3], stats[:, 4]
    fill = area / np.maximum(1, width * height)
    glyph = (height >= LOWEST) & (height <= rows * TALLEST) & (fill >= FILL) & (width <= 0.95 * columns)
    glyph &= (width >= 3) & (width <= 30 * height) & (height <= 11 * width)
    glyphs = stats[glyph][:BLOBS]
    if not len(glyphs):
        return []
    small = stats[(height < LOWEST) & (width < 24)][:BLOBS]
    return _lines(glyphs, small, rows, columns)


def _blobs(edges: "NDArray[np.uint8]") -> "NDArray[np.int64]":
    """(left, top, width, height, area) of each connected blob, by its outlines: far cheaper than labels."""
    import cv2
    import numpy as np

    contours, hierarchy = cv2.findContours(edges, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    if not contours:
        return np.zeros((0, 5), np.int64)
    parents = hierarchy[0][:, 3].tolist()
    blobs: dict[int, list[int]] = {}
    holes: list[tuple[int, int]] = []
    for index, contour in enumerate(contours):
        if parents[index] < 0:
            x, y, w, h = cv2.boundingRect(contour)
            # A contour runs through the middles of its pixels: half its length is missing from the area.
            area = cv2.contourArea(contour) + (w + h) if w * h > 60 else w * h
            blobs[index] = [x, y, w, h, int(area)]
        elif len(contour) > 4:
            holes.append((parents[index], int(cv2.contourArea(contour))))
    for parent, area in holes:
        blobs[parent][4] -= area
    ordered = sorted(blobs.values(), key=lambda blob: (blob[1], blob[0]))
    return np.array(ordered, np.int64).reshape(-1, 5)


def _lines(glyphs: "NDArray[np.int64]", small: "NDArray[np.int64]", rows: int, columns: int) -> list[Line]:
    """Join blobs: each one reaches out by half its height, and rows of them that touch become a line."""
    import cv2
    import numpy as np

    canvas = np.zeros((rows, columns), np.uint8)
    for x, y, w, h, _ in glyphs.tolist():
        reach = max(3, h // 2)
        inset = h // 4
        canvas[y + inset : y + h - inset, max(0, x - reach) : x + w + reach] = 255
    _, labels = cv2.connectedComponents(canvas, connectivity=4, ltype=cv2.CV_32S)
    middles = labels[glyphs[:, 1] + glyphs[:, 3] // 2, glyphs[:, 0] + glyphs[:, 2] // 2]
    lines = []
    for label in np.unique(middles[middles > 0]).tolist():
        members = glyphs[middles == label]
        for group in _same_height(members):
            lines.append(_bounded(group, small))
    lines.sort(key=lambda line: line.likeness)
    return sorted(_rejoined(lines[:MOST_LINES]), key=lambda line: line.likeness)


def _rejoined(lines: list[Line]) -> list[Line]:
    """Join pieces of one line that only a colon or a wide space keeps apart."""
    joined: list[Line] = []
    for line in sorted(lines, key=lambda line: line.left):
        for index, other in enumerate(joined):
            lower, higher = sorted((line.height, other.height))
            shared = min(line.bottom, other.bottom) - max(line.top, other.top)
            if higher <= 1.6 * lower and shared >= 0.7 * lower and line.left - other.right <= 0.75 * lower:
                joined[index] = Line(
                    min(line.left, other.left),
                    min(line.top, other.top),
                    max(line.right, other.right),
                    max(line.bottom, other.bottom),
                    line.blobs + other.blobs,
                )
                break
        else:
            joined.append(line)
    return joined


def _same_height(members: "NDArray[np.int64]") -> "list[NDArray[np.int64]]":
    """Split off blobs far taller than their neighbours: an object beside its label is no letter."""
    import numpy as np

    if len(members) == 1:
        return [members]
    heights = members[:, 3]
    usual = float(np.median(heights))
    fits = heights <= 2 * usual
    return [members[fits]] + [member[None] for member in members[~fits]]


def _bounded(members: "NDArray[np.int64]", small: "NDArray[np.int64]") -> Line:
    """The box around the blobs and the dots, commas and dashes among them."""
    left, top = int(members[:, 0].min()), int(members[:, 1].min())
    right = int((members[:, 0] + members[:, 2]).max())
    bottom = int((members[:, 1] + members[:, 3]).max())
    if len(small):
        reach = (bottom - top) * 45 // 100
        inside = (small[:, 0] + small[:, 2] <= right + reach) & (small[:, 0] >= left - reach)
        inside &= (small[:, 1] >= top - 4) & (small[:, 1] + small[:, 3] <= bottom + 4)
        if inside.any():
            dots = small[inside]
            left, right = min(left, int(dots[:, 0].min())), max(right, int((dots[:, 0] + dots[:, 2]).max()))
            top, bottom = min(top, int(dots[:, 1].min())), max(bottom, int((dots[:, 1] + dots[:, 3]).max()))
    return Line(left, top, right, bottom, len(members))


def is_inked(grey: "NDArray[np.uint8]", line: Line) -> bool:
    """Whether a line is made of ink and paper: most of it near one of two levels, and paper around it.

    Texture between the levels, or running on above and below, is what foliage and skin look like; a long row
    of separate blobs is given the benefit of the doubt, for subtitles lie on pictures.
    """
    import numpy as np

    crop = grey[line.top : line.bottom, line.left : line.right]
    low, high = np.percentile(crop, (4, 96))
    span = float(high - low)
    if span < 28:
        return False
    pure = float(((crop < low + 0.28 * span) | (crop > high - 0.28 * span)).mean())
    above = grey[max(0, line.top - 2), line.left : line.right]
    below = grey[min(grey.shape[0] - 1, line.bottom + 1), line.left : line.right]
    quiet = max(float(above.std()), float(below.std())) < 0.18 * span
    return pure > (0.66 if quiet else 0.72 if line.wordy and line.blobs >= 6 else 0.85)
