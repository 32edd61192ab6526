"""Recordings drawn for the tests: plain shapes and words whose colour, place and time are known."""

from collections.abc import Callable, Iterator, Sequence
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from evoharness.records.frame import Frame

Picture = NDArray[np.uint8]
RGB = tuple[int, int, int]

COLOURS: dict[str, RGB] = {
    "red": (210, 35, 40),
    "orange": (245, 140, 25),
    "yellow": (245, 220, 60),
    "green": (40, 160, 70),
    "cyan": (60, 200, 220),
    "blue": (40, 90, 210),
    "purple": (130, 60, 170),
    "pink": (245, 150, 190),
    "brown": (120, 75, 40),
    "black": (20, 20, 22),
    "white": (248, 248, 248),
    "gray": (130, 130, 130),
}
LIGHT: RGB = (222, 214, 205)
DARK: RGB = (52, 58, 66)


def blank(width: int = 640, height: int = 352, ground: RGB = LIGHT, slope: int = 0) -> Image.Image:
    """An empty picture; `slope` makes it that much brighter from top to bottom."""
    column = np.linspace(-slope / 2, slope / 2, height)[:, None, None]
    pixels = np.clip(np.array(ground)[None, None, :] + column + np.zeros((height, width, 3)), 0, 255)
    return Image.fromarray(pixels.astype(np.uint8))


def shape(picture: Image.Image, name: str, colour: str, x: float, y: float, size: float = 60) -> None:
    """Draw a shape of one colour around a point, in pixels."""
    draw = ImageDraw.Draw(picture)
    ink, r = COLOURS[colour], size / 2
    if name == "circle":
        draw.ellipse((x - r, y - r, x + r, y + r), fill=ink)
    elif name == "ellipse":
        draw.ellipse((x - r, y - r * 0.55, x + r, y + r * 0.55), fill=ink)
    elif name == "ring":
        draw.ellipse((x - r, y - r, x + r, y + r), outline=ink, width=max(4, round(size / 5)))
    elif name == "rectangle":
        draw.rectangle((x - r, y - r * 0.5, x + r, y + r * 0.5), fill=ink)
    else:
        draw.polygon([(x + r * u, y + r * v) for u, v in _corners(name)], fill=ink)


def _corners(name: str) -> list[tuple[float, float]]:
    if name == "star":
        return [_spoke(index / 10, 1.0 if index % 2 == 0 else 0.42) for index in range(10)]
    if name == "cross":
        w = 0.35
        return [
            (-w, -1), (w, -1), (w, -w), (1, -w), (1, w), (w, w),
            (w, 1), (-w, 1), (-w, w), (-1, w), (-1, -w), (-w, -w),
        ]  # fmt: skip
    if name == "arrow":
        return [(-1, -0.3), (0.1, -0.3), (0.1, -0.8), (1, 0), (0.1, 0.8), (0.1, 0.3), (-1, 0.3)]
    if name == "heart":
        return [
            (sin(a) ** 3, -(13 * cos(a) - 5 * cos(2 * a) - 2 * cos(3 * a) - cos(4 * a)) / 16)
            for a in (2 * pi * index / 60 for index in range(60))
        ]
    corners = {"triangle": 3, "diamond": 4, "pentagon": 5, "hexagon": 6}
    if name == "square":
        return [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    return [_spoke(index / corners[name], 1.0) for index in range(corners[name])]


def _spoke(turn: float, length: float) -> tuple[float, float]:
    return (length * sin(2 * pi * turn), -length * cos(2 * pi * turn))


SHAPES = (
    "circle", "ellipse", "ring", "square", "rectangle", "triangle", "diamond", "pentagon", "hexagon", "star",
    "cross", "arrow", "heart",
)  # fmt: skip


def words(
    picture: Image.Image, text: str, x: float, y: float, size: float = 24, ink: RGB = (15, 15, 15)
) -> None:
    """Write a line around a point, in pixels."""
    font = ImageFont.load_default(size)
    ImageDraw.Draw(picture).text((x, y), text, fill=ink, font=font, anchor="mm")


class Recording:
    """Pictures at a steady rate, handed out as frames; counts how many pictures were asked for."""

    def __init__(self, pictures: Sequence[Image.Image], fps: float = 1.0, name: str = "drawn") -> None:
        self._pictures = [np.asarray(picture.convert("RGB")) for picture in pictures]
        self._fps = fps
        self._name = name
        self.asked = 0

    @classmethod
    def drawn(
        cls, draw: Callable[[Image.Image, float], None], seconds: float, fps: float = 1.0, name: str = "drawn"
    ) -> "Recording":
        """A recording made by drawing on an empty picture, given the time in seconds."""
        pictures = []
        for index in range(round(seconds * fps)):
            picture = blank()
            draw(picture, index / fps)
            pictures.append(picture)
        return cls(pictures, fps, name)

    def frames(self, scale: float = 1.0, every: int = 1, first: int = 0) -> tuple[Frame, ...]:
        """References to the pictures, or to smaller versions of them."""
        chosen = []
        for index in range(first, len(self._pictures), every):
            height, width = self._pictures[index].shape[:2]
            size = (round(width * scale), round(height * scale))
            key = f"{self._name}:{index * 1000}:{size[0]}x{size[1]}"
            chosen.append(Frame(key=key, time=index / self._fps, width=size[0], height=size[1], source=self))
        return tuple(chosen)

    def pixels(self, frames: Sequence[Frame]) -> Iterator[Picture]:
        """The pictures, scaled."""
        for frame in frames:
            self.asked += 1
            picture = self._pictures[round(frame.time * self._fps)]
            if picture.shape[1] != frame.width:
                small = Image.fromarray(picture).resize((frame.width, frame.height), Image.Resampling.BOX)
                picture = np.asarray(small)
            yield picture
