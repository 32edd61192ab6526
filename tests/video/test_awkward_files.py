"""A collection of files that readers are known to trip over, each with what is right about it.

The files are not part of the repository. `EVOHARNESS_AWKWARD_VIDEOS` names their folder; without it they are
looked for in `shared/videos` beside the checkout.
"""

import os
import subprocess
import sys
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from evoharness.records.frame import Detail
from evoharness.video import NotAVideo, Video, find_videos, fit, probe
from evoharness.video.picture import scale
from tests.video.reference import every_picture

FOLDER = Path(os.environ.get("EVOHARNESS_AWKWARD_VIDEOS", Path(__file__).parents[3] / "shared" / "videos"))

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the collection of awkward files lies outside the repository"
)


class Right(NamedTuple):
    """What is right about a file."""

    duration: float
    """Seconds."""
    width: int
    """As displayed, like the height."""
    height: int
    frames: int
    """Pictures that are shown and can be decoded."""
    codec: str
    reader: str = "decord"
    reason: str = ""
    """A part of why it is that reader."""
    warning: str = ""
    """A part of the first warning; empty: there is none."""


FILES = {
    "plain.mp4": Right(20, 320, 180, 200, "h264"),
    "rotated90.mp4": Right(20, 180, 320, 200, "h264", "pyav", "turned"),
    "video_0.mov": Right(0.1, 568, 320, 3, "h264"),
    "video_90.mov": Right(0.1, 320, 568, 3, "h264", "pyav", "turned"),
    # The edit list cuts the last of its 450 pictures away.
    "vfr.mp4": Right(40, 320, 180, 449, "h264", "pyav", "edit list"),
    "truncated.mp4": Right(11.9, 320, 180, 118, "h264", "pyav", "damaged", "1 of 119 packets is damaged"),
    "corrupted.mp4": Right(5, 1280, 720, 49, "h264", "pyav", "damaged", "1 of 50 packets is damaged"),
    "av1.mp4": Right(20, 320, 180, 200, "av1", "pyav", "av1"),
    "noduration.webm": Right(20, 320, 180, 200, "vp8", "pyav", "does not tell how long it is"),
    "subtitled.mp4": Right(20, 320, 180, 200, "h264"),
    "one_frame.mp4": Right(0.1, 320, 180, 1, "h264"),
    "flipping_a_pancake.mkv": Right(10.333, 426, 240, 310, "h264"),
    "realshort.mp4": Right(1.199, 320, 240, 36, "h264"),
}

NO_VIDEO = {
    "audio_only.mp4": "no video: it has sound only",
    "cover.mp3": "no video: its only picture is cover art",
    "empty.mp4": "the file is empty",
    "text.mp4": "not a video, or damaged beyond reading (invalid data found when processing input)",
}


@pytest.mark.parametrize("name", FILES)
def test_facts(name: str) -> None:
    info, right = probe(FOLDER / name), FILES[name]
    facts = (info.duration, info.width, info.height, info.frames)
    assert facts == pytest.approx(right[:4], abs=0.001)
    assert (info.codec, info.reader) == (right.codec, right.reader)
    assert right.reason in info.reader_reason
    if right.warning:
        assert right.warning in info.warnings[0]
    else:
        assert not info.warnings


@pytest.mark.parametrize("name", FILES)
def test_frames_at_given_times_are_those_of_a_full_decode(name: str) -> None:
    video = Video(FOLDER / name)
    truth = every_picture(video.path)
    stamps = sorted(truth)
    unit = video.index.seconds_per_unit
    times = [video.info.duration * n / 23 for n in range(24)]
    times += [times[17], 0.0, times[5]]  # and back
    expected: list[int] = []
    for time in times:
        at = stamps[max(0, bisect_right(stamps, time / unit + stamps[0] + 1e-3) - 1)]
        if not expected or at != expected[-1]:
            expected.append(at)
    frames = video.frames(times, Detail.LARGE)
    assert [frame.time for frame in frames] == pytest.approx([(at - stamps[0]) * unit for at in expected])
    width, height = fit(video.info.width, video.info.height, Detail.LARGE)
    for at, frame, pixels in zip(expected, frames, video.pixels(frames), strict=True):
        assert np.array_equal(pixels, scale(truth[at], width, height)), (name, frame.time)
    assert not video.losses.pictures


@pytest.mark.parametrize("name", NO_VIDEO)
def test_what_is_no_video_says_why_in_one_line(name: str) -> None:
    with pytest.raises(NotAVideo) as refused:
        probe(FOLDER / name)
    assert refused.value.reason == NO_VIDEO[name]
    command = [sys.executable, "-m", "evoharness.video", "probe", str(FOLDER / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{FOLDER / name}: {NO_VIDEO[name]}\n"


def test_the_folder_as_a_whole() -> None:
    found = find_videos(str(FOLDER))
    assert {path.name for path in found.videos.values()} == set(FILES)
    assert {skipped.path.name: skipped.reason for skipped in found.skipped} == NO_VIDEO
