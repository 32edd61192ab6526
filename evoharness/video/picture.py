"""From a decoded picture to pixels as they are meant to be seen.

Colours are those of the file's own tags (BT.601, BT.709, BT.2020; limited or full range); where it has none
they are taken as BT.601, as FFmpeg and players built on it do.
"""

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from evoharness.video.readers.protocol import Box, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Orientation(NamedTuple):
    """How a stored picture is turned for display: first turned, then mirrored."""

    turns: int = 0
    """Quarter turns clockwise, 0 to 3."""
    mirrored: bool = False
    """Whether left and right are then exchanged."""


UPRIGHT = Orientation()


def orientation(picture: Any) -> Orientation:
    """What the display matrix of a decoded picture asks for; an odd angle is taken to the nearest quarter."""
    for kind in picture.side_data:
        if kind.type.name == "DISPLAYMATRIX":
            return _of_matrix(bytes(kind))
    return UPRIGHT


@lru_cache(maxsize=64)
def _of_matrix(data: bytes) -> Orientation:
    """The matrix is nine numbers of 32 bits: (a b u; c d v; x y w) takes (x, y) to (ax + cy, bx + dy)."""
    if len(data) < 20:
        return UPRIGHT
    a, b, c, d = (int.from_bytes(data[at : at + 4], "little", signed=True) for at in (0, 4, 12, 16))
    mirrored = a * d - b * c < 0
    if mirrored:
        a, c = -a, -c
    if a == b == c == d == 0:
        return UPRIGHT
    turned = math.degrees(math.atan2(b - c, a + d))
    return Orientation(round(turned / 90) % 4, mirrored)


class Orientations:
    """Orientations of the pictures of one file.

    Looking at the matrix makes PyAV's picture refer to itself, and keeps its megabytes until the next garbage
    collection; so it is done anew only when the angle, which costs nothing, is another one.
    """

    def __init__(self) -> None:
        self._known: dict[float, Orientation] = {}

    def of(self, picture: Any) -> Orientation:
        """See `orientation`."""
        angle = picture.rotation
        if angle not in self._known:
            self._known[angle] = orientation(picture)
        return self._known[angle]


def render(picture: Any, want: Wanted, shown: Orientation) -> "NDArray[np.uint8]":
    """RGB of a picture that PyAV decoded: without combs, upright, cropped and scaled as wanted."""
    import numpy as np

    rgb = picture.to_ndarray(format="rgb24")
    if picture.interlaced_frame:
        rgb = without_combs(rgb)
    turns, mirrored = shown
    if turns:
        rgb = np.rot90(rgb, -turns)
    if mirrored:
        rgb = rgb[:, ::-1]
    return fitted(rgb, want)


def fitted(rgb: "NDArray[np.uint8]", want: Wanted) -> "NDArray[np.uint8]":
    """An upright picture, cropped and scaled as wanted."""
    if want.box is not None:
        rgb = _crop(rgb, want.box)
    return scale(rgb, want.width, want.height)


def without_combs(rgb: "NDArray[np.uint8]") -> "NDArray[np.uint8]":
    """An interlaced picture as it was at the moment of its first line.

    Where something moved between the two fields, odd lines stick out from both of their neighbours in the
    same direction, and are replaced by the mean of these. Everything else keeps its full sharpness: many
    recordings are marked interlaced and are not. One picture is all that is looked at, so the result does
    not depend on how the picture was reached.
    """
    import cv2
    import numpy as np

    height = rgb.shape[0] // 2 * 2
    if height < 4:
        return rgb
    even, odd = rgb[0:height:2].astype(np.int16), rgb[1:height:2].astype(np.int16)
    below = np.concatenate([even[1:], even[-1:]])
    over, under = odd - even, odd - below
    combed = ((np.minimum(over, under) > COMB) | (np.maximum(over, under) < -COMB)).any(axis=2)
    # A line that sticks out alone is a line; a comb has several above each other.
    dense = cv2.blur(combed.astype(np.float32), (5, 5)) > DENSE
    if not dense.any():
        return rgb
    moved = cv2.dilate((dense & combed).astype(np.uint8), np.ones((3, 9), np.uint8)).astype(bool)
    result = rgb.copy()
    lines = result[1:height:2]
    lines[moved] = ((even + below + 1) >> 1).astype(np.uint8)[moved]
    return result


COMB = 10
"""How far, of 255, a line sticks out that came later."""
DENSE = 0.3
"""How large a part of a neighbourhood of 5 x 5 has to."""


def scale(rgb: "NDArray[np.uint8]", width: int, height: int) -> "NDArray[np.uint8]":
    """An RGB array at another size: averaged in halves while it is over twice as large, then interpolated.

    As even as averaging over areas, and five times faster at the ratios that occur (640x360 to 640x352).
    """
    import cv2
    import numpy as np

    rgb = np.ascontiguousarray(rgb)
    while rgb.shape[1] >= 2 * width and rgb.shape[0] >= 2 * height:
        half = (rgb.shape[1] // 2, rgb.shape[0] // 2)
        rgb = cv2.resize(rgb[: half[1] * 2, : half[0] * 2], half, interpolation=cv2.INTER_AREA)
    if rgb.shape[1] != width or rgb.shape[0] != height:
        rgb = cv2.resize(rgb, (width, height), interpolation=cv2.INTER_LINEAR)
    return rgb


def blank(want: Wanted) -> "NDArray[np.uint8]":
    """What stands in where nothing could be decoded: black."""
    import numpy as np

    return np.zeros((want.height, want.width, 3), dtype=np.uint8)


def _crop(rgb: "NDArray[np.uint8]", box: Box) -> "NDArray[np.uint8]":
    height, width = rgb.shape[:2]
    left = min(width - 1, int(box[0] * width))
    top = min(height - 1, int(box[1] * height))
    right = max(left + 1, round(box[2] * width))
    bottom = max(top + 1, round(box[3] * height))
    return rgb[top:bottom, left:right]
