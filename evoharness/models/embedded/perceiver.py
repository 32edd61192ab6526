"""From the pixels of frames to percepts, in order of time, never doing twice what did not change."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evoharness.models.embedded.colours import colour_name
from evoharness.models.embedded.ocr import line_reader
from evoharness.models.embedded.percepts import Percept, Reading, Thing, rounded
from evoharness.models.embedded.regions import Region, find_regions
from evoharness.models.embedded.shapes import shape_name
from evoharness.models.embedded.store import PerceptStore
from evoharness.models.embedded.text_regions import KnownLines, Line, is_inked, propose_lines
from evoharness.records.frame import Frame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = "1"
"""Changes whenever the same pixels would be perceived otherwise; part of every cache key."""
_PLATES = {"rectangle", "square", "shape", "ellipse", "rectangle frame", "square frame"}

READABLE = 0.6
"""Mean character confidence from which a line counts as text."""
LINES = 10
"""At most this many unknown lines are read in one frame, the most text-like first."""
WIDTH_FOR_THINGS = 640
"""Things are looked for in at most this many columns."""
STREAMS = 8
"""Recordings whose latest lines are remembered in this process."""


@dataclass
class _Stream:
    """What is remembered of one recording at one size."""

    lines: KnownLines = field(default_factory=KnownLines)
    grey: "NDArray[np.uint8] | None" = None
    percept: Percept | None = None


class Perceiver:
    """Perceives frames; remembers percepts by the identity of the pixels."""

    def __init__(self, store: PerceptStore, ocr: bool = True) -> None:
        self._store = store
        self._ocr = ocr
        self._streams: OrderedDict[str, _Stream] = OrderedDict()

    def perceive(self, frames: Sequence[Frame]) -> list[Percept]:
        """One percept a frame, in the order given; only pixels never seen before are decoded."""
        keys = [self._key(frame) for frame in frames]
        known = self._store.get(keys)
        missing = {key: frame for key, frame in zip(keys, frames, strict=True) if key not in known}
        if missing:
            fresh = self._perceive_all(missing)
            self._store.put(fresh)
            known.update(fresh)
        return [known[key] for key in keys]

    def _key(self, frame: Frame) -> str:
        return f"{VERSION}{'t' if self._ocr else ''}:{frame.key}"

    def _perceive_all(self, missing: dict[str, Frame]) -> dict[str, Percept]:
        import cv2

        cv2.setNumThreads(1)
        fresh: dict[str, Percept] = {}
        by_source: dict[int, list[tuple[str, Frame]]] = {}
        for key, frame in missing.items():
            by_source.setdefault(id(frame.source), []).append((key, frame))
        for entries in by_source.values():
            entries.sort(key=lambda entry: entry[1].time)
            pixels = entries[0][1].source.pixels([frame for _, frame in entries])
            for (key, frame), rgb in zip(entries, pixels, strict=True):
                fresh[key] = self._perceive(rgb, self._stream(frame))
        return fresh

    def _stream(self, frame: Frame) -> _Stream:
        name = f"{frame.key.partition(':')[0]}:{frame.width}x{frame.height}:{frame.box}"
        stream = self._streams.pop(name, None) or _Stream()
        self._streams[name] = stream
        while len(self._streams) > STREAMS:
            self._streams.popitem(last=False)
        return stream

    def _perceive(self, rgb: "NDArray[np.uint8]", stream: _Stream) -> Percept:
        import cv2

        grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
        things = _things(rgb)
        texts = self._texts(rgb, grey, things, stream) if self._ocr else []
        height, width = grey.shape
        kept = _without_glyphs_and_cards(things, texts, width, height)
        return Percept(tuple(texts), tuple(kept), _background(rgb))

    def _texts(
        self,
        rgb: "NDArray[np.uint8]",
        grey: "NDArray[np.uint8]",
        things: list[Thing],
        stream: _Stream,
    ) -> list[Reading]:
        height, width = grey.shape
        readings = []
        unknown = 0
        for line in sorted(propose_lines(grey), key=_text_likeness):
            if line.width < 1.7 * line.height and _is_thing(line, things, width, height):
                continue
            known = stream.lines.find(line, grey)
            if known is not None:
                text, score = known.text, known.score
            elif unknown < LINES and is_inked(grey[line.top : line.bottom, line.left : line.right]):
                unknown += 1
                text, score = line_reader().read(_padded(rgb, line))
                if score < READABLE or not any(character.isalnum() for character in text):
                    text = ""
                stream.lines.add(line, grey, text, score)
            else:
                continue
            if text:
                box = rounded(line.left, line.top, line.right, line.bottom, width, height)
                readings.append(Reading(text, box, round(score, 3)))
        return sorted(readings, key=lambda reading: (reading.box[1], reading.box[0]))


def _background(rgb: "NDArray[np.uint8]") -> str:
    """Colour name of the middle value of each channel over the picture."""
    import numpy as np

    step = max(1, rgb.shape[1] // 80)
    small = rgb[step // 2 :: step, step // 2 :: step].reshape(-1, 3)
    red, green, blue = (int(value) for value in np.median(small, axis=0))
    return colour_name(red, green, blue)


def _text_likeness(line: Line) -> tuple[int, int]:
    """Lines of many blobs first, wide ones before narrow ones."""
    return (-min(4, line.blobs), -line.width)


def _padded(rgb: "NDArray[np.uint8]", line: Line) -> "NDArray[np.uint8]":
    pad = max(1, line.height // 10)
    return rgb[max(0, line.top - pad) : line.bottom + pad, max(0, line.left - pad) : line.right + pad]


def _things(rgb: "NDArray[np.uint8]") -> list[Thing]:
    import cv2

    height, width = rgb.shape[:2]
    while width >= 2 * WIDTH_FOR_THINGS or width > 1.5 * WIDTH_FOR_THINGS:
        rgb = cv2.resize(rgb, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
        height, width = rgb.shape[:2]
    regions = find_regions(rgb)
    things = []
    for region in regions:
        if any(_is_hole(region, other) for other in regions):
            continue
        shape, _ = shape_name(region.mask)
        share = round(region.area / (width * height), 5)
        box = rounded(*region.box, width, height)
        things.append(Thing(colour_name(*region.colour), shape, box, share, region.cut, region.colour))
    return things


def _is_hole(region: Region, other: Region) -> bool:
    """Whether the surroundings show through another region here."""
    if other is region or other.area <= 0:
        return False
    inside = (
        region.box[0] >= other.box[0] - 1
        and region.box[1] >= other.box[1] - 1
        and region.box[2] <= other.box[2] + 1
        and region.box[3] <= other.box[3] + 1
    )
    return inside and max(abs(a - b) for a, b in zip(region.colour, other.outside, strict=True)) < 30


def _is_thing(line: Line, things: list[Thing], width: int, height: int) -> bool:
    """Whether a proposed line is nothing but the outline of a thing."""
    for thing in things:
        x1, y1, x2, y2 = thing.box
        edges = (
            x1 * width - line.left,
            y1 * height - line.top,
            x2 * width - line.right,
            y2 * height - line.bottom,
        )
        if max(abs(edge) for edge in edges) <= 4:
            return True
    return False


def _without_glyphs_and_cards(
    things: list[Thing], texts: list[Reading], width: int, height: int
) -> list[Thing]:
    """Leave out the bodies of letters, and the plates that texts are written on."""
    kept = []
    for thing in things:
        x1, y1, x2, y2 = thing.box
        middle_x, middle_y = (x1 + x2) / 2, (y1 + y2) / 2
        letter = card = False
        for reading in texts:
            a1, b1, a2, b2 = reading.box
            tall = b2 - b1
            if a1 - 0.005 <= middle_x <= a2 + 0.005 and b1 <= middle_y <= b2 and y2 - y1 <= 1.25 * tall:
                letter = True
            inside = x1 - 0.005 <= a1 and a2 <= x2 + 0.005 and y1 - 0.005 <= b1 and b2 <= y2 + 0.005
            if inside and thing.shape in _PLATES:
                covered = (a2 - a1) * tall / max(1e-9, (x2 - x1) * (y2 - y1))
                wide = (a2 - a1) > 0.5 * (x2 - x1) and (x2 - x1) * width > 2.2 * (y2 - y1) * height
                card |= covered > 0.3 or wide
        if not letter and not card:
            kept.append(thing)
    return kept
