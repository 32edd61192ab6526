"""Draw flat coloured shapes and texts straight into a YUV 4:2:0 picture.

Pictures are kept as the encoder wants them, so that drawing costs what changes and nothing is converted
frame by frame. Everything drawn is a *stamp*: a coverage mask and one colour. Text uses the scalable
font that comes inside Pillow, so that it looks the same on every machine.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Mask = NDArray[np.float32]
RGB = tuple[int, int, int]


def yuv(colour: RGB) -> tuple[float, float, float]:
    """BT.601 limited-range Y, U and V of an RGB colour (0-255)."""
    r, g, b = (channel / 255 for channel in colour)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return 16 + 219 * y, 128 + 224 * 0.564 * (b - y), 128 + 224 * 0.713 * (r - y)


@dataclass(frozen=True, eq=False)
class Stamp:
    """A mask of even height and width with values 0-1, and the same at half the size."""

    mask: Mask
    half: Mask

    @classmethod
    def of(cls, mask: NDArray[np.floating]) -> "Stamp":
        """Pad a mask to even sides and halve it for the colour planes."""
        height, width = mask.shape
        even = np.pad(mask, ((0, height % 2), (0, width % 2))).astype(np.float32)
        h, w = even.shape
        return cls(even, even.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3), dtype=np.float32))


class Canvas:
    """One picture: `planes` is the (height * 3 / 2, width) array of Y, U and V that PyAV calls yuv420p."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.planes = np.zeros((height * 3 // 2, width), np.uint8)
        flat = self.planes.reshape(-1)
        luma, chroma = width * height, width * height // 4
        self._y = flat[:luma].reshape(height, width)
        self._u = flat[luma : luma + chroma].reshape(height // 2, width // 2)
        self._v = flat[luma + chroma :].reshape(height // 2, width // 2)

    def copy_from(self, other: "Canvas") -> None:
        """Make the whole picture that of `other`."""
        self.planes[:] = other.planes

    def restore(self, other: "Canvas", box: tuple[int, int, int, int]) -> None:
        """Make the part inside `box` (even x1, y1, x2, y2) that of `other`."""
        x1, y1, x2, y2 = box
        self._y[y1:y2, x1:x2] = other._y[y1:y2, x1:x2]
        half = np.s_[y1 // 2 : y2 // 2, x1 // 2 : x2 // 2]
        self._u[half] = other._u[half]
        self._v[half] = other._v[half]

    def draw(self, stamp: Stamp, colour: RGB, x: float, y: float) -> tuple[int, int, int, int]:
        """Draw a stamp centred at (x, y) pixels; returns the even box it lies in, clipped to the picture."""
        h, w = stamp.mask.shape
        left, top = 2 * round((x - w / 2) / 2), 2 * round((y - h / 2) / 2)
        x1, y1 = max(0, left), max(0, top)
        x2, y2 = min(self.width, left + w), min(self.height, top + h)
        if x1 >= x2 or y1 >= y2:
            return (0, 0, 0, 0)
        mask = stamp.mask[y1 - top : y2 - top, x1 - left : x2 - left]
        half = stamp.half[(y1 - top) // 2 : (y2 - top) // 2, (x1 - left) // 2 : (x2 - left) // 2]
        luma, u, v = yuv(colour)
        _blend(self._y[y1:y2, x1:x2], mask, luma)
        _blend(self._u[y1 // 2 : y2 // 2, x1 // 2 : x2 // 2], half, u)
        _blend(self._v[y1 // 2 : y2 // 2, x1 // 2 : x2 // 2], half, v)
        return (x1, y1, x2, y2)

    def paint(self, rgb: NDArray[np.uint8]) -> None:
        """Fill the whole picture from an RGB array of shape (height, width, 3)."""
        values = rgb.astype(np.float32) / 255
        luma = values @ np.array([0.299, 0.587, 0.114], np.float32)
        self._y[:] = np.rint(16 + 219 * luma)
        for plane, channel, factor in ((self._u, 2, 0.564), (self._v, 0, 0.713)):
            chroma = 128 + 224 * factor * (values[..., channel] - luma)
            plane[:] = np.rint(chroma.reshape(self.height // 2, 2, self.width // 2, 2).mean(axis=(1, 3)))


def _blend(plane: NDArray[np.uint8], mask: Mask, value: float) -> None:
    old = plane.astype(np.float32)
    plane[:] = old + mask * (value - old) + 0.5


@lru_cache(maxsize=512)
def shape_stamp(shape: str, radius: int) -> Stamp:
    """A filled shape `2 * radius` pixels high, its edges smooth."""
    scale, margin = 8, 1
    side = 2 * (radius + margin)
    big = np.zeros((side * scale, side * scale), np.uint8)
    centre, r = side * scale / 2, radius * scale
    if shape in ("circle", "ring"):
        cv2.circle(big, (round(centre), round(centre)), round(r), 255, -1)
        if shape == "ring":
            cv2.circle(big, (round(centre), round(centre)), round(r * 0.58), 0, -1)
    else:
        points = np.array([(centre + r * x, centre + r * y) for x, y in _outline(shape)])
        cv2.fillPoly(big, [np.rint(points).astype(np.int32)], 255)
    small = cv2.resize(big, (side, side), interpolation=cv2.INTER_AREA)
    return Stamp.of(small.astype(np.float32) / 255)


def _outline(shape: str) -> list[tuple[float, float]]:
    """Corners of a shape within the square from (-1, -1) to (1, 1), y pointing down."""

    def regular(corners: int, turn: float) -> list[tuple[float, float]]:
        angles = [turn + 2 * math.pi * i / corners for i in range(corners)]
        return [(math.cos(a), math.sin(a)) for a in angles]

    if shape == "square":
        return [(-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)]
    if shape == "triangle":
        return [(0, -0.95), (1, 0.85), (-1, 0.85)]
    if shape == "diamond":
        return [(0, -1), (0.72, 0), (0, 1), (-0.72, 0)]
    if shape == "hexagon":
        return regular(6, 0)
    if shape == "star":
        outer, inner = regular(5, -math.pi / 2), regular(5, -math.pi / 2 + math.pi / 5)
        return [p for a, (x, y) in zip(outer, inner, strict=True) for p in (a, (0.42 * x, 0.42 * y))]
    if shape == "cross":
        t, e = 0.32, 0.95
        arm = [(-t, -t), (-t, -e), (t, -e)]
        return [*arm, *((-y, x) for x, y in arm), *((-x, -y) for x, y in arm), *((y, -x) for x, y in arm)]
    if shape == "arrow":
        return [(-1, -0.3), (0.1, -0.3), (0.1, -0.85), (1, 0), (0.1, 0.85), (0.1, 0.3), (-1, 0.3)]
    if shape == "heart":
        angles = [2 * math.pi * i / 60 for i in range(60)]
        curve = [
            (
                16 * math.sin(a) ** 3,
                -(13 * math.cos(a) - 5 * math.cos(2 * a) - 2 * math.cos(3 * a) - math.cos(4 * a)),
            )
            for a in angles
        ]
        return [(x / 16.5, (y - 2.5) / 15.5) for x, y in curve]
    raise ValueError(f"no such shape: {shape}")


@lru_cache(maxsize=256)
def text_stamp(words: str, size: int) -> Stamp:
    """The words in the built-in font at `size` pixels."""
    font = ImageFont.load_default(size)
    left, top, right, bottom = font.getbbox(words)
    image = Image.new("L", (math.ceil(right - left) + 2, math.ceil(bottom - top) + 2))
    ImageDraw.Draw(image).text((1 - left, 1 - top), words, fill=255, font=font)
    return Stamp.of(np.asarray(image, dtype=np.float32) / 255)


def box_stamp(width: int, height: int) -> Stamp:
    """A filled rectangle."""
    return Stamp.of(np.ones((height, width), np.float32))


def gradient(
    width: int,
    height: int,
    top: RGB,
    bottom: RGB,
    panel: tuple[float, float, float, float] | None,
    grain: int,
) -> NDArray[np.uint8]:
    """A quiet background of shape (height, width, 3): a gradient, perhaps a panel, a little texture."""
    weight = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
    picture = np.array(top, np.float32) * (1 - weight) + np.array(bottom, np.float32) * weight
    picture = np.repeat(picture, width, axis=1)
    if panel is not None:
        x1, y1, x2, y2 = (round(f * s) for f, s in zip(panel, (width, height, width, height), strict=True))
        picture[y1:y2, x1:x2] += 7
    coarse = np.random.default_rng(grain).normal(0, 1.5, (height // 6, width // 6)).astype(np.float32)
    picture += cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)[..., None]
    finished: NDArray[np.uint8] = np.clip(picture, 0, 255).astype(np.uint8)
    return finished
