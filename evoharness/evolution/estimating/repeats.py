"""How much of a video a describer is spared, because it looks like the picture before: found by looking.

A memory leaves out pictures that hardly differ. How many these are depends on the video alone, so a few of
its pictures tell, decoded and compared as the memory would.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evolution.estimating.expectations import EXPECTED
from evoharness.evolution.estimating.load import spread_out
from evoharness.memory import pointing
from evoharness.memory.looking import LEAST_FRAMES
from evoharness.records.interval import Interval
from evoharness.video import NotAVideo, SegmentPictures, Survey, Video, scattered_times
from evoharness.video.likeness import nearly_same
from evoharness.video.sampled import readable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoharness.memory import MemorySettings
    from evoharness.records.frame import Frame

MOST_VIDEOS = 6
"""Videos that are looked at; the others are taken to be like them."""
PLACES = 6
"""Places of a video that are looked at."""
IN_A_ROW = 5
"""Pictures at each place: one is compared with those before it."""
MOST_DECODED = 1.0e9
"""Pixels that are decoded of a video: half a thousand pictures of 1920 x 1080, some seconds."""


class Repeats:
    """Shares of the pictures of videos that look like the one before."""

    def __init__(self, settings: "MemorySettings") -> None:
        self._settings = settings
        self._shares: dict[Path, float | None] = {}

    def look_at(self, paths: Sequence[Path]) -> None:
        """Find out about some of these videos, if there is anything to find out still."""
        for path in spread_out(paths, MOST_VIDEOS):
            if path not in self._shares and len(self._shares) < MOST_VIDEOS:
                self._shares[path] = None
                with suppress(NotAVideo):
                    self._shares[path] = share_of_repeats(Video(path), self._settings)

    def share(self, path: Path) -> float:
        """Of one video; where that is not known, of those that are known on average, and 0 without any."""
        self.look_at([path])
        found = self._shares.get(path)
        if found is not None:
            return found
        known = [share for share in self._shares.values() if share is not None]
        return sum(known) / len(known) if known else 0.0


def share_of_repeats(video: Video, settings: "MemorySettings") -> float | None:
    """Share of the pictures, each after another, that a memory would leave out; None: none are compared.

    Some places of the video are looked at, as many as can be reached without decoding too much of it.
    """
    span = Interval(start=0, end=video.info.duration)
    seconds = min(span.duration, EXPECTED.segment_s)
    if not seconds:
        return None
    least = min(LEAST_FRAMES, settings.frame_cap)
    fps = max(least / seconds, min(settings.fps, settings.frame_cap / seconds))
    times = scattered_times(span, fps, None, f"{video.info.content_hash} {span.start}")
    frames = video.frames(times, settings.detail)
    found: list[bool] = []
    for place in _affordable(video, frames):
        with suppress(NotAVideo):
            found += _repeated(rgb for _, rgb in readable(video, place, None))
    return sum(found) / len(found) if found else None


def _repeated(pictures: "Iterable[NDArray[np.uint8]]") -> Iterator[bool]:
    """Of each after the first, whether it would be left out."""
    last = None
    for rgb in pictures:
        same = last is not None and nearly_same(last, rgb)
        if last is not None:
            yield same
        if not same:
            last = rgb


def _affordable(video: Video, frames: "Sequence[Frame]") -> "list[Sequence[Frame]]":
    """Frames in a row at as many places, spread over the video, as may be decoded.

    Where decoding can hardly start anywhere but at the beginning, that is looked at, as far as may be.
    """
    if len(frames) > PLACES * IN_A_ROW:
        part = len(frames) / PLACES
        begins = [round(number * part + (part - IN_A_ROW) / 2) for number in range(PLACES)]
        places = [frames[begin : begin + IN_A_ROW] for begin in begins]
        costs = [_decoded(video, place) for place in places]
        for count in range(PLACES, 1, -1):
            chosen = spread_out(range(PLACES), count)
            if sum(costs[number] for number in chosen) <= MOST_DECODED:
                return [places[number] for number in chosen]
    first = frames[: PLACES * IN_A_ROW]
    while first and _decoded(video, first) > MOST_DECODED:
        first = first[:-1]
    return [first] if first else []


def _decoded(video: Video, frames: "Sequence[Frame]") -> int:
    """Pixels that have to be decoded to see these."""
    index = video.index
    first, last = index.number_at(frames[0].time), index.number_at(frames[-1].time)
    key = None if index.counted else index.key_before(index.pts[first])
    begin = 0 if key is None else max(0, index.number_of(key))
    return (last + 1 - begin) * video.info.width * video.info.height


@dataclass(frozen=True)
class Thinned:
    """A look at a video (see `memory.looking.Look`) by reference, without that share of the frames."""

    share: float

    def __call__(
        self, video: Video, settings: "MemorySettings", spans: Sequence[Interval] | None, folder: Path | None
    ) -> AbstractContextManager[Survey]:
        """See `Look`."""
        return self._looking(video, settings, spans, folder)

    @contextmanager
    def _looking(
        self, video: Video, settings: "MemorySettings", spans: Sequence[Interval] | None, folder: Path | None
    ) -> Iterator[Survey]:
        with pointing(video, settings, spans, folder) as survey:
            yield _ThinnedSurvey(survey, self.share)


class _ThinnedSurvey:
    def __init__(self, survey: Survey, share: float) -> None:
        self.spans = survey.spans
        self._survey = survey
        self._share = share

    @contextmanager
    def pictures(self, span: Interval) -> Iterator[SegmentPictures]:
        """See `Survey`: the first frame is always shown."""
        with self._survey.pictures(span) as pictures:
            frames = pictures.frames
            count = min(len(frames), 1 + round((1 - self._share) * (len(frames) - 1)))
            kept = spread_out(frames, count)
            yield replace(pictures, frames=tuple(kept), repeats=len(frames) - count)
