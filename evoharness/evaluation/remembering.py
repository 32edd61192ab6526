"""Memories of many videos, made by an executor; a video that cannot be remembered ends nothing."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evoharness.evaluation.executor import Executor
    from evoharness.evaluation.workbench import Workbench
    from evoharness.records.memory import VideoMemory


@dataclass(frozen=True)
class VideoItem:
    """A video that is to be remembered."""

    key: str
    path: Path
    retry: bool = False
    """Whether segments that failed earlier are described again."""


@dataclass(frozen=True)
class SegmentDone:
    """How far the memory of a video is."""

    key: str
    done: int
    of: int


@dataclass(frozen=True)
class PageItem:
    """A memory that is to be shown."""

    path: Path
    """The video."""
    out: Path | None
    """HTML file to write; None: beside the memory."""


def remembered(
    executor: "Executor",
    videos: Mapping[str, Path],
    *,
    on_segment: Callable[[SegmentDone], None] | None = None,
    retry: bool = False,
) -> "Iterator[tuple[str, VideoMemory | str]]":
    """Yield (key, memory) of each video as it is done, or (key, why there is none, in one line).

    `on_segment` is told of each finished segment of a memory that is being built. `retry`: segments that
    failed earlier are described again.
    """
    items = [VideoItem(key, path, retry) for key, path in videos.items()]
    before = executor.on_told

    def told(what: object) -> None:
        if on_segment is not None and isinstance(what, SegmentDone):
            on_segment(what)

    executor.on_told = told
    try:
        for index, memory in executor.map(
            remember, items, on_lost=lambda item, error: _left_out(item.path, str(error))
        ):
            yield items[index].key, memory
    finally:
        executor.on_told = before


def remember(bench: "Workbench", item: VideoItem) -> "VideoMemory | str":
    """Job: the memory of the video in that file, from the cache or built now, or why there is none.

    StoppedEarly after a segment, when jobs are to end.
    """
    from evoharness.models.backbone import BackboneError, CannotGoOn
    from evoharness.video import NotAVideo

    def on_segment(done: int, of: int) -> None:
        bench.tell(SegmentDone(item.key, done, of))

    try:
        return bench.memory(bench.video(item.path), on_segment, item.retry, bench.stopping)
    except NotAVideo as error:
        return _left_out(item.path, error.reason)
    except CannotGoOn:
        raise
    except (BackboneError, OSError) as error:
        return _left_out(item.path, str(error) or type(error).__name__)


def write_page(bench: "Workbench", item: PageItem) -> Path:
    """Job: the page of a video's memory, written; UserError when it cannot be."""
    from evoharness.errors import UserError
    from evoharness.memory import page_of
    from evoharness.records.storage import write_atomically

    video = bench.video(item.path)
    out = item.out or bench.memories.folder(video) / "memory.html"
    page = page_of(bench.memories, video)
    try:
        write_atomically(out, page)
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}") from error
    return out


def _left_out(path: Path, reason: str) -> str:
    return f"{path}: {' '.join(reason.split())}"
