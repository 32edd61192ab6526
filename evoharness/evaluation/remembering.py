"""Memories of many videos, made by an executor; a video that cannot be remembered ends nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evoharness.evaluation.executor import Executor
    from evoharness.evaluation.workbench import Workbench
    from evoharness.records.memory import VideoMemory


def remembered(executor: "Executor", videos: Mapping[str, Path]) -> "Iterator[tuple[str, VideoMemory | str]]":
    """Yield (key, memory) of each video as it is done, or (key, why there is none, in one line)."""
    keys = list(videos)
    paths = [videos[key] for key in keys]
    for index, memory in executor.map(
        remember, paths, on_lost=lambda path, error: _left_out(path, str(error))
    ):
        yield keys[index], memory


def remember(bench: "Workbench", path: Path) -> "VideoMemory | str":
    """Job: the memory of the video in that file, from the cache or built now, or why there is none."""
    from evoharness.models.backbone import BackboneError, CannotGoOn
    from evoharness.video import NotAVideo

    try:
        return bench.memory(bench.video(path))
    except NotAVideo as error:
        return _left_out(path, error.reason)
    except CannotGoOn:
        raise
    except (BackboneError, OSError) as error:
        return _left_out(path, str(error) or type(error).__name__)


def _left_out(path: Path, reason: str) -> str:
    return f"{path}: {' '.join(reason.split())}"
