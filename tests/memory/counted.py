"""A backbone of another package that takes its time and writes down what it is asked: for tests of kills."""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evoharness.models.backbone import Reply
from evoharness.models.perception_tasks import (
    DescribedEntity,
    DescribedEvent,
    DescribeSegment,
    SegmentDescription,
)
from evoharness.models.task import Output, Task
from evoharness.retrieval import Embedder
from tests.memory.describer import GivenDescriber

NAME = "counted"


class CountedDescriber(GivenDescriber):
    """Describes what the pixels are like, slowly."""

    def __init__(self, log: Path, seconds: float) -> None:
        super().__init__(picture_of, id=NAME)
        self.log = log
        self.seconds = seconds

    def run(self, task: Task[Output]) -> Reply[Output]:
        """Do one task."""
        name = name_of(task)
        self._write(f"begin {name}")
        time.sleep(self.seconds)
        reply = super().run(task)
        self._write(f"end {name}")
        return reply

    def _write(self, line: str) -> None:
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)


def name_of(task: Task[Any]) -> str:
    """What is asked, in a word: two tasks have the same when they ask the same."""
    told = repr(task) if not isinstance(task, DescribeSegment) else ""
    if isinstance(task, DescribeSegment):
        told = f"{task.frames[0].key.split(':')[0]} {task.span}"
    return f"{type(task).__name__}:{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def picture_of(task: DescribeSegment) -> SegmentDescription:
    """How bright the frames are."""
    means = [float(pixels.mean()) for pixels in task.frames[0].source.pixels(task.frames)]
    start, end = task.span.start, task.span.end
    return SegmentDescription(
        summary=f"{len(means)} frames of {means[0]:.1f} to {means[-1]:.1f}",
        events=tuple(
            DescribedEvent(start=frame.time, end=end, description=f"it gets {mean:.2f} bright")
            for frame, mean in zip(task.frames, means, strict=True)
        ),
        entities=(DescribedEntity(name="moving block", attributes=("white",), first_seen=start),),
    )


def make(embedder: Embedder, cache_dir: Path | None, *, log: str, seconds: float = 0.0) -> CountedDescriber:  # noqa: ARG001
    """The entry point."""
    return CountedDescriber(Path(log), seconds)


def install(folder: Path) -> Path:
    """Make a folder that, on the path of Python, registers the backbone as an installed package would."""
    about = folder / "counted_describer-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: counted-describer\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[evoharness.backbones]\n{NAME} = tests.memory.counted:make\n")
    return folder


def lines_of(log: Path) -> Iterator[tuple[str, str]]:
    """(`begin` or `end`, what was asked), in order."""
    if log.exists():
        for line in log.read_text().splitlines():
            what, _, name = line.partition(" ")
            yield what, name
