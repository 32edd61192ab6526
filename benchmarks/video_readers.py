"""The jobs of `benchmarks.video` and who does them: each reader gives how many pictures it read."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.video_files import FPS, HEIGHT, WIDTH

SCAN_FPS, SAMPLE_FPS, SPARSE = 0.25, 0.5, 32
SMALL = (352, 192)
SPAN_S = 300


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
