"""Segments are grouped window by window, a window going on where the last group of the one before began."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from evoharness.memory.aggregation import WINDOW, aggregate
from evoharness.memory.checkpoints import Checkpoints
from evoharness.models.backbone import BackboneUnavailable, Refused, Reply
from evoharness.models.reasoning_tasks import (
    SegmentGroup,
    SegmentGroups,
    SummarizeSegments,
    SummarizeVideo,
    VideoSummary,
)
from evoharness.models.task import Output, Task
from evoharness.records.interval import Interval
from evoharness.records.memory import Segment
from evoharness.records.spend import Spend


def segments(count: int, subject: Callable[[int], int]) -> list[Segment]:
    """Segments of a minute, each about a subject."""
    return [
        Segment(
            id=f"s{n:04d}", interval=Interval(start=60 * n, end=60 * (n + 1)), summary=f"about {subject(n)}"
        )
        for n in range(count)
    ]


class Grouper:
    """Groups neighbours that say the same."""

    id = "grouper"

    def __init__(self, fail: "Exception | None" = None, after: int = 0) -> None:
        self.fail = fail
        self.after = after
        self.tasks: list[Task[Any]] = []

    def run(self, task: Task[Output]) -> Reply[Output]:
        """Do one task."""
        if self.fail is not None and len(self.tasks) >= self.after:
            raise self.fail
        self.tasks.append(task)
        output: object = VideoSummary(text="all of it\n\nin two lines\x00")
        if isinstance(task, SummarizeSegments):
            firsts = [n for n, text in enumerate(task.summaries) if n == 0 or text != task.summaries[n - 1]]
            lasts = [*(first - 1 for first in firsts[1:]), len(task.summaries) - 1]
            output = SegmentGroups(
                groups=tuple(
                    SegmentGroup(label=task.summaries[a], description="", first=a, last=b)
                    for a, b in zip(firsts, lasts, strict=True)
                )
            )
        return Reply(cast("Output", output), Spend(calls=1))


def test_few_segments_are_grouped_at_once() -> None:
    backbone = Grouper()
    super_events, root = aggregate(segments(12, lambda n: n // 5), backbone, Counter())
    assert [len(event.segment_ids) for event in super_events] == [5, 5, 2]
    assert [event.interval.start for event in super_events] == [0, 300, 600]
    assert root == "all of it in two lines"
    assert len(backbone.tasks) == 2


def test_a_group_goes_on_over_the_end_of_a_window() -> None:
    backbone = Grouper()
    super_events, _ = aggregate(segments(230, lambda n: n // 30), backbone, Counter())
    assert [len(event.segment_ids) for event in super_events] == [30] * 7 + [20]
    windows = [task for task in backbone.tasks if isinstance(task, SummarizeSegments)]
    assert max(len(task.summaries) for task in windows) == WINDOW


def test_one_group_may_be_longer_than_a_window_is() -> None:
    super_events, _ = aggregate(segments(120, lambda _: 7), Grouper(), Counter())
    names = [name for event in super_events for name in event.segment_ids]
    assert names == [f"s{n:04d}" for n in range(120)]
    assert len(super_events) == 3


def test_very_many_parts_are_grouped_before_the_root_is_told() -> None:
    backbone = Grouper()
    super_events, _ = aggregate(segments(400, lambda n: n), backbone, Counter())
    assert len(super_events) == 400
    told = [task for task in backbone.tasks if isinstance(task, SummarizeVideo)]
    assert len(told) == 1
    assert all(len(t.summaries) <= WINDOW for t in backbone.tasks if isinstance(t, SummarizeSegments))


def test_failed_segments_are_in_no_part() -> None:
    whole = segments(4, lambda _: 1)
    whole[2] = whole[2].model_copy(update={"status": "failed"})
    (event,), _ = aggregate(whole, Grouper(), Counter())
    assert event.segment_ids == ("s0000", "s0001", "s0003")


def test_a_model_that_will_not_group_costs_parts_and_is_counted() -> None:
    losses: Counter[str] = Counter()
    super_events, root = aggregate(segments(3, lambda n: n), Grouper(Refused("no")), losses)
    assert [event.label for event in super_events] == ["about 0", "about 1", "about 2"]
    assert root == "about 0 about 1 about 2"
    assert losses == {"grouping failed": 1, "root missing": 1}


def test_what_was_grouped_before_an_outage_is_not_grouped_again(tmp_path: Path) -> None:
    whole = segments(230, lambda n: n // 30)
    first = Grouper(BackboneUnavailable("down"), after=3)
    with pytest.raises(BackboneUnavailable):
        aggregate(whole, first, Counter(), Checkpoints(tmp_path))
    second, undisturbed = Grouper(), Grouper()
    expected = aggregate(whole, undisturbed, Counter())
    assert aggregate(whole, second, Counter(), Checkpoints(tmp_path)) == expected
    assert len(first.tasks) == 3
    assert len(second.tasks) == len(undisturbed.tasks) - 3
    third = Grouper()
    assert aggregate(whole, third, Counter(), Checkpoints(tmp_path)) == expected
    assert third.tasks == []


@pytest.mark.parametrize("damage", [b"", b"\n{}", b"\xff\xfe\n", b'{"groups": []}'])
def test_damaged_steps_are_done_again(tmp_path: Path, damage: bytes) -> None:
    whole = segments(3, lambda n: n)
    expected = aggregate(whole, Grouper(), Counter(), Checkpoints(tmp_path))
    files = list(tmp_path.iterdir())
    assert len(files) == 2
    for file in files:
        file.write_bytes(damage)
    assert aggregate(whole, Grouper(), Counter(), Checkpoints(tmp_path)) == expected


def test_steps_of_other_segments_are_not_taken(tmp_path: Path) -> None:
    aggregate(segments(3, lambda n: n), Grouper(), Counter(), Checkpoints(tmp_path))
    backbone = Grouper()
    aggregate(segments(3, lambda _: 5), backbone, Counter(), Checkpoints(tmp_path))
    assert len(backbone.tasks) == 2
