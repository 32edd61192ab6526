"""Whatever a describer writes, there is a memory that holds together, and a report of what was lost."""

import math
import resource
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evoharness.memory import MemorySettings, build_memory, pointing
from evoharness.memory.nodes import node_of, records_of
from evoharness.models.answers import parse
from evoharness.models.backbone import Unparsed
from evoharness.models.exchanges.perception import EXCHANGES
from evoharness.models.perception_tasks import DescribeSegment, SegmentDescription
from evoharness.records.interval import Interval
from evoharness.records.memory import Segment, VideoMemory
from evoharness.video import Video
from tests.memory.damage import SOUND, damaged_answer
from tests.memory.describer import GivenDescriber
from tests.video.recordings import record as recorded

SEGMENTS = 50
"""Of one memory."""
LENGTH = 60.0
LONGEST_S = 2.0
"""To read, repair and keep one answer, on a busy machine."""
MOST_BYTES = 400_000_000


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Video:
    picture = np.full((64, 64, 3), 90, dtype=np.uint8)
    path = tmp_path_factory.mktemp("damage") / "long.mp4"
    return Video(recorded(path, [picture] * 51, [LENGTH * n for n in range(51)]))


class Writer:
    """Reads damaged answers as those of a model are read, and keeps what they come to."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.understood: dict[int, SegmentDescription] = {}
        self.longest_s = 0.0

    def describe(self, task: DescribeSegment) -> SegmentDescription:
        """The next answer, as the describer gives it."""
        number = round(task.span.start / LENGTH)
        exchange: Any = EXCHANGES[DescribeSegment]
        began = time.monotonic()
        try:
            written = parse(damaged_answer(self.first + number), exchange.schema(task))
            description: SegmentDescription = exchange.read(task, written)
        except ValueError as error:
            raise Unparsed(str(error)) from error
        finally:
            self.longest_s = max(self.longest_s, time.monotonic() - began)
        self.understood[number] = description
        return description


def check_segment(segment: Segment, told: SegmentDescription) -> None:
    span = segment.interval
    ids = [record.id for record in records_of(segment)]
    assert len(ids) == len(set(ids))
    for record in records_of(segment):
        interval = node_of(record, segment).interval
        assert span.start <= interval.start <= interval.end <= span.end
    assert all(entity.name for entity in segment.entities)
    for relation in segment.relations:
        if relation.kind.value != "same_as":
            assert relation.source in ids
            assert relation.target in ids
    assert segment.summary.strip()
    assert len(segment.events) <= len(told.events)


def check_losses(memory: VideoMemory, understood: dict[int, SegmentDescription]) -> None:
    """Whatever was understood and is not there has been counted."""
    losses = Counter(memory.report.losses)
    failed = [segment for segment in memory.segments if segment.status == "failed"]
    assert losses["segment failed"] == len(failed) == len(memory.segments) - len(understood)
    assert memory.report.failed_segments == tuple(segment.id for segment in failed)
    for kind, loss in (("events", "event"), ("entities", "entity"), ("texts", "text")):
        given = sum(len(getattr(told, kind)) for told in understood.values())
        kept = sum(len(getattr(segment, kind)) for segment in memory.segments)
        beyond = sum(max(0, len(getattr(told, kind)) - 1000) for told in understood.values())
        assert kept + losses[f"{loss} dropped"] + beyond == given
    given = sum(min(1000, len(told.relations)) for told in understood.values())
    kept = sum(r.kind.value != "same_as" for s in memory.segments for r in s.relations)
    lost = ("to an unknown record", "of an unknown kind", "without content")
    assert kept + sum(losses[f"relation {how}"] for how in lost) == given


def check(video: Video, first: int, folder: Path) -> int:
    """Build a memory of damaged answers; returns how many of them were understood."""
    writer = Writer(first)
    spans = [Interval(start=LENGTH * n, end=LENGTH * (n + 1)) for n in range(SEGMENTS)]
    began = time.monotonic()
    memory = build_memory(
        video,
        GivenDescriber(writer.describe),
        MemorySettings(frame_cap=4),
        spans=spans,
        look=pointing,
        checkpoints=folder,
    )
    assert writer.longest_s < LONGEST_S
    assert time.monotonic() - began < SEGMENTS * LONGEST_S
    assert len(memory.segments) == SEGMENTS
    for number, told in writer.understood.items():
        check_segment(memory.segments[number], told)
    check_losses(memory, writer.understood)
    written = memory.model_dump_json()
    assert VideoMemory.model_validate_json(written) == memory
    return len(writer.understood)


def test_a_sound_answer_is_kept_as_it_is() -> None:
    exchange: Any = EXCHANGES[DescribeSegment]
    task = DescribeSegment(frames=(), span=Interval(start=0, end=60))
    told = exchange.read(task, parse(SOUND, exchange.schema(task)))
    assert len(told.events) == len(told.entities) == len(told.texts) == len(told.relations) == 12
    assert all(math.isfinite(event.start) for event in told.events)


def test_damaged_answers(video: Video, tmp_path: Path) -> None:
    understood = sum(check(video, first, tmp_path / str(first)) for first in range(0, 200, SEGMENTS))
    assert 40 < understood < 160, "some can be put right, and some cannot"


@pytest.mark.verify
def test_two_thousand_damaged_answers(video: Video, tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for first in range(1000, 3000, SEGMENTS):
        check(video, first, tmp_path / str(first))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < MOST_BYTES
