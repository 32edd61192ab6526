"""From a file to pixels: one forward pass over the pictures that are wanted.

The pass decodes on from where it stands. It seeks only when the next wanted picture lies beyond a later key
frame, and checks where a seek really landed, because containers with a poor index land too late. A packet
that cannot be decoded costs its own picture only: what was last decoded before it stands in for it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from evoharness.video.container import damage, open_container, packets_of, pick_stream
from evoharness.video.index import PacketIndex
from evoharness.video.probe import quarter_turns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEEK_GAIN = 6
"""Pictures that a seek has to save before it pays: it throws the decoder's state away."""

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


class Reader(Protocol):
    """Decodes one file."""

    def read(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        """RGB arrays (height, width, 3) for pictures wanted in ascending order of their number.

        Always as many as were wanted: where a picture is damaged, the nearest one that decodes stands in.
        Holds one decoded picture at a time.
        """
        ...


class PyAVReader:
    """Reads whatever FFmpeg reads, through PyAV."""

    def __init__(self, path: Path, index: PacketIndex) -> None:
        self._path = path
        self._index = index

    def read(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        """See `Reader`."""
        if not wanted:
            return
        walk = _Walk(self._path, self._index)
        try:
            early: list[Wanted] = []  # wanted before anything could be decoded
            picture = None
            for want in wanted:
                picture = walk.forward(self._index.pts[want.number])
                if picture is None:
                    early.append(want)
                    continue
                for other in [*early, want]:
                    yield render(picture, other)
                early.clear()
            for want in early:
                yield _blank(want)
        finally:
            walk.close()


class _Walk:
    """A position in a file that only moves forward."""

    def __init__(self, path: Path, index: PacketIndex) -> None:
        self._path = path
        self._index = index
        self._container: Any = None
        self._stream: Any = None
        self._held: Any = None  # on display at the target of the last call, or None
        self._held_pts: int | None = None
        self._next: Any = None  # decoded, but shown only after that
        self._next_pts: int | None = None
        self._counted = 0
        self._open()

    def close(self) -> None:
        """Let go of the file."""
        if self._container is not None:
            self._container.close()
            self._container = None

    def forward(self, target: int) -> Any | None:
        """The picture on display at `target` (units of the time base); targets never go back."""
        key = self._index.key_before(target)
        position = self._next_pts if self._next_pts is not None else self._held_pts
        behind = self._index.number_of(key) if key is not None else 0
        gained = behind - (self._index.number_of(position) if position is not None else 0)
        if key is not None and not self._index.counted and gained > SEEK_GAIN:
            self._seek(key)
        while self._next_pts is None or self._next_pts <= target:
            if self._next is not None:
                self._held, self._held_pts = self._next, self._next_pts
                self._next, self._next_pts = None, None
                if self._held_pts == target:
                    break
            picture = next(self._pictures, None)
            if picture is None:
                break
            self._next, self._next_pts = picture
        return self._held if self._held is not None else self._next

    def _open(self) -> None:
        self.close()
        self._container = open_container(self._path)
        self._stream = pick_stream(self._container)
        # One thread: videos are read side by side in several processes, and the repair of damaged
        # pictures depends on the number of threads.
        self._stream.codec_context.thread_count = 1
        self._pictures = self._decoded(packets_of(self._container, self._stream))

    def _seek(self, key: int) -> None:
        """Go on from the key frame at `key`, or from an earlier one when the container cannot land there."""
        keys = self._index.keys
        position, back = bisect_left(keys, key), 1
        while position >= 0:
            try:
                self._container.seek(keys[position], stream=self._stream, backward=True)
            except damage():
                break
            packets = packets_of(self._container, self._stream)
            first = next(packets, None)
            landed = None if first is None else (first.pts if first.pts is not None else first.dts)
            if landed is not None and landed <= key:
                self._drop_pictures()
                self._pictures = self._decoded(chain([first], packets))
                return
            position -= back
            back *= 2
        self._open()
        self._drop_pictures()

    def _drop_pictures(self) -> None:
        self._next, self._next_pts = None, None

    def _decoded(self, packets: Iterable[Any]) -> Iterator[tuple[Any, int]]:
        """Pictures with their times, in the order in which the decoder gives them; damage is skipped."""
        for packet in chain(packets, [None]):  # None asks the decoder for what it still holds
            try:
                pictures = self._stream.codec_context.decode(packet)
            except damage():
                continue
            for picture in pictures:
                pts = picture.pts if picture.pts is not None else picture.dts
                if self._index.counted:
                    pts = self._counted
                self._counted += 1
                if pts is not None:
                    yield picture, pts


def render(picture: Any, want: Wanted) -> "NDArray[np.uint8]":
    """RGB of a decoded picture: turned upright, cropped and scaled as wanted."""
    import numpy as np

    rgb = picture.to_ndarray(format="rgb24")
    turns = quarter_turns(picture.rotation)
    if turns:
        rgb = np.rot90(rgb, -turns)
    if want.box is not None:
        rgb = _crop(rgb, want.box)
    return scale(rgb, want.width, want.height)


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


def _crop(rgb: "NDArray[np.uint8]", box: Box) -> "NDArray[np.uint8]":
    height, width = rgb.shape[:2]
    left = min(width - 1, int(box[0] * width))
    top = min(height - 1, int(box[1] * height))
    right = max(left + 1, round(box[2] * width))
    bottom = max(top + 1, round(box[3] * height))
    return rgb[top:bottom, left:right]


def _blank(want: Wanted) -> "NDArray[np.uint8]":
    import numpy as np

    return np.zeros((want.height, want.width, 3), dtype=np.uint8)
