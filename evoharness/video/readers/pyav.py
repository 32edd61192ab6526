"""Reads whatever FFmpeg reads, through PyAV.

One forward pass over the pictures that are wanted. It seeks only where the plan says so, and checks where a
seek really landed, because containers with a poor index land too late. Where a file is sound, pictures that
no other picture is built from are not decoded unless they are wanted: this is what costs less than half of
the time of decoding everything. A packet that cannot be decoded costs its own picture only.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.video.container import damage, limit_pictures, open_container, packets_of, pick_stream
from evoharness.video.index import PacketIndex
from evoharness.video.picture import Orientations, blank, render
from evoharness.video.readers.plan import Step, plan
from evoharness.video.readers.protocol import Losses, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PyAVReader:
    """See the module."""

    def __init__(
        self,
        path: Path,
        index: PacketIndex,
        *,
        sound: bool = True,
        threads: int = 1,
        losses: Losses | None = None,
    ) -> None:
        """`sound`: no damage is known, so that pictures may be left out, and decoded by several threads.

        What damaged pictures look like depends on both, hence neither is done where there are any.
        """
        self._path = path
        self._index = index
        self._sound = sound
        self._threads = threads if sound else 1
        self._losses = losses if losses is not None else Losses()

    def read(self, wanted: Sequence[Wanted]) -> "Iterator[NDArray[np.uint8]]":
        """See `Reader`."""
        if not wanted:
            return
        index = self._index
        leave_out = self._sound and not index.counted and index.spare > 0
        kept = frozenset(index.pts[want.number] for want in wanted) if leave_out else None
        walk = _Walk(self._path, index, threads=self._threads, kept=kept, sound=self._sound)
        try:
            shown = Orientations()
            early: list[Wanted] = []  # wanted before anything could be decoded
            steps = plan(index, [want.number for want in wanted], leave_out=leave_out)
            for want, step in zip(wanted, steps, strict=True):
                picture, exact = walk.go(step)
                if not exact:
                    self._losses.pictures.add(want.number)
                elif picture is not None and picture.is_corrupt:
                    self._losses.damaged.add(want.number)
                if picture is None:
                    early.append(want)
                    continue
                for other in [*early, want]:
                    yield render(picture, other, shown.of(picture))
                early.clear()
            for want in early:
                yield blank(want)
        finally:
            walk.close()


class _Walk:
    """A position in a file that moves forward."""

    def __init__(
        self, path: Path, index: PacketIndex, *, threads: int, kept: frozenset[int] | None, sound: bool
    ) -> None:
        self._path = path
        self._ends_early = sound and not index.counted
        self._index = index
        self._threads = threads
        self._kept = kept  # times of the pictures that must be decoded though no other needs them
        self._container: Any = None
        self._stream: Any = None
        self._held: Any = None  # on display at the target of the last step, or None
        self._held_pts: int | None = None
        self._next: Any = None  # decoded, but shown only after that
        self._next_pts: int | None = None
        self._pictures: Iterator[tuple[Any, int]] = iter(())
        self._counted = 0
        self._final: int | None = None  # nothing is needed behind the packet with this time
        self._open()

    def close(self) -> None:
        """Let go of the file, and of the decoder and its pictures, which refer to this object in turn."""
        if self._container is not None:
            self._container.close()
            self._container = None
        self._stream = self._held = self._next = None
        self._pictures = iter(())

    def go(self, step: Step) -> tuple[Any | None, bool]:
        """The picture to show for a step, and whether it is the very one."""
        target = self._index.pts[step.number]
        if step.seek is not None:
            self._start_at_or_before(step.seek, target, last=step.last)
        else:
            self._forward(target, last=step.last)
        if self._held_pts != target and self._kept is not None:
            # It should be there: perhaps it was built from a picture that called itself dispensable.
            self._kept = None
            key = self._index.key_before(target)
            if key is None:
                self._open()
                self._forward(target, last=False)
            else:
                self._start_at_or_before(key, target, last=False)
        shown = self._held if self._held is not None else self._next
        return shown, self._held is not None and self._held_pts == target

    def _forward(self, target: int, *, last: bool) -> None:
        """Decode until the picture on display at `target` is held."""
        if self._held is not None and self._held_pts == target:
            return
        self._final = target if last and self._ends_early else None
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

    def _open(self) -> None:
        self.close()
        self._container = open_container(self._path)
        self._stream = pick_stream(self._container)
        context = self._stream.codec_context
        limit_pictures(context)
        context.thread_count = self._threads
        if self._threads != 1:
            context.thread_type = "AUTO"
        self._counted = 0
        self._skipping = False
        self._pictures = self._decoded(packets_of(self._container, self._stream))

    def _start_at_or_before(self, key: int, target: int, *, last: bool) -> None:
        """Go on from the key frame at `key`, or from an earlier one when that does not lead to `target`."""
        keys = self._index.keys
        position, back = bisect_left(keys, key), 1
        stale = self._held, self._held_pts
        while True:
            self._held, self._held_pts = None, None
            self._next, self._next_pts = None, None
            if position < 0:
                self._open()
            if position < 0 or self._land(keys[position]):
                self._forward(target, last=last)
                if self._held is not None:
                    return
            if position < 0:
                break
            position = max(-1, position - back)
            back *= 2
        if self._next is None:
            self._held, self._held_pts = stale

    def _land(self, key: int) -> bool:
        """Seek to a key frame; False when the container lands behind it or nowhere."""
        try:
            self._container.seek(key, stream=self._stream, backward=True)
        except damage():
            return False
        packets = packets_of(self._container, self._stream)
        first = next(packets, None)
        landed = None if first is None else (first.pts if first.pts is not None else first.dts)
        if landed is None or landed > key:
            return False
        self._pictures = self._decoded(chain([first], packets))
        return True

    def _decoded(self, packets: Iterable[Any]) -> Iterator[tuple[Any, int]]:
        """Pictures with their times, in the order in which the decoder gives them; damage is skipped."""
        context = self._stream.codec_context
        ending = False
        for packet in chain(packets, [None]):  # None asks the decoder for what it still holds
            if ending and not _continues(packet):
                yield from self._given(context, None)
                return
            if packet is not None:
                self._set_skipping(context, packet)
            yield from self._given(context, packet)
            ending = packet is not None and self._final is not None and (ending or packet.pts == self._final)

    def _given(self, context: Any, packet: Any) -> Iterator[tuple[Any, int]]:
        try:
            pictures = context.decode(packet)
        except damage():
            return
        for picture in pictures:
            pts = picture.pts if picture.pts is not None else picture.dts
            if self._index.counted:
                pts = self._index.pts[min(self._counted, len(self._index) - 1)]
            self._counted += 1
            if pts is not None:
                yield picture, pts

    def _set_skipping(self, context: Any, packet: Any) -> None:
        """Leave a picture out that neither the request nor, by its own word, another picture needs."""
        if _continues(packet):
            return
        skipping = self._kept is not None and packet.pts is not None and packet.pts not in self._kept
        if skipping != self._skipping:
            context.skip_frame = "NONREF" if skipping else "DEFAULT"
            self._skipping = skipping


def _continues(packet: Any) -> bool:
    """Whether a packet holds the rest of the picture before: the second field of an interlaced one."""
    return packet is not None and packet.pts is None and packet.dts is None
