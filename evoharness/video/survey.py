"""All that a memory is built from: the segments of a video, and the pictures of each."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evoharness.records.frame import Detail
from evoharness.records.interval import Interval
from evoharness.video.sampled import SegmentPictures, sampled
from evoharness.video.scenes import SceneSettings, scenes

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
    found = scenes(video, settings) if spans is None else spans
    yield _SegmentBySegment(video, found, fps, cap, detail, least, folder)


class _SegmentBySegment:
    """Where decoding can start near any segment, each is read when it is asked for."""

    def __init__(
        self,
        video: "Video",
        spans: Sequence[Interval],
        fps: float,
        cap: int | None,
        detail: Detail,
        least: int,
        folder: Path | None,
    ) -> None:
        self.spans = tuple(spans)
        self._video = video
        self._fps, self._cap, self._detail, self._least = fps, cap, detail, least
        self._folder = folder

    def pictures(self, span: Interval) -> AbstractContextManager[SegmentPictures]:
        """See `Survey`."""
        return sampled(
            self._video,
            span,
            fps=self._fps,
            cap=self._cap,
            detail=self._detail,
            least=self._least,
            folder=self._folder,
        )
