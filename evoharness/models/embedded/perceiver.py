"""From frames to percepts: known ones are looked up, the others decoded and perceived in order of time."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evoharness.models.embedded.known_lines import KnownLines
from evoharness.models.embedded.percepts import Percept
from evoharness.models.embedded.store import PerceptStore
from evoharness.records.frame import Frame

if TYPE_CHECKING:
    from evoharness.models.embedded.stream import Stream

VERSION = "3"
"""Changes whenever the same pixels would be perceived otherwise; part of every cache key."""
STREAMS = 48
"""Recordings whose lines of text are remembered in this process."""


class Perceiver:
    """Perceives frames; remembers percepts by the identity of the pixels."""

    def __init__(self, store: PerceptStore, ocr: bool = True) -> None:
        self._store = store
        self._ocr = ocr
        self._streams: OrderedDict[str, Stream] = OrderedDict()

    def perceive(self, frames: Sequence[Frame]) -> list[Percept]:
        """One percept a frame, in the order given; only pixels never seen before are decoded."""
        keys = [f"{self._version}:{frame.key}" for frame in frames]
        known = self._store.get(keys)
        missing = {key: frame for key, frame in zip(keys, frames, strict=True) if key not in known}
        if missing:
            fresh = self._perceive_all(missing)
            self._store.put(fresh)
            known.update(fresh)
        return [known[key] for key in keys]

    @property
    def _version(self) -> str:
        return f"{VERSION}{'t' if self._ocr else ''}"

    def _perceive_all(self, missing: dict[str, Frame]) -> dict[str, Percept]:
        import cv2

        cv2.setNumThreads(1)
        fresh: dict[str, Percept] = {}
        groups: dict[tuple[int, str], list[tuple[str, Frame]]] = {}
        for key, frame in missing.items():
            groups.setdefault((id(frame.source), self._stream_name(frame)), []).append((key, frame))
        for (_, name), entries in groups.items():
            entries.sort(key=lambda entry: entry[1].time)
            stream = self._stream(name)
            pixels = entries[0][1].source.pixels([frame for _, frame in entries])
            for (key, _), rgb in zip(entries, pixels, strict=True):
                fresh[key] = stream.perceive(rgb)
            stream.rest()
            self._store.put_lines(name, stream.lines.fresh())
        return fresh

    def _stream_name(self, frame: Frame) -> str:
        """Content of the file, size and crop: what the lines of text in it have in common."""
        content = frame.key.partition(":")[0]
        return f"{self._version}:{content}:{frame.width}x{frame.height}:{frame.box or ''}"

    def _stream(self, name: str) -> "Stream":
        from evoharness.models.embedded.stream import Stream

        stream = self._streams.pop(name, None) or Stream(KnownLines(), self._ocr)
        self._streams[name] = stream
        while len(self._streams) > STREAMS:
            self._streams.popitem(last=False)
        if self._ocr:
            stream.lines.learn(self._store.lines_after(name, stream.lines.learned))
        return stream
