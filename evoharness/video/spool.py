"""Decoded pictures kept on disk for as long as they are looked at.

A segment is looked at more than once (to compare its pictures, to describe them, again when an answer was
unreadable), and decoding costs a hundred times what reading raw pixels back does. The file has no name: it
is gone with the process that made it, however that ends. What does not fit is decoded again.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evoharness.records.frame import Frame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.video.video import Video

MOST_BYTES = 8 * 2**30
"""The largest file; pictures beyond it are decoded again when they are asked for."""


class Spool:
    """A source of frames of one video that reads those it was given from disk and decodes the others.

    Pixels may be asked for from several threads at once, also after `close`: then all are decoded. Frames
    that are sent to another process arrive there as frames of the video.
    """

    def __init__(self, video: "Video", folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        """`folder`: where the file lies, made if it is not there; None: where the system has such files."""
        self._video = video
        self._folder = folder
        self._most_bytes = most_bytes
        self._file: Any = None
        self._full = False
        self._size = 0
        self._places: dict[str, tuple[int, tuple[int, ...]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type["Video"], tuple[Path]]:
        return type(self._video), (self._video.path,)

    def close(self) -> None:
        """Let go of the file."""
        self._places = {}
        self._full = True
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def keep(self, frame: Frame, pixels: "NDArray[np.uint8]") -> Frame:
        """The same frame with its pixels from here."""
        if not self._full and self._size + pixels.nbytes <= self._most_bytes:
            try:
                if self._file is None:
                    if self._folder is not None:
                        self._folder.mkdir(parents=True, exist_ok=True)
                    self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
                if os.pwrite(self._file.fileno(), pixels.data, self._size) < pixels.nbytes:
                    raise OSError("only a part was written")
            except OSError:  # no room left: the rest is decoded again
                self._full = True
            else:
                self._places[frame.key] = (self._size, pixels.shape)
                self._size += pixels.nbytes
        return replace(frame, source=self)

    def pixels(self, frames: Sequence[Frame]) -> "Iterator[NDArray[np.uint8]]":
        """RGB arrays (height, width, 3), one for each frame, in the order given."""
        places = dict(self._places)
        decoded = self._video.pixels([frame for frame in frames if frame.key not in places])
        for frame in frames:
            kept = self._read(*places[frame.key]) if frame.key in places else None
            if kept is not None:
                yield kept
            elif frame.key in places:
                yield next(self._video.pixels([frame]))
            else:
                yield next(decoded)

    def _read(self, place: int, shape: tuple[int, ...]) -> "NDArray[np.uint8] | None":
        """None when the file was let go, or is damaged."""
        import numpy as np

        file = self._file
        if file is None:
            return None
        pixels = np.empty(shape, np.uint8)
        try:
            got = os.preadv(file.fileno(), [pixels.data.cast("B")], place)
        except (OSError, ValueError):
            return None
        # Let go of meanwhile, its number may have been that of another file when it was read.
        return pixels if got == pixels.nbytes and self._file is file else None
