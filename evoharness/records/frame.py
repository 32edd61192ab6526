"""A frame: which picture is meant, and where its pixels come from when somebody needs them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Detail(StrEnum):
    """How many pixels a frame may have when a model looks at it."""

    SMALL = "small"
    """81,920 pixels."""
    NORMAL = "normal"
    """262,144 pixels."""
    LARGE = "large"
    """1,048,576 pixels."""


@runtime_checkable
class FrameSource(Protocol):
    """Gives the pixels of frames that it issued."""

    def pixels(self, frames: "Sequence[Frame]") -> "Iterator[NDArray[np.uint8]]":
        """RGB arrays of shape (height, width, 3), one for each frame, in the order given."""
        ...


@dataclass(frozen=True)
class Frame:
    """One picture at one size, by reference: decoding happens only when pixels are asked for."""

    key: str
    """Identity of the pixels: content hash of the file, presentation time, size and crop."""
    time: float
    """Presentation time of the picture, in seconds from the first frame."""
    width: int
    """Pixels across, after rotation and scaling."""
    height: int
    """Pixels down, after rotation and scaling."""
    source: FrameSource = field(repr=False, compare=False)
    """Where the pixels come from."""
    box: tuple[float, float, float, float] | None = None
    """The crop (x1, y1, x2, y2) in fractions of the whole picture; None: the whole picture."""
    until: float | None = None
    """The picture is known to look nearly the same until that time, in seconds; None: nothing is known."""

    @property
    def tokens(self) -> int:
        """What a vision model is charged for it: one token for each 32 x 32 pixels, at least one."""
        return max(1, round(self.width * self.height / 1024))
