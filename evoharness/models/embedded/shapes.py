"""Ordinary English names of shapes, from the geometry of a mask."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNKNOWN = "shape"
"""What a thing is called whose outline has no name."""


def shape_name(mask: "NDArray[np.uint8]") -> tuple[str, float]:
    """Name of the shape that is 255 in a mask cropped to it, and how well the name fits (0 to 1)."""
    import cv2

    padded = cv2.copyMakeBorder(mask, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=0)
    contours, hierarchy = cv2.findContours(padded, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    if not contours:
        return UNKNOWN, 0.0
    sizes = [cv2.contourArea(contour) for contour in contours]
    outer = max(
        (index for index in range(len(contours)) if hierarchy[0][index][3] < 0), key=lambda i: sizes[i]
    )
    contour, filled = contours[outer], max(1.0, sizes[outer])
    holes = sum(size for index, size in enumerate(sizes) if hierarchy[0][index][3] == outer)
    hull = cv2.convexHull(contour)
    solidity = filled / max(1.0, cv2.contourArea(hull))
    if solidity < 0.86:
        name, fit = _concave(contour, solidity)
    else:
        name, fit = _convex(contour, hull, filled)
    if holes > 0.14 * filled:
        if name in {"circle", "ellipse", "octagon", "hexagon"}:
            return "ring", fit
        return (f"{name} frame", fit) if name in {"square", "rectangle", "triangle"} else (name, fit * 0.8)
    return name, fit


def _convex(contour: "NDArray[np.int32]", hull: "NDArray[np.int32]", filled: float) -> tuple[str, float]:
    """Compare with the best ellipse and the best polygons of three to eight corners."""
    import cv2
    import numpy as np

    (_, (side_a, side_b), _) = cv2.minAreaRect(hull)
    side_a, side_b = side_a + 1, side_b + 1
    area = filled + cv2.arcLength(contour, True) / 2
    long, short = max(side_a, side_b), max(1.0, min(side_a, side_b))
    # A disc covers pi/4 of its rectangle, a triangle half, a pentagon 0.69, a hexagon 0.75.
    fills = area / (long * short)
    triangle = float(area / max(1.0, cv2.minEnclosingTriangle(hull)[0] + 1.5 * cv2.arcLength(hull, True) / 2))
    _, _, w, h = cv2.boundingRect(contour)
    upright = area / (w * h)
    if fills > 0.9:
        return _four_sided(fills, upright, long / short)
    if triangle > 0.87:
        return "triangle", min(1.0, triangle)
    corners = _corners(hull)
    roundness = 4 * np.pi * filled / max(1.0, cv2.arcLength(hull, True)) ** 2
    ellipse = _ellipse_fit(contour)
    if corners == 3 and triangle > 0.78:
        return "triangle", triangle
    if corners == 4 and fills < 0.88:
        return _quadrilateral(upright)
    if corners in (5, 6) and ellipse < 0.965:
        return ("pentagon" if corners == 5 else "hexagon"), 0.8
    if ellipse > 0.93:
        return ("circle", ellipse) if long / short < 1.22 else ("ellipse", ellipse)
    if corners in (5, 6, 8):
        return {5: "pentagon", 6: "hexagon", 8: "octagon"}[corners], 0.6
    return (("circle" if long / short < 1.22 else "ellipse"), 0.6) if roundness > 0.85 else (UNKNOWN, 0.3)


def _four_sided(fills: float, upright: float, ratio: float) -> tuple[str, float]:
    if ratio < 1.18:
        return ("square", fills) if upright > 0.75 else ("diamond", fills)
    return "rectangle", fills


def _quadrilateral(upright: float) -> tuple[str, float]:
    """A rhombus stands on a corner and fills half its upright box; other four-cornered shapes are unnamed."""
    if upright < 0.62:
        return "diamond", 0.8
    return ("trapezoid" if upright > 0.68 else UNKNOWN), 0.5


def _corners(hull: "NDArray[np.int32]") -> int:
    import cv2

    length = cv2.arcLength(hull, True)
    return len(cv2.approxPolyDP(hull, 0.035 * length, True))


def _ellipse_fit(contour: "NDArray[np.int32]") -> float:
    """Intersection over union with the ellipse of the same moments."""
    import cv2
    import numpy as np

    moments = cv2.moments(contour)
    if moments["m00"] <= 0:
        return 0.0
    xx, yy, xy = (moments[name] / moments["m00"] for name in ("mu20", "mu02", "mu11"))
    values, vectors = np.linalg.eigh(np.array([[xx, xy], [xy, yy]]))
    axes = 2 * np.sqrt(np.maximum(values, 0.25))
    x, y, w, h = cv2.boundingRect(contour)
    middle = (moments["m10"] / moments["m00"] - x, moments["m01"] / moments["m00"] - y)
    angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
    drawn = np.zeros((h, w), np.uint8)
    cv2.drawContours(drawn, [contour], -1, 255, -1, offset=(-x, -y))
    model = np.zeros((h, w), np.uint8)
    cv2.ellipse(model, (middle, (2 * axes[1], 2 * axes[0]), angle), 255, -1)
    shared = cv2.countNonZero(cv2.bitwise_and(drawn, model))
    return shared / max(1, cv2.countNonZero(cv2.bitwise_or(drawn, model)))


def _concave(contour: "NDArray[np.int32]", solidity: float) -> tuple[str, float]:
    """Count the lobes of the outline as seen from its centre, and its notches."""
    import cv2
    import numpy as np

    moments = cv2.moments(contour)
    if moments["m00"] <= 0:
        return UNKNOWN, 0.0
    middle = np.array([moments["m10"], moments["m01"]]) / moments["m00"]
    offsets = contour[:, 0, :] - middle
    radius = np.hypot(offsets[:, 0], offsets[:, 1])
    order = np.argsort(np.arctan2(offsets[:, 1], offsets[:, 0]), kind="stable")
    angles = np.arctan2(offsets[order, 1], offsets[order, 0])
    even = np.interp(np.linspace(-np.pi, np.pi, 180, endpoint=False), angles, radius[order], period=2 * np.pi)
    strength = np.abs(np.fft.rfft(even - even.mean()))[1:10]
    lobes = 1 + int(np.argmax(strength))
    clear = float(strength[lobes - 1] / max(1e-6, strength.sum()))
    if lobes in (5, 6, 7, 8) and clear > 0.3:
        return "star", min(1.0, 0.5 + clear)
    if lobes == 4 and clear > 0.3:
        inner, outer = float(even.min()), float(even.max())
        return ("cross" if solidity > 0.5 or inner / outer < 0.6 else "star"), min(1.0, 0.5 + clear)
    return UNKNOWN, 0.3
