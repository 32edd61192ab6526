"""Perceiving the pictures of one recording, at one size, with what was seen lately in it kept at hand.

A picture that hardly differs from the one before is that one. Lines of text are read once for as long as
their pixels stay, things are measured once for as long as their surroundings stay. All comparisons are
strict: nothing is taken for known when any patch of the size of a stroke changed.
"""

from typing import TYPE_CHECKING

from evoharness.models.embedded.colours import colour_name
from evoharness.models.embedded.known_lines import KnownLines
from evoharness.models.embedded.measuring import Region
from evoharness.models.embedded.ocr import line_reader
from evoharness.models.embedded.percepts import Box, Percept, Reading, Thing, overlap, rounded
from evoharness.models.embedded.regions import RegionFinder
from evoharness.models.embedded.shapes import UNKNOWN, shape_name
from evoharness.models.embedded.text_regions import Line, is_inked, propose_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READABLE = 0.7
"""Mean character confidence from which a line counts as text."""
READABLE_ALONE = 0.93
"""The same for a single character, which many a shape resembles."""
SMALLEST = 9
"""Height of a line in pixels, edges included, below which digits cannot be told apart: it stays unread."""
TINY = 4
"""At most this many unreadable lines are noted in one picture."""
LINES = 10
"""At most this many unknown lines are read in one picture, the most text-like first."""
MANY = 40
"""Proposed lines from which a picture is mostly texture, and fewer of them are read."""
WIDTH_FOR_THINGS = 640
"""Things are looked for in a picture halved until it is narrower than one and a half times this."""
CROWDED, NOTABLE = 12, 0.01
"""In a picture with more things than the first, shapeless ones below that share of it count as texture."""
SAME = 9
"""Largest difference of a smoothed channel between two pictures that are taken for the same."""
_PLATES = {"rectangle", "square", "shape", "ellipse", "rectangle frame", "square frame"}


class Stream:
    """Turns pictures of one recording into percepts, best in order of time."""

    def __init__(self, lines: KnownLines, ocr: bool = True) -> None:
        self.lines = lines
        self._ocr = ocr
        self._finder = RegionFinder()
        self._names: dict[int, tuple[Region, Thing]] = {}
        self._before: NDArray[np.uint8] | None = None
        self._percept = Percept()

    def rest(self) -> None:
        """Let go of the last picture; the lines stay known."""
        self._before = None
        self._finder = RegionFinder()
        self._names = {}

    def perceive(self, rgb: "NDArray[np.uint8]") -> Percept:
        """The percept of an RGB picture (height, width, 3)."""
        if self._before is None or not _same(self._before, rgb):
            self._percept = self._look(rgb)
            self._before = rgb
        return self._percept

    def _look(self, rgb: "NDArray[np.uint8]") -> Percept:
        import cv2

        grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
        height, width = grey.shape
        lines = propose_lines(grey)
        budget = LINES if len(lines) < MANY else LINES // 3
        wordy = [line for line in lines if line.wordy]
        if self._ocr:
            texts = self._read(rgb, grey, wordy, budget)
            taken = [reading.box for reading in texts]
        else:
            texts, taken = [], [_box(line, grey) for line in wordy if line.blobs > 2]
        things = self._things(rgb, taken)
        if self._ocr:
            outlines = [outline for region, _ in self._names.values() for outline in region.outlines]
            single = [line for line in lines if not line.wordy and not _any_match(_box(line, grey), outlines)]
            texts += self._read(rgb, grey, single, budget // 2)
        texts = [text for text in texts if not _is_drawn(text, things)]
        texts.sort(key=lambda reading: (reading.box[1], reading.box[0]))
        kept = [thing for thing in things if not _is_glyph_or_card(thing, texts, width / height)]
        return Percept(tuple(texts), tuple(kept), _background(rgb))

    def _read(
        self, rgb: "NDArray[np.uint8]", grey: "NDArray[np.uint8]", lines: list[Line], budget: int
    ) -> list[Reading]:
        readings = []
        unknown = tiny = 0
        for line in lines:
            known = self.lines.find(line, grey)
            if known is not None:
                text, score = known.text, known.score
            elif line.height < SMALLEST:
                if tiny < TINY and line.width >= 2.2 * line.height and is_inked(grey, line):
                    readings.append(Reading("", _box(line, grey), 0.0))
                    tiny += 1
                continue
            elif unknown < budget and is_inked(grey, line):
                unknown += 1
                text, score = line_reader().read(_padded(rgb, line))
                text = text if _is_text(text, score) else ""
                self.lines.add(line, grey, text, score)
            else:
                continue
            if text:
                readings.append(Reading(text, _box(line, grey), round(score, 3)))
        return readings

    def _things(self, rgb: "NDArray[np.uint8]", taken: list[Box]) -> list[Thing]:
        import cv2

        height, width = rgb.shape[:2]
        while width > 1.5 * WIDTH_FOR_THINGS:
            rgb = cv2.resize(rgb, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
            height, width = rgb.shape[:2]
        regions = self._finder.find(rgb, taken)
        named: dict[int, tuple[Region, Thing]] = {}
        for region in regions:
            if any(_is_hole(region, other) for other in regions):
                continue
            old = self._names.get(id(region))
            named[id(region)] = old if old is not None else (region, _named(region, width, height))
        self._names = named
        things = [thing for _, thing in named.values()]
        if len(things) > CROWDED:
            things = [thing for thing in things if thing.shape != UNKNOWN or thing.area > NOTABLE]
        return things


def _same(one: "NDArray[np.uint8]", other: "NDArray[np.uint8]") -> bool:
    import cv2

    if one.shape != other.shape:
        return False
    return bool(cv2.blur(cv2.absdiff(one, other), (3, 3)).max() <= SAME)


def _is_text(text: str, score: float) -> bool:
    """Whether a reading is likely more than texture or a shape."""
    letters = sum(character.isalnum() for character in text)
    if not letters or letters < 0.5 * len(text.replace(" ", "")):
        return False
    return score >= (READABLE if letters > 1 else READABLE_ALONE)


def _box(line: Line, grey: "NDArray[np.uint8]") -> Box:
    height, width = grey.shape
    return rounded(line.left, line.top, line.right, line.bottom, width, height)


def _padded(rgb: "NDArray[np.uint8]", line: Line) -> "NDArray[np.uint8]":
    """The line with the margins that the reader likes: narrow ones above and below, wide ones at the ends."""
    down, across = max(1, line.height // 10), max(2, line.height // 4)
    left, top = max(0, line.left - across), max(0, line.top - down)
    return rgb[top : line.bottom + down, left : line.right + across]


def _named(region: Region, width: int, height: int) -> Thing:
    shape, _ = shape_name(region.mask)
    share = round(region.area / (width * height), 5)
    box = rounded(*region.box, width, height)
    return Thing(colour_name(*region.colour), shape, box, share, region.cut, region.colour)


def _is_hole(region: Region, other: Region) -> bool:
    """Whether the surroundings show through another region here."""
    if other is region:
        return False
    inside = (
        region.box[0] >= other.box[0] - 1
        and region.box[1] >= other.box[1] - 1
        and region.box[2] <= other.box[2] + 1
        and region.box[3] <= other.box[3] + 1
    )
    return inside and max(abs(a - b) for a, b in zip(region.colour, other.outside, strict=True)) < 30


def _any_match(box: Box, outlines: list[Box]) -> bool:
    """Whether a line is nothing but the outline of a thing, or of the hole in it."""
    return any(overlap(box, outline) > 0.72 for outline in outlines)


def _is_drawn(text: Reading, things: list[Thing]) -> bool:
    """Whether a reading of one or two characters is a thing taken for letters."""
    return len(text.text) <= 2 and any(overlap(text.box, thing.box) > 0.6 for thing in things)


def _is_glyph_or_card(thing: Thing, texts: list[Reading], aspect: float) -> bool:
    """Whether a thing is the body of a letter, or the plate that a text is written on."""
    x1, y1, x2, y2 = thing.box
    middle_x, middle_y = (x1 + x2) / 2, (y1 + y2) / 2
    for reading in texts:
        a1, b1, a2, b2 = reading.box
        tall = b2 - b1
        if a1 - 0.005 <= middle_x <= a2 + 0.005 and b1 <= middle_y <= b2 and y2 - y1 <= 1.25 * tall:
            return True
        shared = max(0.0, min(x2, a2) - max(x1, a1)) * max(0.0, min(y2, b2) - max(y1, b1))
        if shared > 0.4 * (x2 - x1) * (y2 - y1) and y2 - y1 < 2 * tall:
            return True
        inside = x1 - 0.005 <= a1 and a2 <= x2 + 0.005 and y1 - 0.005 <= b1 and b2 <= y2 + 0.005
        if inside and thing.shape in _PLATES:
            covered = (a2 - a1) * tall / max(1e-9, (x2 - x1) * (y2 - y1))
            wide = (a2 - a1) > 0.5 * (x2 - x1) and (x2 - x1) * aspect > 2.2 * (y2 - y1)
            if covered > 0.3 or wide:
                return True
    return False


def _background(rgb: "NDArray[np.uint8]") -> str:
    """Colour name of the middle value of each channel over the picture."""
    import numpy as np

    step = max(1, min(rgb.shape[:2]) // 45)
    small = rgb[step // 2 :: step, step // 2 :: step].reshape(-1, 3)
    red, green, blue = (int(value) for value in np.median(small, axis=0))
    return colour_name(red, green, blue)
