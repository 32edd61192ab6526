"""Where things are and how large they are, in words."""

from evoharness.models.embedded.percepts import Box, centre

NEAR_EDGE = 0.36
"""Share of the width or height that counts as one side of the picture."""


def place(box: Box) -> str:
    """`at the top left`, `at the bottom`, `in the center`, …"""
    words = place_words(box)
    return "in the center" if words == "center" else f"at the {words}"


def place_words(box: Box) -> str:
    """`top left`, `bottom`, `center`, …"""
    x, y = centre(box)
    down = "top" if y < NEAR_EDGE else "bottom" if y > 1 - NEAR_EDGE else ""
    across = "left" if x < NEAR_EDGE else "right" if x > 1 - NEAR_EDGE else ""
    return f"{down} {across}".strip() or "center"


def size_word(area: float) -> str:
    """`small `, `large ` or nothing, for a share of the picture; with the space that follows."""
    return "small " if area < 0.006 else "large " if area > 0.035 else ""


def direction(dx: float, dy: float) -> str:
    """`right`, `up`, `down and to the left`, … for a way in pictures' widths and heights."""
    across = "right" if dx > 0 else "left"
    down = "down" if dy > 0 else "up"
    if abs(dx) >= 2 * abs(dy):
        return across
    if abs(dy) >= 2 * abs(dx):
        return down
    return f"{down} and to the {across}"


def side(box: Box, nearness: float = 0.02) -> str:
    """Which edge of the picture a box touches: `left`, `right`, `top`, `bottom` or nothing."""
    gaps = {"left": box[0], "right": 1 - box[2], "top": box[1], "bottom": 1 - box[3]}
    nearest = min(gaps, key=lambda name: gaps[name])
    return nearest if gaps[nearest] <= nearness else ""


def relation(one: Box, other: Box) -> str:
    """How the first box lies to the second: `to the left of`, `above`, … or nothing when they overlap."""
    (x1, y1), (x2, y2) = centre(one), centre(other)
    apart_x = max(one[0], other[0]) - min(one[2], other[2])
    apart_y = max(one[1], other[1]) - min(one[3], other[3])
    if apart_x <= 0 and apart_y <= 0:
        inside = one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]
        return "inside" if inside else ""
    if apart_x >= apart_y:
        return "to the left of" if x1 < x2 else "to the right of"
    return "above" if y1 < y2 else "below"


def gap(one: Box, other: Box, aspect: float = 16 / 9) -> float:
    """Free space between two boxes, in heights of a picture of that aspect; 0 when they touch."""
    apart_x = max(0.0, max(one[0], other[0]) - min(one[2], other[2])) * aspect
    apart_y = max(0.0, max(one[1], other[1]) - min(one[3], other[3]))
    return float((apart_x**2 + apart_y**2) ** 0.5)
