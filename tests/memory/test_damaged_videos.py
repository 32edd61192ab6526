"""Randomly damaged copies of a video: each has a memory or is no video, and the memory tells what is lost."""

from pathlib import Path

import numpy as np
import pytest

from evoharness.memory import MemorySettings, build_memory
from evoharness.models.perception_tasks import DescribeSegment, SegmentDescription
from evoharness.video import NotAVideo, Video
from tests.memory.describer import GivenDescriber
from tests.video.damaging import damaged
from tests.video.recordings import record

SETTINGS = MemorySettings(minimum_s=4, maximum_s=8, scene_fps=1, fps=1, frame_cap=8)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Twenty seconds in which everything changes every half second."""
    rng = np.random.default_rng(4)
    pictures = (
        rng.integers(0, 256, (3, 4, 3), dtype=np.uint8).repeat(32, 0).repeat(32, 1) for _ in range(40)
    )
    path = tmp_path_factory.mktemp("sound") / "sound.mp4"
    return record(path, pictures, [n / 2 for n in range(40)], gop=8).read_bytes()


def seen(task: DescribeSegment) -> SegmentDescription:
    """A describer that really looks."""
    (source,) = {id(frame.source): frame.source for frame in task.frames}.values()
    means = [f"{pixels.mean():.0f}" for pixels in source.pixels(task.frames)]
    assert len(means) == len(task.frames)
    return SegmentDescription(summary=f"as bright as {', '.join(means)}")


def check(copy: Path) -> bool:
    """Remember a damaged copy; whether there was anything to remember."""
    video = Video(copy)
    backbone = GivenDescriber(seen)
    try:
        memory = build_memory(video, backbone, SETTINGS)
    except NotAVideo:
        return False
    lost = len(video.losses.pictures)
    assert memory.report.losses.get("picture that could not be decoded", 0) == lost
    assert memory.report.losses.get("picture with damaged parts", 0) == len(video.losses.damaged)
    for warning in video.info.warnings:
        assert f"the file: {warning}" in memory.report.notes
    assert sum("a reader was replaced" in note for note in memory.report.notes) == len(
        set(video.losses.replaced)
    )
    failed = [segment.id for segment in memory.segments if segment.status == "failed"]
    assert list(memory.report.failed_segments) == failed
    assert len(failed) + len(backbone.described) == len(memory.segments)
    return True


def remembered(sound: bytes, folder: Path, count: int) -> int:
    found = 0
    for number in range(count):
        copy = folder / f"{number}.mp4"
        copy.write_bytes(damaged(sound, f"memory {number}"))
        found += check(copy)
        copy.unlink()
    return found


def test_damaged_copies(sound: bytes, tmp_path: Path) -> None:
    assert 4 < remembered(sound, tmp_path, 24) < 24, "some are no videos any more, some are"


def test_pictures_with_parts_that_were_made_up_are_counted(sound: bytes, tmp_path: Path) -> None:
    copy = tmp_path / "flipped.mp4"
    data = bytearray(sound)
    for place in range(len(data) // 10, len(data) // 2, 97):
        data[place] ^= 0xFF
    copy.write_bytes(data)
    video = Video(copy)
    memory = build_memory(video, GivenDescriber(seen), SETTINGS)
    assert 0 < memory.report.losses["picture with damaged parts"] == len(video.losses.damaged)


@pytest.mark.verify
def test_many_damaged_copies(sound: bytes, tmp_path: Path) -> None:
    assert remembered(sound, tmp_path, 400) > 100
