"""How fast pictures come out of a video, beside plain decord, plain PyAV and the ffmpeg tool.

    python -m benchmarks.video [folder=DIR] [minutes=10] [far_minutes=10] [long_minutes=40] [rounds=3]

Jobs on two files of the same kind of pictures (720p, 25 a second): `near`, a minute over and over, with a key
frame every 10 s, and `far`, generated in full, with a single one:

- scan: what scenes are cut by, pictures at 0.25 fps and a small size;
- sample: what segments are described by, pictures at 0.5 fps and full size;
- sparse: 32 pictures, evenly spread;
- survey, of ours alone: scan, sample and small pictures for people together.

Each job is done from the closed file on, in a process of its own, in turn by each reader. Prints a Markdown
table of medians, in seconds and as multiples of ours, with the seconds of the processor beside them (which
tell the truth on a machine that is busy), and the peak memory of surveying a long file. Exits 1 when the scan
of `near` is not 10 times faster than decoding everything, when sampling is slower than the fastest of the
others or sparse pictures slower than with decord (by more than `SLACK`), or when surveying `long_minutes`
takes 400 MB or more. The files are made once and kept in `folder`.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.video_files import Setting, make_files
from benchmarks.video_readers import IMPORTED, READERS, available

NOT_MEASURED = {("far", "sparse", "PyAV"), ("far", "sparse", "ffmpeg")}
"""These decode from the beginning of the file for each picture, which takes minutes and is known."""
FASTER, SLACK, MOST_MB = 10.0, 1.05, 400.0


@dataclass(frozen=True)
class Cost:
    """What a job took."""

    seconds: float
    processor: float
    """Seconds of all processors together."""
    megabytes: float
    """Peak memory of the process and those that it started, added up."""


def do(reader: str, job: str, path: Path) -> Cost:
    """Do a job here; the libraries that it needs are imported already."""
    import importlib

    for name in IMPORTED.get(reader, ()):
        importlib.import_module(name)
    before = _processor()
    began = time.perf_counter()
    found = READERS[reader](path, job)
    seconds = time.perf_counter() - began
    peaks = [_peak(pid) for pid in (os.getpid(), *_children())]
    assert found > 0, f"{reader} found no picture"
    return Cost(seconds, _processor() - before, sum(peaks))


def _processor() -> float:
    """Seconds that this process, and those it started, have worked; also those that still run."""
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ticks = os.sysconf("SC_CLK_TCK")
    running = 0.0
    for pid in _children():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        running += (int(fields[11]) + int(fields[12])) / ticks
    return sum(used.ru_utime + used.ru_stime for used in ended) + running


def _children() -> list[int]:
    tasks = Path("/proc/self/task")
    return [int(pid) for task in tasks.glob("*/children") for pid in task.read_text().split()]


def _peak(pid: int) -> float:
    """Megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    return 0.0


def measured(reader: str, job: str, path: Path) -> Cost:
    """Do a job in a process of its own, as a program of its own would."""
    call = [sys.executable, "-m", "benchmarks.video", "do", reader, job, str(path)]
    said = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Cost(**json.loads(said.splitlines()[-1]))


def measure(setting: Setting) -> dict[tuple[str, str, str], Cost]:
    """Medians by file, job and reader."""
    costs: dict[tuple[str, str, str], list[Cost]] = {}
    for _ in range(setting.rounds):
        for path in (setting.near, setting.far):
            for job in ("scan", "sample", "sparse", "survey"):
                for reader in available():
                    key = (path.stem.partition("-")[0], job, reader)
                    if key not in NOT_MEASURED and (job != "survey" or reader == "evoharness"):
                        costs.setdefault(key, []).append(measured(reader, job, path))
    return {
        key: Cost(
            statistics.median(cost.seconds for cost in of_key),
            statistics.median(cost.processor for cost in of_key),
            max(cost.megabytes for cost in of_key),
        )
        for key, of_key in costs.items()
    }


def table(costs: dict[tuple[str, str, str], Cost]) -> str:
    """Markdown."""
    lines = ["| file | job | reader | seconds | ours is | processor, s | MB |", "|" + "---|" * 7]
    for (file, job, reader), cost in costs.items():
        ratio = cost.seconds / costs[file, job, "evoharness"].seconds
        told = "" if reader == "evoharness" else f"{ratio:.1f} times as fast"
        lines.append(
            f"| {file} | {job} | {reader} | {cost.seconds:.2f} | {told} | {cost.processor:.2f} "
            f"| {cost.megabytes:.0f} |"
        )
    return "\n".join(lines)


def shortcomings(costs: dict[tuple[str, str, str], Cost], long: Cost | None) -> list[str]:
    """What does not hold."""
    found = []
    seconds = {key: cost.seconds for key, cost in costs.items()}
    times = seconds["near", "scan", "PyAV"] / seconds["near", "scan", "evoharness"]
    if times < FASTER:
        found.append(f"near: the scan is {times:.1f} times faster than decoding everything, not {FASTER:.0f}")
    for file in ("near", "far"):
        others = [took for (f, job, reader), took in seconds.items() if (f, job) == (file, "sample")]
        if seconds[file, "sample", "evoharness"] > SLACK * min(others):
            found.append(f"{file}: sampling is slower than the fastest of the others")
        decord = seconds.get((file, "sparse", "decord"))
        if decord is not None and seconds[file, "sparse", "evoharness"] > SLACK * decord:
            found.append(f"{file}: sparse pictures are slower than with decord")
    if long is not None and long.megabytes >= MOST_MB:
        found.append(f"surveying the long file takes {long.megabytes:.0f} MB")
    return found


def main(arguments: Sequence[str]) -> int:
    """Measure and print; the exit code."""
    if arguments and arguments[0] == "do":
        _, reader, job, path = arguments
        print(json.dumps(vars(do(reader, job, Path(path)))))
        return 0
    given = dict(argument.split("=", 1) for argument in arguments)
    folder = Path(given.pop("folder", "") or Path(tempfile.gettempdir()) / "evoharness-video-benchmark")
    setting = Setting(folder, **{name: int(value) for name, value in given.items()})
    make_files(setting)
    costs = measure(setting)
    print(table(costs))
    long = measured("evoharness", "survey", setting.long) if setting.long_minutes else None
    if long is not None:
        print(f"\nsurvey of {setting.long_minutes} minutes: {long.seconds:.0f} s, {long.megabytes:.0f} MB")
    missed = shortcomings(costs, long)
    for shortcoming in missed:
        print(shortcoming)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
