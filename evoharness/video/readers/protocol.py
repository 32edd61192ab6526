"""What a reader is asked, and what it answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Box = tuple[float, float, float, float]


class Wanted(NamedTuple):
    """One picture at one size."""

    number: int
    """Its number in order of presentation."""
    width: int
    """Pixels across, after rotation, cropping and scaling."""
    height: int
    """Pixels down, after the same."""
    box: Box | None
    """The crop in fractions of the upright picture; None: all of it."""


@dataclass
class Losses:
    """What reading a file has cost so far; grows while it is read."""

    pictures: set[int] = field(default_factory=set)
    """Numbers of pictures that could not be decoded: the nearest one before them stood in."""
    damaged: set[int] = field(default_factory=set)
    """Numbers of pictures that came with parts that the decoder had to make up."""
    replaced: list[str] = field(default_factory=list)
    """Readers that were given up, each with the reason, in one line."""


class ReaderFailed(Exception):
    """A reader cannot go on with this file; another one may. Never shown to a user as it is."""


class Reader(Protocol):
    """Decodes one file."""

    def read(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        """RGB arrays (height, width, 3) for pictures wanted in ascending order of their number.

        As many as were wanted: where a picture is damaged, the nearest one that decodes stands in, and the
        losses tell of it. `ReaderFailed` where the reader itself gives out; what it gave before is right.
        Holds one decoded picture at a time.
        """
        ...
