"""A describer that gives back what it was told to: an honest stand-in for a model in tests."""

from collections.abc import Callable
from typing import Any, cast

from evoharness.models.backbone import Reply
from evoharness.models.perception_tasks import DescribeSegment, SegmentDescription
from evoharness.models.reasoning_tasks import (
    SegmentGroup,
    SegmentGroups,
    SummarizeSegments,
    SummarizeVideo,
    VideoSummary,
)
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend

Describe = Callable[[DescribeSegment], SegmentDescription]


class GivenDescriber:
    """Answers `DescribeSegment` with a function, groups segments in pairs, and keeps every task."""

    def __init__(self, describe: Describe, id: str = "given") -> None:
        self.id = id
        self.describe = describe
        self.tasks: list[Task[Any]] = []

    @property
    def described(self) -> list[DescribeSegment]:
        """The descriptions that were asked for."""
        return [task for task in self.tasks if isinstance(task, DescribeSegment)]

    def run(self, task: Task[Output]) -> Reply[Output]:
        """Do one task."""
        self.tasks.append(task)
        return Reply(cast("Output", self._answer(task)), Spend(calls=1))

    def _answer(self, task: Task[Any]) -> object:
        if isinstance(task, DescribeSegment):
            return self.describe(task)
        if isinstance(task, SummarizeSegments):
            pairs = range(0, len(task.summaries), 2)
            last = len(task.summaries) - 1
            return SegmentGroups(
                groups=tuple(
                    SegmentGroup(label=f"part {n}", description="two", first=n, last=min(n + 1, last))
                    for n in pairs
                )
            )
        assert isinstance(task, SummarizeVideo)
        return VideoSummary(text=f"a video of {len(task.super_events)} parts")
