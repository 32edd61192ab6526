"""All that a memory is built from: the segments of a video, and the pictures of each."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
from evoharness.video.sampled import Distinct, SegmentPictures, Sight, readable, sampled, sights
from evoharness.video.sampling import sample_times, scattered_times
from evoharness.video.scenes import (
    Change,
    SceneSettings,
    compared_frames,
    cut,
    keys_are_close,
    one_segment,
    scenes,
)
from evoharness.video.spool import Spool

if TYPE_CHECKING:
    from evoharness.video.video import Video


class Survey(Protocol):
    """A video cut into segments."""

    @property
    def spans(self) -> Sequence[Interval]:
        """The segments, in order of time."""
        ...

    def pictures(self, span: Interval) -> AbstractContextManager[SegmentPictures]:
        """The pictures of one segment; may be asked for from several threads, in any order."""
        ...


@contextmanager
def surveyed(
    video: "Video",
    settings: SceneSettings | None = None,
    *,
    fps: float,
    cap: int | None,
    detail: Detail,
    least: int = 1,
    spans: Sequence[Interval] | None = None,
    folder: Path | None = None,
) -> Iterator[Survey]:
    """Cut a video into segments and sample them; see `scenes` and `sampled`.

    `spans`: the segments, where they are known; None: cut where scenes change.
    """
    settings = settings or SceneSettings()
    sampling = Sampling(fps, cap, detail, least, folder)
    if keys_are_close(video):
        yield _SegmentBySegment(video, scenes(video, settings) if spans is None else spans, sampling)
        return
    with Spool(video, folder) as spool:
        yield _InOnePass(video, settings, spans, sampling, spool)


@dataclass(frozen=True)
class Sampling:
    """How segments are sampled; see `sampled`."""

    fps: float
    cap: int | None
    detail: Detail
    least: int
    folder: Path | None


class _SegmentBySegment:
    """Where decoding can start near any segment, each is read when it is asked for."""

    def __init__(self, video: "Video", spans: Sequence[Interval], sampling: Sampling) -> None:
        self.spans = tuple(spans)
        self._video = video
        self._sampling = sampling

    def pictures(self, span: Interval) -> AbstractContextManager[SegmentPictures]:
        """See `Survey`."""
        how = self._sampling
        return sampled(
            self._video,
            span,
            fps=how.fps,
            cap=how.cap,
            detail=how.detail,
            least=how.least,
            folder=how.folder,
        )


class _InOnePass:
    """Where any segment can only be reached by decoding what lies before it, all is read once.

    The segments are not known until the end of the pass, so the times are scattered over the whole video,
    as densely as the shortest possible segment would want them; a segment has those that fall into it.
    """

    def __init__(
        self,
        video: "Video",
        settings: SceneSettings,
        spans: Sequence[Interval] | None,
        sampling: Sampling,
        spool: Spool,
    ) -> None:
        self._video = video
        self._settings = settings
        self._spans = None if spans is None else tuple(spans)
        self._sampling = sampling
        self._distinct = Distinct(spool)
        self._sights: list[Sight] | None = None
        self._lock = Lock()

    @property
    def spans(self) -> tuple[Interval, ...]:
        """See `Survey`."""
        if self._spans is None:
            self._read()
        assert self._spans is not None
        return self._spans

    def pictures(self, span: Interval) -> AbstractContextManager[SegmentPictures]:
        """See `Survey`."""
        looks = self._read()
        last = span.end >= self._video.info.duration
        inside = [look for look in looks if span.start <= look.time and (last or look.time < span.end)]
        return nullcontext(self._distinct.seen_in(self._thinned(inside, span), span.start))

    def _thinned(self, looks: list[Sight], span: Interval) -> list[Sight]:
        """As many looks as the segment would have on its own."""
        how = self._sampling
        fps = max(how.fps, _rate_for(how.least, span.duration, how))
        most = how.cap if fps >= self._rate else len(sample_times(span, fps, how.cap))
        if most is None or len(looks) <= most:
            return looks
        return [looks[number * len(looks) // most] for number in range(most)]

    @property
    def _rate(self) -> float:
        how, shortest = self._sampling, min(self._video.info.duration, self._settings.minimum_s)
        fps = how.fps if how.cap is None else min(how.fps, how.cap / shortest)
        return max(fps, _rate_for(how.least, shortest, how))

    def _read(self) -> list[Sight]:
        with self._lock:
            if self._sights is None:
                self._sights = self._pass()
            return self._sights

    def _pass(self) -> list[Sight]:
        video, span = self._video, Interval(start=0, end=self._video.info.duration)
        times = scattered_times(span, self._rate, None, f"{video.info.content_hash} {span.start}")
        looks = video.frames(times, self._sampling.detail)
        known = self._spans is not None or one_segment(span.end, self._settings)
        compared = [] if known else compared_frames(video, self._settings.scene_fps)
        change = Change()
        shown: dict[int, int] = {}
        both = [
            *((frame, number) for number, frame in enumerate(looks)),
            *((frame, -1) for frame in compared),
        ]
        both.sort(key=_by_time)
        for at, rgb in readable(video, [frame for frame, _ in both], self._sampling.folder):
            frame, look = both[at]
            if look >= 0:
                shown[look] = self._distinct.add(frame, rgb)
            else:
                change.add(frame.time, rgb)
        if self._spans is None:
            self._spans = tuple(cut(change.times, change.scores, span.end, self._settings))
        return sights(looks, shown, times)


def _rate_for(count: int, seconds: float, how: Sampling) -> float:
    """Frames a second at which a stretch has so many."""
    return min(count, how.cap or count) / seconds if seconds > 0 else 0.0


def _by_time(entry: tuple[Frame, int]) -> float:
    return entry[0].time
