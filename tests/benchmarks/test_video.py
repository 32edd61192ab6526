"""What the benchmark of video measures, once in small, and what it makes of figures."""

from pathlib import Path

import pytest

from benchmarks import video_files
from benchmarks.video import Cost, do, shortcomings, table
from benchmarks.video_files import Setting, write
from benchmarks.video_readers import READERS, SPARSE, available, wanted

MINUTE = 60.0


def costs(**changed: float) -> dict[tuple[str, str, str], Cost]:
    """Seconds by `file_job_reader`: ours 1, of the others 2, and of decoding all for the scan 20."""
    seconds = {
        (file, job, reader): 1.0 if reader == "evoharness" else 20.0 if job == "scan" else 2.0
        for file in ("near", "far")
        for job in ("scan", "sample", "sparse")
        for reader in READERS
    }
    for name, value in changed.items():
        file, job, reader = name.split("_")
        seconds[file, job, reader] = value
    return {key: Cost(value, value, 100.0) for key, value in seconds.items()}


def test_a_job_has_the_same_times_for_every_reader() -> None:
    assert wanted("scan", MINUTE) == [4.0 * number for number in range(15)]
    assert wanted("sample", MINUTE) == [2.0 * number for number in range(30)]
    assert len(wanted("sparse", MINUTE)) == SPARSE


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("benchmark") / "near.mp4"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(video_files, "WIDTH", 160)
        patched.setattr(video_files, "HEIGHT", 96)
        write(path, 8, 50)
    return path


@pytest.mark.parametrize("job", ["scan", "sample", "sparse"])
@pytest.mark.parametrize("reader", [name for name in available() if name != "decord"])
def test_every_reader_does_every_job(recording: Path, reader: str, job: str) -> None:
    cost = do(reader, job, recording)
    assert cost.seconds > 0
    assert cost.megabytes > 10


def test_the_table_has_a_line_for_each_row() -> None:
    lines = table(costs()).splitlines()
    assert len(lines) == 2 + len(costs())
    assert len({line.count("|") for line in lines}) == 1
    assert "| near | scan | PyAV | 20.00 | 20.0 times as fast | 20.00 | 100 |" in lines


def test_what_falls_short_is_told() -> None:
    assert shortcomings(costs(), Cost(1, 1, 399)) == []
    (slow,) = shortcomings(costs(near_scan_PyAV=9.0), None)
    assert slow.startswith("near: the scan is 9.0 times faster")
    assert shortcomings(costs(far_sample_ffmpeg=0.9), None) == [
        "far: sampling is slower than the fastest of the others"
    ]
    assert shortcomings(costs(near_sparse_decord=0.9), None) == [
        "near: sparse pictures are slower than with decord"
    ]
    assert shortcomings(costs(), Cost(1, 1, 401)) == ["surveying the long file takes 401 MB"]


def test_files_are_named_by_their_lengths(tmp_path: Path) -> None:
    setting = Setting(tmp_path, minutes=3, far_minutes=2, long_minutes=5)
    assert [path.name for path in (setting.near, setting.far, setting.long)] == [
        "near-3.mp4",
        "far-2.mp4",
        "near-5.mp4",
    ]
