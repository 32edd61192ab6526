"""A memory is built segment by segment, survives interruption, and says what it lost."""

import multiprocessing
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evoharness.memory import MemorySettings, MemoryStore, build_memory, render_tree
from evoharness.memory.aggregation import complete_groups
from evoharness.models.backbone import BackboneUnavailable, Refused
from evoharness.models.perception_tasks import (
    DescribedEntity,
    DescribedEvent,
    DescribedText,
    DescribeSegment,
    SegmentDescription,
)
from evoharness.models.reasoning_tasks import SegmentGroup
from evoharness.records.interval import Interval
from evoharness.records.memory import RelationKind
from evoharness.video import Video
from tests.memory.describer import GivenDescriber
from tests.video.recordings import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLOURS = [(200, 40, 40), (40, 200, 40), (40, 40, 200), (200, 200, 40)]


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four scenes of 160 s, a picture each 2 s; something small moves in all of them."""
    path = tmp_path_factory.mktemp("slides") / "it's [four] scenes?.mp4"
    return record(path, map(slide, range(320)), [2 * n for n in range(320)])


def slide(number: int) -> "NDArray[np.uint8]":
    """The picture of that number."""
    picture = np.full((96, 160, 3), COLOURS[number // 80], dtype=np.uint8)
    left = 37 * number % 141
    picture[40:56, left : left + 16] = 255
    return picture


def described(task: DescribeSegment) -> SegmentDescription:
    """One event, one text, one thing that comes back and one that does not."""
    start = task.span.start
    return SegmentDescription(
        summary=f"the scene from {start:.0f} s",
        events=(DescribedEvent(start=start + 10, end=start + 20, subject="ball", action="rolls"),),
        entities=(
            DescribedEntity(name="circle", attributes=("red",), first_seen=start + 1),
            DescribedEntity(name=f"card {start:.0f}", first_seen=start),
        ),
        texts=(DescribedText(text=f"Step {start:.0f}", start=start, end=start + 5),),
    )


class TestBuilding:
    def test_the_describer_sees_each_segment_as_the_paper_says(self, slides: Path) -> None:
        backbone = GivenDescriber(described)
        memory = build_memory(Video(slides), backbone)
        assert [s.interval.start for s in memory.segments] == [0, 160, 320, 480]
        assert [s.interval.end for s in memory.segments] == [160, 320, 480, memory.duration]
        assert [len(task.frames) for task in backbone.described] == [80] * 4
        for task in backbone.described:
            assert all(task.span.start <= frame.time < task.span.end for frame in task.frames)
        assert memory.report.frames == 320
        assert memory.report.losses == {}

    def test_what_does_not_change_is_shown_once(self, tmp_path: Path) -> None:
        pictures = [np.full((96, 160, 3), COLOURS[n // 20], dtype=np.uint8) for n in range(40)]
        path = record(tmp_path / "still.mp4", pictures, [2 * n for n in range(40)])
        backbone = GivenDescriber(described)
        memory = build_memory(Video(path), backbone)
        (task,) = backbone.described
        assert [frame.until for frame in task.frames] == [pytest.approx(39, abs=2), pytest.approx(79, abs=2)]
        assert (memory.report.frames, memory.report.repeats) == (2, 38)

    def test_a_cap_of_frames_holds(self, slides: Path) -> None:
        backbone = GivenDescriber(described)
        build_memory(Video(slides), backbone, MemorySettings(frame_cap=7))
        assert [len(task.frames) for task in backbone.described] == [7] * 4

    def test_parts_and_root_stand_over_the_segments(self, slides: Path) -> None:
        memory = build_memory(Video(slides), GivenDescriber(described))
        assert [e.segment_ids for e in memory.super_events] == [("s0000", "s0001"), ("s0002", "s0003")]
        assert memory.super_events[1].interval == Interval(start=320, end=memory.duration)
        assert memory.root == "a video of 2 parts"

    def test_what_comes_back_is_linked_and_what_does_not_is_not(self, slides: Path) -> None:
        memory = build_memory(Video(slides), GivenDescriber(described))
        links = [r for s in memory.segments for r in s.relations if r.kind is RelationKind.SAME_AS]
        assert [(r.source, r.target) for r in links] == [
            ("s0001/n0000", "s0000/n0000"),
            ("s0002/n0000", "s0001/n0000"),
            ("s0003/n0000", "s0002/n0000"),
        ]

    def test_a_segment_that_fails_is_listed_and_the_rest_stands(self, slides: Path) -> None:
        def refuse_second(task: DescribeSegment) -> SegmentDescription:
            if task.span.start == 160:
                raise Refused("not this one")
            return described(task)

        memory = build_memory(Video(slides), GivenDescriber(refuse_second))
        assert memory.report.failed_segments == ("s0001",)
        assert memory.segments[1].status == "failed"
        assert memory.segments[1].summary == "No description: not this one"
        assert [e.segment_ids for e in memory.super_events] == [("s0000", "s0002"), ("s0003",)]
        assert memory.report.losses == {"segment failed": 1}

    def test_when_everything_fails_there_still_is_a_memory(self, slides: Path) -> None:
        def refuse(task: DescribeSegment) -> SegmentDescription:
            raise Refused(f"none of {len(task.frames)} frames")

        memory = build_memory(Video(slides), GivenDescriber(refuse))
        assert len(memory.report.failed_segments) == 4
        assert memory.super_events == ()
        assert memory.root

    def test_the_tree_shows_it(self, slides: Path) -> None:
        tree = render_tree(build_memory(Video(slides), GivenDescriber(described)))
        assert tree.splitlines()[:4] == [
            "a video of 2 parts",
            "00:00.0–05:20.0  part 0",
            "  s0000 00:00.0–02:40.0  the scene from 0 s",
            "    event  00:10.0–00:20.0  ball rolls",
        ]


class TestStore:
    def test_a_memory_is_built_once(self, slides: Path, tmp_path: Path) -> None:
        backbone = GivenDescriber(described)
        first = MemoryStore(tmp_path, backbone).load_or_build(Video(slides))
        assert MemoryStore(tmp_path, backbone).load_or_build(Video(slides)) == first
        assert len(backbone.described) == 4

    def test_the_place_depends_on_content_settings_and_model(self, slides: Path, tmp_path: Path) -> None:
        video = Video(slides)
        copy = tmp_path / "copy.mp4"
        copy.write_bytes(slides.read_bytes())
        store = MemoryStore(tmp_path, GivenDescriber(described))
        assert store.folder(Video(copy)) == store.folder(video)
        others = [
            MemoryStore(tmp_path, GivenDescriber(described, id="other")),
            MemoryStore(tmp_path, GivenDescriber(described), MemorySettings(fps=1)),
        ]
        assert len({store.folder(video), *(other.folder(video) for other in others)}) == 3

    def test_an_interrupted_build_goes_on(self, slides: Path, tmp_path: Path) -> None:
        def down_at_third(task: DescribeSegment) -> SegmentDescription:
            if task.span.start >= 320:
                raise BackboneUnavailable("down")
            return described(task)

        with pytest.raises(BackboneUnavailable):
            MemoryStore(tmp_path, GivenDescriber(down_at_third)).load_or_build(Video(slides))
        backbone = GivenDescriber(described)
        store = MemoryStore(tmp_path, backbone)
        memory = store.load_or_build(Video(slides))
        assert [task.span.start for task in backbone.described] == [320, 480]
        assert memory == build_memory(Video(slides), GivenDescriber(described))
        left = sorted(path.name for path in store.folder(Video(slides)).iterdir())
        assert left == [".lock", "memory.json", "thumbnails.json"]

    @pytest.mark.parametrize("damage", [b"", b"{", b'{"schema_version": 1}', b"\xff\xfe"])
    def test_damaged_files_are_built_again(self, slides: Path, tmp_path: Path, damage: bytes) -> None:
        store = MemoryStore(tmp_path, GivenDescriber(described))
        memory = store.load_or_build(Video(slides))
        folder = store.folder(Video(slides))
        (folder / "memory.json").write_bytes(damage)
        (folder / "steps").mkdir()
        for name in ("plan", "s0000", "groups-00000", "root"):
            (folder / "steps" / f"{name}.json").write_bytes(damage)
        assert store.load_or_build(Video(slides)) == memory

    def test_two_processes_build_it_once(self, slides: Path, tmp_path: Path) -> None:
        context = multiprocessing.get_context("spawn")
        log = tmp_path / "log"
        workers = [context.Process(target=_build_slowly, args=(slides, tmp_path, log)) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        assert [worker.exitcode for worker in workers] == [0, 0]
        assert len(log.read_text().splitlines()) == 4


def _build_slowly(path: Path, cache: Path, log: Path) -> None:
    def slow(task: DescribeSegment) -> SegmentDescription:
        with log.open("a") as file:
            file.write(f"{task.span.start}\n")
        time.sleep(0.1)
        return described(task)

    MemoryStore(cache, GivenDescriber(slow)).load_or_build(Video(path))


class TestGroups:
    def test_no_segment_is_left_out_or_taken_twice(self) -> None:
        from collections import Counter

        from hypothesis import given
        from hypothesis import strategies as st

        bound = st.integers(-3, 12)
        group = st.builds(SegmentGroup, label=st.just(" "), description=st.just(""), first=bound, last=bound)

        @given(st.lists(group, max_size=6), st.integers(1, 8))
        def holds(groups: list[SegmentGroup], count: int) -> None:
            complete = complete_groups(groups, [f"summary {n}" for n in range(count)], Counter())
            covered = [n for g in complete for n in range(g.first, g.last + 1)]
            assert covered == list(range(count))
            assert all(g.label and g.description for g in complete)

        holds()
