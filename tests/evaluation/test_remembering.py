"""Memories of many videos: one that cannot be remembered is left out, with its reason."""

from pathlib import Path

from evoharness.evaluation import InlineExecutor, ProcessExecutor, WorkbenchConfig, remembered
from evoharness.records.memory import VideoMemory
from tests.evolution.colour_world import ColourConfig, write_video


def test_a_video_that_cannot_be_read_ends_nothing(tmp_path: Path) -> None:
    good = write_video(tmp_path / "good.mp4", [("grey", 2.0), ("red", 2.0)])
    text = tmp_path / "text.mp4"
    text.write_text("no video")
    videos = {"text": text, "gone": tmp_path / "gone.mp4", "good": good}
    with_workers = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path / "cache"), workers=1)
    found = dict(remembered(with_workers, videos))
    with_workers.close()
    assert isinstance(found["good"], VideoMemory)
    for key in ("text", "gone"):
        reason = found[key]
        assert isinstance(reason, str)
        assert reason.startswith(f"{videos[key]}: ")
        assert reason.count(str(videos[key])) == 1
        assert len(reason.splitlines()) == 1


def test_neither_does_a_backbone_that_cannot_describe_it(tmp_path: Path) -> None:
    good = write_video(tmp_path / "good.mp4", [("grey", 2.0)])
    found = dict(remembered(InlineExecutor(ColourConfig(cache_dir=tmp_path / "cache")), {"good": good}))
    assert isinstance(found["good"], str)
    assert found["good"].startswith(f"{good}: ")
