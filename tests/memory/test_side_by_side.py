"""Segments are described several at a time; the memory is the same, and trouble with one stops no other."""

import threading
import time
from pathlib import Path
from random import Random

import av
import numpy as np
import pytest

from evoharness.evaluation.meter import MeteredBackbone
from evoharness.memory import MemorySettings, MemoryStore, build_memory, pointing, render_tree
from evoharness.memory.lanes import Lanes
from evoharness.models.backbone import BackboneUnavailable, MissingKey
from evoharness.models.perception_tasks import DescribedEvent, DescribeSegment, SegmentDescription
from evoharness.records.interval import Interval
from evoharness.video import Video
from tests.memory.describer import GivenDescriber
from tests.video.recordings import record

SPANS = [Interval(start=10 * n, end=10 * (n + 1)) for n in range(12)]


def picture(number: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    shown = np.full((64, 96, 3), 40, dtype=np.uint8)
    left = 37 * number % 80
    shown[20:36, left : left + 16] = 255
    return shown


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Video:
    """Two minutes, a picture each second."""
    path = tmp_path_factory.mktemp("lanes") / "two minutes.mp4"
    return Video(record(path, map(picture, range(120)), [float(n) for n in range(120)]))


def told(task: DescribeSegment) -> SegmentDescription:
    start = task.span.start
    event = DescribedEvent(start=start + 1, end=start + 3, description=f"something at {start:.0f}")
    return SegmentDescription(summary=f"from {start:.0f} s, {len(task.frames)} frames", events=(event,))


class Late(GivenDescriber):
    """Takes a time for each segment that has nothing to do with its place."""

    def __init__(self, seed: int) -> None:
        super().__init__(self.slowly)
        self.rng = Random(seed)
        self.lock = threading.Lock()
        self.open = self.most_open = 0

    def slowly(self, task: DescribeSegment) -> SegmentDescription:
        """A description, after a while."""
        with self.lock:
            self.open += 1
            self.most_open = max(self.most_open, self.open)
            wait = self.rng.uniform(0.01, 0.1)
        time.sleep(wait)
        with self.lock:
            self.open -= 1
        return told(task)


class TestSameMemory:
    def test_whatever_the_order_and_however_many_at_a_time(self, video: Video) -> None:
        alone = build_memory(video, GivenDescriber(told), spans=SPANS)
        for seed, lanes in ((1, 3), (2, 8), (3, 20)):
            backbone = Late(seed)
            assert build_memory(video, backbone, spans=SPANS, lanes=Lanes(lanes)) == alone
            assert 2 <= backbone.most_open <= lanes
            assert len(backbone.described) == 12

    def test_builds_share_their_lanes(self, video: Video) -> None:
        backbone, lanes = Late(4), Lanes(3)
        builders = [
            threading.Thread(
                target=build_memory, args=(video, backbone), kwargs={"spans": SPANS, "lanes": lanes}
            )
            for _ in range(3)
        ]
        for builder in builders:
            builder.start()
        for builder in builders:
            builder.join(60)
        assert len(backbone.described) == 36
        assert backbone.most_open <= 3

    def test_what_lanes_use_is_booked_on_who_waits_for_it(self, video: Video) -> None:
        backbone = MeteredBackbone(Late(5))
        build_memory(video, backbone, spans=SPANS, lanes=Lanes(4))
        assert backbone.take().spend.calls == 12 + 2
        assert backbone.take().spend.calls == 0

    def test_progress_counts_up(self, video: Video) -> None:
        seen: list[tuple[int, int]] = []
        build_memory(
            video,
            Late(6),
            spans=SPANS,
            lanes=Lanes(4),
            on_segment=lambda done, of: seen.append((done, of)),
        )
        assert seen == [(n, 12) for n in range(1, 13)]


class TestTrouble:
    def test_a_call_that_is_turned_down_for_good_fails_its_segment(self, video: Video) -> None:
        def turned_down(task: DescribeSegment) -> SegmentDescription:
            if task.span.start == 50:
                error = BackboneUnavailable("400: not this one")
                error.lasting = True
                raise error
            return told(task)

        memory = build_memory(video, GivenDescriber(turned_down), spans=SPANS, lanes=Lanes(4))
        assert memory.report.failed_segments == ("s0005",)
        assert memory.segments[5].summary == "No description: 400: not this one"

    @pytest.mark.parametrize("lanes", [1, 4])
    def test_a_call_that_gets_no_answer_leaves_the_others_be(
        self, video: Video, tmp_path: Path, lanes: int
    ) -> None:
        def down(task: DescribeSegment) -> SegmentDescription:
            if task.span.start == 50:
                raise BackboneUnavailable("no answer")
            return told(task)

        with pytest.raises(BackboneUnavailable, match="no answer"):
            build_memory(video, GivenDescriber(down), spans=SPANS, lanes=Lanes(lanes), checkpoints=tmp_path)
        backbone = GivenDescriber(told)
        memory = build_memory(video, backbone, spans=SPANS, checkpoints=tmp_path)
        assert [task.span.start for task in backbone.described] == [50]
        assert memory == build_memory(video, GivenDescriber(told), spans=SPANS)

    def test_nobody_is_asked_for_ever_when_nobody_answers(self, video: Video) -> None:
        def down(_: DescribeSegment) -> SegmentDescription:
            raise BackboneUnavailable("down")

        backbone = GivenDescriber(down)
        with pytest.raises(BackboneUnavailable):
            build_memory(video, backbone, spans=SPANS)
        assert len(backbone.described) == 3

    @pytest.mark.parametrize("error", [MissingKey("no key"), ZeroDivisionError("a defect")])
    def test_what_no_other_call_would_survive_ends_the_build_at_once(
        self, video: Video, error: Exception
    ) -> None:
        def defect(_: DescribeSegment) -> SegmentDescription:
            raise error

        backbone = GivenDescriber(defect)
        with pytest.raises(type(error)):
            build_memory(video, backbone, spans=SPANS)
        assert len(backbone.described) == 1

    def test_a_lane_is_needed(self) -> None:
        with pytest.raises(ValueError, match="at least 1"):
            Lanes(0)


class TestRetry:
    def test_segments_that_failed_are_described_again_when_that_is_asked_for(
        self, video: Video, tmp_path: Path
    ) -> None:
        well = False

        def fragile(task: DescribeSegment) -> SegmentDescription:
            if task.span.start > 20 and not well:
                error = BackboneUnavailable("400")
                error.lasting = True
                raise error
            return told(task)

        backbone = GivenDescriber(fragile)
        settings = MemorySettings(minimum_s=10, maximum_s=30)
        store = MemoryStore(tmp_path, backbone, settings)
        first = store.load_or_build(video)
        failed = len(first.report.failed_segments)
        assert 0 < failed < len(first.segments)
        well = True
        assert store.load_or_build(video) == first
        asked = len(backbone.described)
        again = store.load_or_build(video, retry=True)
        assert len(backbone.described) == asked + failed
        assert again == build_memory(video, GivenDescriber(told), settings)
        assert store.load_or_build(video, retry=True) == again
        assert len(backbone.described) == asked + failed
        assert not (store.folder(video) / "steps").exists()


class TestDamage:
    def test_pictures_that_cannot_be_decoded_are_not_shown_and_counted(self, tmp_path: Path) -> None:
        path = record(tmp_path / "well.mp4", map(picture, range(120)), [float(n) for n in range(120)])
        damaged = tmp_path / "damaged.mp4"
        damaged.write_bytes(noise_between(path, 42, 58))
        backbone = GivenDescriber(told)
        memory = build_memory(Video(damaged), backbone, MemorySettings(fps=1), spans=SPANS)
        lost = memory.report.losses.get("picture that could not be decoded", 0)
        told_of = lost or any("damaged" in note for note in memory.report.notes)
        assert told_of
        tree = render_tree(memory).splitlines()
        assert all(note in tree for note in memory.report.notes)
        fewer = [len(task.frames) for task in backbone.described]
        assert sum(fewer[4:6]) < sum(fewer[:2]) - 10
        assert all(
            segment.status == "described" for n, segment in enumerate(memory.segments) if n not in (4, 5)
        )

    def test_pointing_decodes_nothing(self, video: Video) -> None:
        video = Video(video.path)
        shown: list[int] = []

        def count(task: DescribeSegment) -> SegmentDescription:
            shown.append(len(task.frames))
            return told(task)

        build_memory(video, GivenDescriber(count), spans=SPANS, look=pointing)
        assert shown == [5] * 12
        assert "_reader" not in video.__dict__


def noise_between(path: Path, start: float, end: float) -> bytes:
    """The file with the pictures of a stretch turned into noise."""
    data, rng = bytearray(path.read_bytes()), Random(0)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        for packet in container.demux(stream):
            if packet.size and packet.pts is not None and packet.pos is not None:
                assert packet.time_base is not None
                if start <= packet.pts * packet.time_base < end:
                    noise = rng.randbytes(packet.size - 5)
                    data[packet.pos + 5 : packet.pos + packet.size] = noise
    return bytes(data)


def test_a_video_that_can_only_be_read_from_its_start_is_taken_up_all_the_same(tmp_path: Path) -> None:
    path = record(tmp_path / "one key.mp4", map(picture, range(120)), [float(n) for n in range(120)], gop=500)
    settings = MemorySettings(minimum_s=5, maximum_s=12, scene_fps=1)
    undisturbed = build_memory(Video(path), GivenDescriber(told), settings)
    assert len(undisturbed.segments) >= 10

    def down(task: DescribeSegment) -> SegmentDescription:
        if task.span.start > 30:
            raise BackboneUnavailable("down")
        return told(task)

    first = GivenDescriber(down)
    with pytest.raises(BackboneUnavailable):
        build_memory(Video(path), first, settings, checkpoints=tmp_path / "steps", lanes=Lanes(3))
    second = GivenDescriber(told)
    memory = build_memory(Video(path), second, settings, checkpoints=tmp_path / "steps", lanes=Lanes(3))
    assert memory == undisturbed
    done = [task.span.start for task in first.described if task.span.start <= 30]
    assert len(done) + len(second.described) == len(memory.segments)
