"""How fast pictures come out of a video, beside plain decord, plain PyAV and the ffmpeg tool.

    python -m benchmarks.video [folder=DIR] [minutes=10] [far_minutes=10] [long_minutes=40] [rounds=3]

Jobs on two files of the same pictures (720p, 25 a second), `near` with a key frame every 10 s and `far`
with a single one:

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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH, HEIGHT, FPS = 1280, 720, 25
SCAN_FPS, SAMPLE_FPS, SPARSE = 0.25, 0.5, 32
SMALL = (352, 192)
NOT_MEASURED = {("far", "sparse", "PyAV"), ("far", "sparse", "ffmpeg")}
"""These decode from the beginning of the file for each picture, which takes minutes and is known."""
FASTER, SLACK, MOST_MB = 10.0, 1.05, 400.0
KEY_PICTURES = 250
SCENE_S, LOOP_S, SPAN_S = 20, 60, 300


@dataclass(frozen=True)
class Setting:
    """What is measured."""

    folder: Path
    minutes: int = 10
    far_minutes: int = 10
    """Of the file with one key frame, which takes long to make."""
    long_minutes: int = 40
    rounds: int = 3

    @property
    def near(self) -> Path:
        """A key frame every 10 s."""
        return self.folder / f"near-{self.minutes}.mp4"

    @property
    def far(self) -> Path:
        """One key frame."""
        return self.folder / f"far-{self.far_minutes}.mp4"

    @property
    def long(self) -> Path:
        """As `near`, but long."""
        return self.folder / f"near-{self.long_minutes}.mp4"


@dataclass(frozen=True)
class Cost:
    """What a job took."""

    seconds: float
    processor: float
    """Seconds of all processors together."""
    megabytes: float
    """Peak memory of the process and those that it started, added up."""


# The files


def pictures(seconds: int) -> "Iterator[NDArray[np.uint8]]":
    """A textured picture that slides by, another one every 20 s, and a ball before it."""
    import cv2
    import numpy as np

    rng = np.random.default_rng(1)
    ground = np.zeros((0, 0, 3), np.uint8)
    step = np.zeros(2)
    for number in range(seconds * FPS):
        since = number % (SCENE_S * FPS)
        if since == 0:
            ground = np.zeros((2 * HEIGHT, 2 * WIDTH, 3), np.uint8)
            for cells, weight in ((8, 0.5), (40, 0.3), (160, 0.15), (1280, 0.05)):
                noise = rng.integers(0, 256, (cells * 9 // 16, cells, 3), dtype=np.uint8)
                large = cv2.resize(noise, (2 * WIDTH, 2 * HEIGHT), interpolation=cv2.INTER_CUBIC)
                ground += (large * weight).astype(np.uint8)
            step = rng.uniform(-1.2, 1.2, 2)
        left = int(WIDTH / 2 + step[0] * since) % (WIDTH + 1)
        top = int(HEIGHT / 2 + step[1] * since) % (HEIGHT + 1)
        picture = ground[top : top + HEIGHT, left : left + WIDTH].copy()
        ball = (int(640 + 400 * np.sin(number / 40)), int(360 + 200 * np.cos(number / 31)))
        yield np.asarray(cv2.circle(picture, ball, 30, (250, 30, 30), -1), dtype=np.uint8)


def write(path: Path, seconds: int, key_pictures: int) -> None:
    """Encode as H.264 with B-frames, a key frame every so many pictures and nowhere else."""
    import av

    options = {"preset": "superfast", "crf": "21", "sc_threshold": "0"}
    options |= {"keyint": str(key_pictures), "keyint_min": str(key_pictures)}
    unfinished = path.with_name(f".unfinished-{path.name}")
    with av.open(str(unfinished), "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.gop_size = key_pictures
        for picture in pictures(seconds):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    unfinished.rename(path)


def repeat(source: Path, path: Path, times: int) -> None:
    """The same packets several times, one after the other."""
    import av

    unfinished = path.with_name(f".unfinished-{path.name}")
    with av.open(str(source)) as given, av.open(str(unfinished), "w", format="mp4") as container:
        template: Any = given.streams.video[0]
        stream = container.add_stream_from_template(template)
        packets = [
            (packet.pts, packet.dts, packet.duration, packet.is_keyframe, bytes(packet))
            for packet in given.demux(template)
            if packet.size
        ]
        length = sum(duration for _, _, duration, _, _ in packets)
        for number in range(times):
            for pts, dts, duration, key, data in packets:
                packet: Any = av.Packet(data)
                packet.pts, packet.dts = pts + number * length, dts + number * length
                packet.duration, packet.is_keyframe = duration, key
                packet.time_base, packet.stream = template.time_base, stream
                container.mux(packet)
    unfinished.rename(path)


def make_files(setting: Setting) -> None:
    """Make those that are not there."""
    setting.folder.mkdir(parents=True, exist_ok=True)
    minute = setting.folder / "minute.mp4"
    if not minute.exists():
        print("making a minute of video", file=sys.stderr)
        write(minute, LOOP_S, KEY_PICTURES)
    for path, minutes in ((setting.near, setting.minutes), (setting.long, setting.long_minutes)):
        if minutes and not path.exists():
            repeat(minute, path, minutes)
    if not setting.far.exists():
        print(f"making {setting.far_minutes} minutes of video with one key frame", file=sys.stderr)
        write(setting.far, 60 * setting.far_minutes, 10**9)


# The jobs: each gives how many pictures it read


def wanted(job: str, duration: float) -> list[float]:
    """The times of a job."""
    if job == "sparse":
        return [duration * (number + 0.5) / SPARSE for number in range(SPARSE)]
    fps = SCAN_FPS if job == "scan" else SAMPLE_FPS
    return [number / fps for number in range(int(duration * fps))]


def ours(path: Path, job: str) -> int:
    """This package."""
    from evoharness.records.frame import Detail
    from evoharness.records.interval import Interval
    from evoharness.video import Video, surveyed
    from evoharness.video.scenes import differences

    video = Video(path)
    if job == "scan":
        return 1 + len(differences(video, SCAN_FPS)[0])
    if job == "sparse":
        frames = video.frames(wanted(job, video.info.duration), Detail.LARGE)
        return sum(1 for _ in video.pixels(frames))
    end = video.info.duration
    spans = [Interval(start=at, end=min(at + SPAN_S, end)) for at in range(0, int(end), SPAN_S)]
    known = spans if job == "sample" else None
    found = 0
    with surveyed(video, fps=SAMPLE_FPS, cap=250, detail=Detail.LARGE, spans=known) as survey:
        for span in survey.spans:
            with survey.pictures(span) as seen:
                found += len(seen.frames) + seen.repeats
    return found


def all_by_pyav(path: Path, job: str) -> int:
    """Plain PyAV: decode on and convert what is wanted; for a few pictures, seek to each."""
    import av

    found = 0
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        stream.thread_type = "AUTO"
        times = wanted(job, float(stream.duration * stream.time_base))
        if job == "sparse":
            for time_ in times:
                container.seek(int(time_ / stream.time_base), stream=stream)
                for picture in container.decode(stream):
                    if picture.time + 0.5 / FPS >= time_:
                        found += len(picture.to_ndarray(format="rgb24")) > 0
                        break
            return found
        size = SMALL if job == "scan" else (WIDTH, HEIGHT)
        for picture in container.decode(stream):
            if found < len(times) and picture.time >= times[found]:
                picture.to_ndarray(format="rgb24", width=size[0], height=size[1])
                found += 1
    return found


def by_decord(path: Path, job: str) -> int:
    """Plain decord: picture by picture."""
    import decord

    size = SMALL if job == "scan" else (-1, -1)
    reader = decord.VideoReader(str(path), width=size[0], height=size[1])
    times = wanted(job, len(reader) / reader.get_avg_fps())
    return sum(len(reader[int(time_ * FPS)].asnumpy()) > 0 for time_ in times)


def by_ffmpeg(path: Path, job: str) -> int:
    """The ffmpeg tool, raw pictures through a pipe; for a few pictures, one call for each."""
    tool = ffmpeg()
    assert tool is not None
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    quiet = [tool, "-v", "error", "-nostdin"]
    if job == "sparse":
        from evoharness.video import Video

        times = wanted(job, Video(path).info.duration)
        calls = [[*quiet, "-ss", f"{t}", "-i", str(path), "-frames:v", "1", *raw] for t in times]
        return sum(len(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout) > 0 for call in calls)
    rate, (width, height) = (SCAN_FPS, SMALL) if job == "scan" else (SAMPLE_FPS, (WIDTH, HEIGHT))
    call = [*quiet, "-i", str(path), "-vf", f"fps={rate},scale={width}:{height}", *raw]
    found = 0
    with subprocess.Popen(call, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.stdout.read(3 * width * height):
            found += 1
    return found


READERS: dict[str, Callable[[Path, str], int]] = {
    "evoharness": ours,
    "PyAV": all_by_pyav,
    "decord": by_decord,
    "ffmpeg": by_ffmpeg,
}


IMPORTED = {
    "evoharness": ("av", "cv2", "numpy", "evoharness.video", "evoharness.records.frame"),
    "PyAV": ("av", "numpy"),
    "decord": ("decord",),
}


def ffmpeg() -> str | None:
    """The tool, from the system or from the package imageio-ffmpeg."""
    import shutil

    try:
        import imageio_ffmpeg
    except ImportError:
        return shutil.which("ffmpeg")
    return str(imageio_ffmpeg.get_ffmpeg_exe())


def available() -> list[str]:
    """The readers that are installed."""
    import importlib.util

    missing = set() if importlib.util.find_spec("decord") else {"decord"}
    return [name for name in READERS if name not in missing and (name != "ffmpeg" or ffmpeg())]


# Measuring


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
