"""Jobs that commands give to an executor: functions of a module, so that workers find them."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evoharness.evaluation import Workbench
    from evoharness.records.memory import VideoMemory


def remember(bench: "Workbench", path: Path) -> "VideoMemory":
    """The memory of the video in that file: from the cache, or built now."""
    return bench.memory(bench.video(path))
