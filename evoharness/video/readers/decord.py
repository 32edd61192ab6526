"""Reads through decord, a decoder made for drawing frames at random.

Only ever used in a process of its own (see `apart`): decord can hang without end on a file that breaks its
promises, and cannot be interrupted there.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.video.index import PacketIndex
from evoharness.video.picture import fitted
from evoharness.video.readers.protocol import ReaderFailed, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EARLY_OR_LATE = 0.002
"""Seconds by which its times may differ from those of the packet index: it rounds them."""


class DecordReader:
    """See the module."""

    def __init__(self, path: Path, index: PacketIndex, *, threads: int = 1) -> None:
        self._path = path
        self._index = index
        self._threads = threads

    def read(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        """See `Reader`."""
        import decord

        if not wanted:
            return
        try:
            # Absolute, so that a name such as "a:b.mp4" is not taken for a protocol.
            video = decord.VideoReader(str(self._path.absolute()), num_threads=self._threads)
            self._check(video)
        except (decord.DECORDError, RuntimeError) as error:
            raise ReaderFailed(f"decord does not open it ({_first_line(error)})") from error
        for want in wanted:
            try:
                rgb = video[want.number].asnumpy()
            except (decord.DECORDError, RuntimeError, IndexError) as error:
                raise ReaderFailed(f"decord gives no picture {want.number} ({_first_line(error)})") from error
            yield fitted(rgb, want)

    def _check(self, video: "object") -> None:
        """`ReaderFailed` unless decord sees as many pictures, at the same times."""
        import numpy as np

        index = self._index
        count = len(video)  # type: ignore[arg-type]
        if count != len(index):
            raise ReaderFailed(f"decord sees {count} pictures where there are {len(index)}")
        times = video.get_frame_timestamp(range(count))[:, 0]  # type: ignore[attr-defined]
        ours = (np.array(index.pts, dtype=np.float64) - index.pts[0]) * index.seconds_per_unit
        apart = float(np.abs(times - ours).max())
        # Its times are floats of 32 bits: they grow coarser along the video.
        if apart > EARLY_OR_LATE + index.duration * 1e-6:
            raise ReaderFailed(f"decord tells times that are up to {apart:.3f} s off")


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0] if lines else type(error).__name__
    return said.rsplit("]", 1)[-1].strip()[:160] or said[:160]
