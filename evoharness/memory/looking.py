"""How a video and its segments are looked at (appendix A.1, Table 6)."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Protocol

from evoharness.memory.settings import MemorySettings
from evoharness.records.interval import Interval
from evoharness.video import SegmentPictures, Survey, Video, scattered_times, scenes, surveyed

LEAST_FRAMES = 4
"""A short segment is shown to the describer in at least so many pictures, where it has them."""


class Look(Protocol):
    """Cuts a video into segments and shows each of them."""

    def __call__(
        self, video: Video, settings: MemorySettings, spans: Sequence[Interval] | None, folder: Path | None
    ) -> AbstractContextManager[Survey]:
        """The segments and their pictures, which are read while the context is open.

        `spans`: the segments, where they are known. `folder`: where pictures lie meanwhile; None: where the
        system keeps temporary files.
        """
        ...


def looking(
    video: Video, settings: MemorySettings, spans: Sequence[Interval] | None, folder: Path | None
) -> AbstractContextManager[Survey]:
    """See `Look`: as a describer is shown a video."""
    return surveyed(
        video,
        settings,
        fps=settings.fps,
        cap=settings.frame_cap,
        detail=settings.detail,
        least=LEAST_FRAMES,
        spans=spans,
        folder=folder,
    )


@contextmanager
def pointing(
    video: Video,
    settings: MemorySettings,
    spans: Sequence[Interval] | None,
    folder: Path | None,  # noqa: ARG001
) -> Iterator[Survey]:
    """See `Look`: the most frames that there may be, by reference. Where `spans` are given, nothing is
    decoded, and so no picture is known to look like the one before."""
    yield _Pointing(video, settings, scenes(video, settings) if spans is None else spans)


class _Pointing:
    def __init__(self, video: Video, settings: MemorySettings, spans: Sequence[Interval]) -> None:
        self.spans = spans
        self._video = video
        self._settings = settings

    def pictures(self, span: Interval) -> AbstractContextManager[SegmentPictures]:
        """See `Survey`."""
        video, settings = self._video, self._settings
        fps = settings.fps
        if span.duration > 0:
            fps = max(fps, min(LEAST_FRAMES, settings.frame_cap) / span.duration)
        seed = f"{video.info.content_hash} {span.start}"
        frames = video.frames(scattered_times(span, fps, settings.frame_cap, seed), settings.detail)
        return nullcontext(SegmentPictures(frames=tuple(frames), thumbnails=(), repeats=0))
