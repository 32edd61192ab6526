"""How much a describer is spared, found by looking at a few pictures."""

from pathlib import Path
from typing import Any

import pytest

from evoharness.evaluation.meter import MeteredBackbone
from evoharness.evolution.estimating import repeats
from evoharness.evolution.estimating.counting import CountingBackbone
from evoharness.evolution.estimating.measuring import stand_in_memory
from evoharness.evolution.estimating.repeats import IN_A_ROW, MOST_VIDEOS, PLACES, Repeats, share_of_repeats
from evoharness.memory import MemorySettings, build_memory
from evoharness.models.perception_tasks import DescribeSegment, SegmentDescription
from evoharness.video import Video
from tests.memory.describer import GivenDescriber
from tests.video.recordings import numbered, record

SETTINGS = MemorySettings()


def slides(path: Path, seconds: int, slide_s: int, gop: int = 20) -> Path:
    """Each number is shown for so long."""
    return record(path, (numbered(n // slide_s, 64, 64) for n in range(seconds)), range(seconds), gop=gop)


def described(path: Path) -> tuple[float, int]:
    """The share that the memory leaves out, and the frames that its describer is shown."""

    def says(task: DescribeSegment) -> SegmentDescription:
        return SegmentDescription(summary=f"{len(task.frames)} pictures")

    report = build_memory(Video(path), GivenDescriber(says), SETTINGS).report
    return report.repeats / (report.repeats + report.frames), report.frames


def counted(path: Path) -> int:
    """The frames that are counted for the describer."""
    backbone = MeteredBackbone(CountingBackbone())
    share = Repeats(SETTINGS).share(path)
    stand_in_memory(Video(path), backbone, SETTINGS, repeats=share)
    return backbone.take().paid["describer"].frames


@pytest.mark.parametrize(("seconds", "slide_s"), [(40, 1), (40, 8), (40, 100), (600, 12), (600, 1000)])
def test_a_few_pictures_tell_what_a_memory_leaves_out(tmp_path: Path, seconds: int, slide_s: int) -> None:
    path = slides(tmp_path / "slides.mp4", seconds, slide_s)
    share, frames = described(path)
    assert share_of_repeats(Video(path), SETTINGS) == pytest.approx(share, abs=0.1)
    assert frames / 1.5 <= counted(path) <= frames * 1.5


def test_only_a_few_pictures_of_a_few_videos_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [slides(tmp_path / f"{n}.mp4", 300, 6) for n in range(MOST_VIDEOS + 4)]
    asked: dict[Path, int] = {}
    pixels = Video.pixels

    def counting(self: Video, frames: Any) -> Any:
        asked[self.path] = asked.get(self.path, 0) + len(frames)
        return pixels(self, frames)

    monkeypatch.setattr(Video, "pixels", counting)
    found = Repeats(SETTINGS)
    found.look_at(paths)
    shares = {path: found.share(path) for path in paths}
    assert len(asked) == MOST_VIDEOS
    assert max(asked.values()) <= PLACES * IN_A_ROW
    assert {paths.index(path) for path in asked} == {0, 1, 3, 5, 6, 8}, "spread over all of them"
    known = [shares[path] for path in asked]
    assert shares[paths[2]] == pytest.approx(sum(known) / len(known))


@pytest.mark.parametrize("pictures", [400, 40, 3])
def test_where_decoding_starts_at_the_beginning_only_the_beginning_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: int
) -> None:
    path = slides(tmp_path / "slides.mp4", 600, 12, gop=10_000)
    monkeypatch.setattr(repeats, "MOST_DECODED", pictures * 64 * 64)
    last: list[float] = []
    pixels = Video.pixels

    def counting(self: Video, frames: Any) -> Any:
        last.append(frames[-1].time)
        return pixels(self, frames)

    monkeypatch.setattr(Video, "pixels", counting)
    share = share_of_repeats(Video(path), SETTINGS)
    assert max(last, default=0) < pictures
    assert share is None or 0.7 <= share <= 1.0


def test_what_cannot_be_read_is_skipped(tmp_path: Path) -> None:
    path = slides(tmp_path / "slides.mp4", 600, 12, gop=10)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + len(data) // 8] = bytes(len(data) // 8)
    path.write_bytes(data)
    share = share_of_repeats(Video(path), SETTINGS)
    assert share is None or 0.6 <= share <= 1.0
    (tmp_path / "no video.mp4").write_bytes(b"nothing")
    found = Repeats(SETTINGS)
    assert found.share(tmp_path / "no video.mp4") == 0.0
    assert found.share(slides(tmp_path / "still.mp4", 60, 100)) == 1.0
    assert found.share(tmp_path / "no video.mp4") == 1.0, "as the others are"


def test_the_first_picture_of_a_segment_is_always_counted(tmp_path: Path) -> None:
    path = slides(tmp_path / "still.mp4", 600, 1000)
    backbone = MeteredBackbone(CountingBackbone())
    memory = stand_in_memory(Video(path), backbone, SETTINGS, repeats=1.0)
    assert backbone.take().paid["describer"].frames == len(memory.segments) == 4
