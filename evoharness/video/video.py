"""A video, its pictures addressed in seconds."""

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.records.frame import Detail, Frame
from evoharness.records.video import VideoInfo
from evoharness.video.detail import fit
from evoharness.video.index import PacketIndex
from evoharness.video.probe import Examined, examine
from evoharness.video.readers import Box, Losses, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.video.readers.relay import Relay

HELD_BYTES = 2**26
"""How much may be held back to give pictures in another order than that of time."""
MOST_THREADS = 8
"""Each thread of a decoder holds pictures."""


class Video:
    """A file that opens when it is first asked something; travels between processes as its path.

    Every method that touches the file raises `NotAVideo` when it is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.losses = Losses()
        """What reading has cost so far; several threads may read at once."""

    def __repr__(self) -> str:
        return f"Video({str(self.path)!r})"

    def __reduce__(self) -> "tuple[type[Video], tuple[Path]]":
        return type(self), (self.path,)

    @property
    def info(self) -> VideoInfo:
        """What a probe says about the file."""
        return self._examined.info

    @property
    def index(self) -> PacketIndex:
        """When each picture is shown."""
        return self._examined.index

    @property
    def reading(self) -> tuple[str, ...]:
        """The reader and why; how many requests went to which; what was replaced and what was lost."""
        lines = [self.info.reader_reason]
        if answered := dict(self._reader.answered):
            counts = ", ".join(f"{count} by {name}" for name, count in sorted(answered.items()))
            lines.append(f"requests read: {counts}")
        lines += (f"replaced: {failure}" for failure in tuple(self.losses.replaced))
        if self.losses.pictures:
            lines.append(f"pictures that could not be decoded, others stood in: {len(self.losses.pictures)}")
        if self.losses.damaged:
            lines.append(f"pictures with damaged parts: {len(self.losses.damaged)}")
        return tuple(lines)

    @cached_property
    def _examined(self) -> Examined:
        return examine(self.path)

    @cached_property
    def _reader(self) -> "Relay":
        from evoharness.video.readers.relay import Relay

        info = self.info
        return Relay(
            self.path,
            self.index,
            self._examined.nature,
            pixels=info.width * info.height,
            threads=decoder_threads(),
            losses=self.losses,
        )

    def frames(self, times: Iterable[float], detail: Detail, box: Box | None = None) -> list[Frame]:
        """References to the pictures on display at `times` (seconds), in the order of the times.

        The picture at a time is the last that begins at or before it; a picture that would come twice in a
        row comes once. `box` crops to (x1, y1, x2, y2), fractions of the upright picture with x1 < x2 and
        y1 < y2. Nothing is decoded here.
        """
        if box is not None and not (0 <= box[0] < box[2] <= 1 and 0 <= box[1] < box[3] <= 1):
            raise ValueError(f"a box is (x1, y1, x2, y2) within 0..1 with x1 < x2 and y1 < y2, not {box}")
        across, down = (1.0, 1.0) if box is None else (box[2] - box[0], box[3] - box[1])
        width, height = fit(
            max(1, round(self.info.width * across)), max(1, round(self.info.height * down)), detail
        )
        crop = "" if box is None else ":" + ",".join(f"{side:.4f}" for side in box)
        frames: list[Frame] = []
        before = None
        for time in times:
            number = self.index.number_at(time)
            if number == before:
                continue
            before = number
            at = self.index.time(number)
            key = f"{self.info.content_hash}:{round(at * 1000)}:{width}x{height}{crop}"
            frames.append(Frame(key=key, time=at, width=width, height=height, source=self, box=box))
        return frames

    def pixels(self, frames: Sequence[Frame]) -> "Iterator[NDArray[np.uint8]]":
        """RGB arrays (height, width, 3), one for each frame, in the order given.

        Frames in order of time are decoded in one forward pass that holds one picture at a time. In another
        order too it is one pass, which holds what is not due yet, if all of them take no more than
        `HELD_BYTES`; else each step back in time begins another pass.
        """
        wanted = [
            Wanted(self.index.number_at(frame.time), frame.width, frame.height, frame.box) for frame in frames
        ]
        if sum(want.width * want.height * 3 for want in wanted) <= HELD_BYTES:
            yield from self._in_one_pass(wanted)
            return
        run: list[Wanted] = []
        for want in wanted:
            if run and want.number < run[-1].number:
                yield from self._reader.read(run)
                run = []
            run.append(want)
        yield from self._reader.read(run)

    def _in_one_pass(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        order = sorted(range(len(wanted)), key=lambda position: wanted[position].number)
        early: dict[int, NDArray[np.uint8]] = {}
        due = 0
        pictures = self._reader.read([wanted[position] for position in order])
        for position, pixels in zip(order, pictures, strict=True):
            early[position] = pixels
            while due in early:
                yield early.pop(due)
                due += 1


def decoder_threads() -> int:
    """How many threads decode: one in a process that was started to work beside others, else all there are.

    What is decoded of an undamaged file does not depend on it.
    """
    if multiprocessing.parent_process() is not None:
        return 1
    return min(MOST_THREADS, os.cpu_count() or 1)
