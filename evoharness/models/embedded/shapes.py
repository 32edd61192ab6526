"""Ordinary English names of shapes, from the geometry of a mask."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNKNOWN = "shape"
"""What a thing is called whose outline has no name."""
NOTCH = 0.09
"""Least depth of a bay in an outline, for the square root of the area."""


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
    notches = _notches(contour, filled)
    if notches:
        name, fit = _notched(contour, hull, filled, notches)
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


def _notches(contour: "NDArray[np.int32]", filled: float) -> list[tuple[int, int, float]]:
    """(x, y, depth) of the bays between an outline and its hull that are deep for its size."""
    import cv2

    try:
        defects = cv2.convexityDefects(contour, cv2.convexHull(contour, returnPoints=False))
    except cv2.error:  # an outline that touches itself has no defects in order
        return []
    if defects is None:
        return []
    size = filled**0.5
    found = []
    for _, _, farthest, depth in defects.reshape(-1, 4).tolist():
        if depth / 256 > NOTCH * size:
            x, y = contour[farthest, 0].tolist()
            found.append((x, y, depth / 256 / size))
    return found


def _notched(
    contour: "NDArray[np.int32]",
    hull: "NDArray[np.int32]",
    filled: float,
    notches: list[tuple[int, int, float]],
) -> tuple[str, float]:
    """Stars and crosses by the number of their bays, hearts and arrows by where these lie."""
    import cv2
    import numpy as np

    solidity = filled / max(1.0, cv2.contourArea(hull))
    depths = [depth for _, _, depth in notches]
    even = min(depths) / max(depths)
    if len(notches) in (5, 6, 7, 8) and even > 0.4:
        return "star", min(1.0, 0.5 + even / 2)
    if len(notches) == 4 and even > 0.5:
        return ("star" if solidity < 0.5 and not _square_arms(contour) else "cross"), min(1.0, 0.5 + even / 2)
    moments = cv2.moments(contour)
    middle = np.array([moments["m10"], moments["m01"]]) / max(1.0, moments["m00"])
    if len(notches) == 1:
        if solidity < 0.75:
            return "crescent", 0.6
        return ("heart", 0.8) if _pointed(contour, middle, notches[0][:2]) else (UNKNOWN, 0.4)
    if len(notches) == 2 and even > 0.45 and _arrow_like(contour, notches):
        return "arrow", 0.8
    return UNKNOWN, 0.3


def _square_arms(contour: "NDArray[np.int32]") -> bool:
    """Whether the outline has two corners at the end of each of four arms."""
    import cv2

    return len(cv2.approxPolyDP(contour, 0.02 * cv2.arcLength(contour, True), True)) >= 10


def _pointed(contour: "NDArray[np.int32]", middle: "NDArray[np.float64]", notch: tuple[int, int]) -> bool:
    """Whether the side away from the notch runs to a point: narrow near its end, wide at the notch."""
    import numpy as np

    axis = middle - np.array(notch, float)
    length = float(np.hypot(*axis))
    if length < 1e-6:
        return False
    axis /= length
    offsets = contour[:, 0, :] - middle
    along = offsets @ axis
    across = offsets @ np.array([-axis[1], axis[0]])
    low, high = float(along.min()), float(along.max())
    near_tip = along > high - 0.2 * (high - low)
    near_notch = (along > low + 0.15 * (high - low)) & (along < low + 0.45 * (high - low))
    if not near_tip.any() or not near_notch.any():
        return False
    return float(np.ptp(across[near_tip])) < 0.6 * float(np.ptp(across[near_notch]))


def _arrow_like(contour: "NDArray[np.int32]", notches: list[tuple[int, int, float]]) -> bool:
    """Whether two bays lie opposite each other behind a head: a shaft on one side, a point on the other."""
    import numpy as np

    first, second = (np.array(notch[:2], float) for notch in notches)
    middle = (first + second) / 2
    across = second - first
    shaft = float(np.hypot(*across))
    if shaft < 1e-6:
        return False
    across /= shaft
    along = np.array([-across[1], across[0]])
    offsets = contour[:, 0, :] - middle
    forward, sideways = offsets @ along, offsets @ across
    if forward.max() < -forward.min():
        forward = -forward
    # The head may be on the longer or the shorter side of the bays: it is the side wider than the shaft.
    ahead, behind = forward > 0.1 * forward.max(), forward < 0.1 * forward.min()
    if not ahead.any() or not behind.any():
        return False
    wide_ahead, wide_behind = float(np.ptp(sideways[ahead])), float(np.ptp(sideways[behind]))
    head = forward if wide_ahead > wide_behind else -forward
    tip = head > 0.8 * head.max()
    return (
        max(wide_ahead, wide_behind) > 1.4 * shaft
        and min(wide_ahead, wide_behind) < 1.4 * shaft
        and float(np.ptp(sideways[tip])) < 0.6 * max(wide_ahead, wide_behind)
    )
