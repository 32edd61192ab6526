"""The readers of one file: each request goes to the cheaper one, and when it gives out to the other."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.video.index import PacketIndex
from evoharness.video.picture import blank, scale
from evoharness.video.readers.apart import ApartReader, is_busy, is_idle
from evoharness.video.readers.choice import DECORD, PYAV, Nature, against_decord, decord_is_there
from evoharness.video.readers.plan import plan
from evoharness.video.readers.protocol import Losses, Reader, ReaderFailed, Wanted
from evoharness.video.readers.pyav import PyAVReader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DECORD_COST = 0.9
"""What decord needs to decode a picture, compared with PyAV (measured on H.264 at 1280 x 720)."""
PASS_COST = 1.0
"""What it costs to pass a picture on from another process, in decoded pictures of its size."""
START_COST = 300.0
"""What it costs to start a process, in millions of pixels decoded by PyAV."""
ATTEMPTS = {DECORD: 1, PYAV: 2}
"""After so many failures with a file a reader is given up. One of PyAV may be the machine's fault."""


class Relay:
    """Reads one file with the readers that are right for it."""

    def __init__(
        self,
        path: Path,
        index: PacketIndex,
        nature: Nature,
        *,
        pixels: int,
        threads: int,
        losses: Losses,
    ) -> None:
        """`pixels`: of a whole picture of the file; `losses` are told which readers were given up."""
        self._path = path
        self._index = index
        self._nature = nature
        self._pixels = pixels
        self._threads = threads
        self._losses = losses
        self._failed: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        """How many requests each reader has answered to the end."""

    def read(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        """See `Reader`; never `ReaderFailed`: what no reader gives is stood in for by the picture before."""
        if not wanted:
            return
        left = list(wanted)
        before: NDArray[np.uint8] | None = None
        for name, reader in self._candidates(left):
            try:
                for pixels in reader.read(tuple(left)):
                    before = pixels
                    del left[0]
                    yield pixels
            except ReaderFailed as failure:
                self._failed[name] += 1
                self._losses.replaced.append(f"{name}: {failure}")
            else:
                self.answered[name] += 1
                return
        for want in left:
            self._losses.pictures.add(want.number)
            yield blank(want) if before is None else scale(before, want.width, want.height)

    def _candidates(self, wanted: Sequence[Wanted]) -> Iterator[tuple[str, Reader]]:
        """The readers in the order in which they are tried, made when it is their turn."""
        sound = self._nature.sound
        if sound and not against_decord(self._nature) and self._decord_is_cheaper(wanted):
            yield from self._apart(DECORD)
        # A file that ended one reader is not let near this process again.
        if sound and not self._failed:
            yield PYAV, self._pyav()
            return
        yield from self._apart(PYAV)
        yield from self._apart(PYAV)
        if decord_is_there():
            yield from self._apart(DECORD)

    def _decord_is_cheaper(self, wanted: Sequence[Wanted]) -> bool:
        if is_busy():  # another process would cost more memory than it saves time
            return False
        numbers = [want.number for want in wanted]
        leave_out = self._index.spare > 0
        by_pyav = sum(step.cost for step in plan(self._index, numbers, leave_out=leave_out))
        by_decord = sum(step.cost for step in plan(self._index, numbers, leave_out=False)) * DECORD_COST
        start = 0.0 if is_idle() else START_COST * 1e6 / self._pixels
        passed = sum(want.width * want.height for want in wanted) / self._pixels * PASS_COST
        return by_decord + passed + start < by_pyav

    def _pyav(self) -> Reader:
        return PyAVReader(
            self._path, self._index, sound=self._nature.sound, threads=self._threads, losses=self._losses
        )

    def _apart(self, name: str) -> Iterator[tuple[str, Reader]]:
        if self._failed[name] < ATTEMPTS[name]:
            yield (
                name,
                ApartReader(
                    name,
                    self._path,
                    self._index,
                    pixels=self._pixels,
                    sound=self._nature.sound,
                    threads=self._threads,
                    losses=self._losses,
                ),
            )
