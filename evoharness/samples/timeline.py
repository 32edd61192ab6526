"""What a synthetic recording shows, when and where: the ground truth beside each video."""

import hashlib
from typing import Literal

from evoharness.records.base import Record
from evoharness.records.interval import Interval

TextRole = Literal["title", "step", "header", "caption", "label", "reading", "blink", "stop", "end"]
ThingRole = Literal[
    "visitor", "flash", "repeat", "group", "labelled", "toucher", "touched", "row", "odd", "pair", "host"
]
EventKind = Literal[
    "appears", "disappears", "flashes", "enters", "leaves", "moves", "turns", "grows", "shrinks", "touches"
]


class Text(Record):
    """One text on the screen, shown without a break."""

    id: str
    """`text/<n>`."""
    role: TextRole
    """What it is for; a header repeats the step of its chapter."""
    text: str
    """The words as drawn."""
    interval: Interval
    """From its first frame to the first frame without it."""
    x: float
    """Centre, as a fraction of the width."""
    y: float
    """Centre, as a fraction of the height."""
    size: int
    """Font size in pixels of the video."""
    faint: bool = False
    """Drawn with little contrast, as small print often is."""
    beside: str | None = None
    """The thing that it labels, if any."""
    number: int | None = None
    """Number of the step, for a step."""


class Thing(Record):
    """One coloured thing."""

    id: str
    """`object/<n>`."""
    role: ThingRole
    """The part it plays."""
    colour: str
    """Its colour when first seen."""
    shape: str
    """Its outline, which never changes."""
    radius: float
    """Half its height when first seen, as a fraction of the picture's height."""
    x: float
    """Centre when first seen, as a fraction of the width; outside 0-1 when it comes in from a side."""
    y: float
    """Centre when first seen, as a fraction of the height."""
    shown: tuple[Interval, ...]
    """When it is on the screen, in order of time."""
    chapter: int
    """Number of the chapter in which it is first seen."""
    together: str | None = None
    """Name of the group, row or pair that it is shown with."""

    @property
    def name(self) -> str:
        """What one would call it: "red star"."""
        return f"{self.colour} {self.shape}"

    @property
    def first(self) -> float:
        """When it is first seen, in seconds."""
        return self.shown[0].start

    @property
    def last(self) -> float:
        """When it is last seen, in seconds."""
        return self.shown[-1].end

    @property
    def brief(self) -> bool:
        """Whether no showing of it lasts longer than a second."""
        return all(interval.duration <= 1.001 for interval in self.shown)


class Happening(Record):
    """One thing that happens to a thing."""

    id: str
    """`event/<n>`."""
    kind: EventKind
    """What happens."""
    thing: str
    """The thing it happens to."""
    interval: Interval
    """When; the start is the first frame that shows it."""
    path: tuple[float, float, float, float] | None = None
    """For a motion: x and y at its start and end, as fractions."""
    before: str | None = None
    """The colour or side that it starts from."""
    after: str | None = None
    """The colour or side that it ends at."""
    other: str | None = None
    """The other thing that takes part, if any."""
    radius: float | None = None
    """The radius after a change of size."""


class Backdrop(Record):
    """How the background of a stretch of time is drawn."""

    tone: Literal["dark", "light"]
    """Whether light or dark print stands out against it."""
    top: tuple[int, int, int]
    """RGB at the upper edge."""
    bottom: tuple[int, int, int]
    """RGB at the lower edge."""
    panel: tuple[float, float, float, float] | None = None
    """A quiet rectangle (x1, y1, x2, y2) in fractions."""
    grain: int = 0
    """Seed of its texture."""

    def colour_at(self, y: float) -> tuple[int, int, int]:
        """RGB of the gradient at a fraction `y` of the height."""
        r, g, b = (round(a + (z - a) * y) for a, z in zip(self.top, self.bottom, strict=True))
        return r, g, b


class Chapter(Record):
    """One part of a recording: a card, then the scene that belongs to it."""

    number: int
    """Position in the recording; 0 is the title."""
    interval: Interval
    """From the start of the card to the end of the scene."""
    card: Interval
    """While the card fills the screen."""
    text: str
    """Id of the text on the card."""
    card_backdrop: Backdrop
    scene_backdrop: Backdrop


class Timeline(Record):
    """Everything that one recording shows."""

    video: str
    """Key of the video: the stem of its file."""
    seed: int
    index: int
    """Which video of the seed it is."""
    field: str
    """The field of work it is about."""
    duration: float
    """Seconds."""
    width: int
    height: int
    variable_rate: bool
    """Whether frames come only when something changes (and once a second)."""
    fps: int
    """Frames a second; at a variable rate, the finest spacing of its frames."""
    chapters: tuple[Chapter, ...]
    texts: tuple[Text, ...]
    things: tuple[Thing, ...]
    events: tuple[Happening, ...]

    @property
    def fingerprint(self) -> str:
        """Identity of everything it says (hexadecimal)."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def fine_print(self) -> bool:
        """Whether small labels are legible only at the full size of the picture."""
        return self.height >= 720

    def chapter_at(self, time: float) -> Chapter:
        """The chapter in progress at `time`."""
        return max((c for c in self.chapters if c.interval.start <= time), key=lambda c: c.number)

    def text(self, identifier: str) -> Text:
        """The text of that id; KeyError when there is none."""
        for text in self.texts:
            if text.id == identifier:
                return text
        raise KeyError(identifier)

    def thing(self, identifier: str) -> Thing:
        """The thing of that id; KeyError when there is none."""
        for thing in self.things:
            if thing.id == identifier:
                return thing
        raise KeyError(identifier)
