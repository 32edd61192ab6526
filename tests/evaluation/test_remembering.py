"""Memories of many videos: one that cannot be remembered is left out, and all say how far they are."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.evaluation import (
    Executor,
    InlineExecutor,
    PageItem,
    ProcessExecutor,
    SegmentDone,
    Workbench,
    WorkbenchConfig,
    remembered,
    write_page,
)
from evoharness.records.memory import VideoMemory
from tests.evolution.colour_world import ColourConfig, write_video


def test_a_video_that_cannot_be_read_ends_nothing(tmp_path: Path) -> None:
    good = write_video(tmp_path / "good.mp4", [("grey", 2.0), ("red", 2.0)])
    text = tmp_path / "text.mp4"
    text.write_text("no video")
    videos = {"text": text, "gone": tmp_path / "gone.mp4", "good": good}
    with_workers = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path / "cache"), workers=1)
    told: list[SegmentDone] = []
    found = dict(remembered(with_workers, videos, on_segment=told.append))
    pages = dict(
        with_workers.map(write_page, [PageItem(good, None), PageItem(good, tmp_path / "a" / "b.html")])
    )
    with_workers.close()
    assert isinstance(found["good"], VideoMemory)
    for key in ("text", "gone"):
        reason = found[key]
        assert isinstance(reason, str)
        assert reason.startswith(f"{videos[key]}: ")
        assert reason.count(str(videos[key])) == 1
        assert len(reason.splitlines()) == 1
    assert told == [SegmentDone("good", 1, 1)]
    assert pages[0].parent.parent == tmp_path / "cache" / "memories"
    assert pages[0].read_text() == pages[1].read_text()
    assert "good.mp4" in pages[0].read_text()


def test_neither_does_a_backbone_that_cannot_describe_it(tmp_path: Path) -> None:
    good = write_video(tmp_path / "good.mp4", [("grey", 2.0)])
    found = dict(remembered(InlineExecutor(ColourConfig(cache_dir=tmp_path / "cache")), {"good": good}))
    assert isinstance(found["good"], str)
    assert found["good"].startswith(f"{good}: ")


def test_a_page_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    good = write_video(tmp_path / "good.mp4", [("grey", 2.0)])
    (tmp_path / "file").write_text("in the way")
    inline = InlineExecutor(WorkbenchConfig(cache_dir=tmp_path / "cache", backbone="embedded-no-ocr"))
    with pytest.raises(UserError, match="cannot write"):
        list(inline.map(write_page, [PageItem(good, tmp_path / "file" / "page.html")]))


def count_to(bench: Workbench, item: int) -> int:
    """Job: says how far it is."""
    for number in range(item):
        bench.tell((item, number))
    return item


def test_what_jobs_tell_arrives_before_they_are_done(tmp_path: Path) -> None:
    config = WorkbenchConfig(cache_dir=tmp_path)
    executors: list[Executor] = [
        InlineExecutor(config),
        ProcessExecutor(config, workers=2),
        ProcessExecutor(config, workers=1, in_flight=3),
    ]
    for executor in executors:
        told: list[object] = []
        executor.on_told = told.append
        done: list[int] = []
        for _, item in executor.map(count_to, [3, 2, 4]):
            done.append(item)
            assert {(item, number) for number in range(item)} <= set(told)
        assert sorted(done) == [2, 3, 4]
        assert len(told) == 9
        executor.close()


def tell_slowly(bench: Workbench, item: int) -> int:
    """Job: takes longer than anybody waits for one that says nothing."""
    for number in range(item):
        time.sleep(0.5)
        bench.tell(number)
    return item


def test_a_job_that_tells_how_far_it_is_does_not_count_as_lost(tmp_path: Path) -> None:
    executor = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path), workers=1, patience_s=8.0)
    assert dict(executor.map(tell_slowly, [20])) == {0: 20}
    executor.close()


PARENT = """
import sys, time
from pathlib import Path
from evoharness.evaluation import ProcessExecutor, WorkbenchConfig
from tests.evaluation.test_remembering import sleep_long
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    executor = ProcessExecutor(WorkbenchConfig(cache_dir=folder), workers=2)
    executor.on_told = lambda what: print(what, flush=True)
    list(executor.map(sleep_long, [1, 2]))
"""


def sleep_long(bench: Workbench, item: int) -> int:
    """Job: far from done."""
    bench.tell(item)
    time.sleep(120)
    return item


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:

    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert {parent.stdout.readline() for _ in range(2)} == {"1\n", "2\n"}
        parent.kill()
        began = time.monotonic()
        assert parent.stdout.read() == "", "nobody holds the other end any more"
        assert time.monotonic() - began < 10
