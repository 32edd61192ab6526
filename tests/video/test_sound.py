"""What is heard has the times of the pictures."""

from pathlib import Path

import numpy as np

from evoharness.records.frame import Detail
from evoharness.records.interval import Interval
from evoharness.video import Video, sound_of
from tests.video.recordings import number_in, record_talk


def test_second_0_is_the_first_picture_that_can_be_shown(tmp_path: Path) -> None:
    path = record_talk(tmp_path / "broadcast.ts", seconds=40, gop=8)
    data = path.read_bytes()
    path.write_bytes(data[len(data) * 2 // 5 // 188 * 188 :])
    video = Video(path)
    assert "begins between two key frames" in video.info.warnings[0]
    (first,) = (number_in(pixels) for pixels in video.pixels(video.frames([0], Detail.SMALL)))
    heard = [np.abs(sound_of(path, Interval(start=n + 0.3, end=n + 0.7))).mean() > 1000 for n in range(6)]
    assert heard == [(first + n) % 2 == 1 for n in range(6)], "a beep in every odd second"
