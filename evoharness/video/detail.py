"""How large a frame is at a level of detail."""

import math

from evoharness.records.frame import Detail

PIXELS = {Detail.SMALL: 81_920, Detail.NORMAL: 262_144, Detail.LARGE: 1_048_576}
"""The most pixels of a frame at each level."""

CELL = 32
"""Sides are multiples of this: a vision model pays for cells of 32 x 32 pixels."""


def fit(width: int, height: int, detail: Detail) -> tuple[int, int]:
    """Size (width, height) of a picture of `width` x `height` pixels at a level of detail.

    Never more pixels than the level allows and never enlarged, both sides multiples of 32. A picture that
    lies below the level keeps its own size, each side taken to the nearest multiple.
    """
    if width < 1 or height < 1:
        raise ValueError(f"a picture has at least one pixel, not {width} x {height}")
    limit = PIXELS[detail]
    own = (_nearest(width), _nearest(height))
    if own[0] * own[1] <= limit:
        return own
    scale = min(1.0, math.sqrt(limit / (width * height)))
    across, down = (max(CELL, int(side * scale) // CELL * CELL) for side in (width, height))
    if across * down > limit:  # one side lies at its least: the other has to give way
        longest = limit // CELL // CELL * CELL
        across, down = min(across, longest), min(down, longest)
    return across, down


def _nearest(side: int) -> int:
    return max(CELL, (side + CELL // 2 - 1) // CELL * CELL)
