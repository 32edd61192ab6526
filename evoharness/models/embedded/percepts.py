"""What is perceived in one frame: texts that can be read and things that can be named."""

import json
from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""(x1, y1, x2, y2) in fractions of the picture, the origin at the top left."""


@dataclass(frozen=True)
class Reading:
    """A line of text as it was read."""

    text: str
    """Empty when it is too small to be read."""
    box: Box
    score: float
    """Mean confidence of its characters, from 0 to 1."""


@dataclass(frozen=True)
class Thing:
    """A region of one colour that stands out from what surrounds it."""

    colour: str
    """An ordinary English colour name."""
    shape: str
    """An ordinary English shape name; `shape` when it has none."""
    box: Box
    area: float
    """Share of the picture that it covers."""
    cut: bool = False
    """Whether it touches the edge of the picture, so that part of it may lie outside."""
    rgb: tuple[int, int, int] = (0, 0, 0)
    """Its colour as measured, channels from 0 to 255."""


@dataclass(frozen=True)
class Percept:
    """Everything perceived in one frame."""

    texts: tuple[Reading, ...] = ()
    things: tuple[Thing, ...] = ()
    background: str = ""
    """Colour name of most of the picture."""

    def dumps(self) -> str:
        """As compact JSON."""
        return json.dumps(
            [
                [[r.text, r.box, r.score] for r in self.texts],
                [[t.colour, t.shape, t.box, t.area, int(t.cut), t.rgb] for t in self.things],
                self.background,
            ],
            separators=(",", ":"),
        )

    @classmethod
    def loads(cls, text: str) -> "Percept":
        """What `dumps` wrote; ValueError when it is something else."""
        try:
            texts, things, background = json.loads(text)
            return cls(
                tuple(Reading(t, _box(box), float(score)) for t, box, score in texts),
                tuple(
                    Thing(colour, shape, _box(box), float(area), bool(cut), _rgb(rgb))
                    for colour, shape, box, area, cut, rgb in things
                ),
                str(background),
            )
        except TypeError as error:
            raise ValueError(f"not a percept: {text[:80]!r}") from error


def _box(values: list[float]) -> Box:
    x1, y1, x2, y2 = values
    return (float(x1), float(y1), float(x2), float(y2))


def _rgb(values: list[int]) -> tuple[int, int, int]:
    red, green, blue = values
    return (int(red), int(green), int(blue))


def rounded(x1: float, y1: float, x2: float, y2: float, width: int, height: int) -> Box:
    """A box in pixels as fractions of the picture, to a tenth of a per mille."""
    return (round(x1 / width, 4), round(y1 / height, 4), round(x2 / width, 4), round(y2 / height, 4))


def centre(box: Box) -> tuple[float, float]:
    """Middle of a box."""
    return ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


def overlap(a: Box, b: Box) -> float:
    """Intersection over union of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    whole = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / whole if whole > 0 else 0.0
