"""Small labels can be read at the full size of a large recording and not at half of it."""

import logging
from pathlib import Path

import av
import pytest

from evoharness.samples import plan_timeline
from evoharness.samples.encode import encode
from evoharness.samples.timeline import Text

pytestmark = pytest.mark.verify


@pytest.mark.parametrize(("size", "least", "most"), [((1280, 720), 0.85, 1.0), ((672, 384), 0.0, 0.3)])
def test_small_labels_need_the_full_size(
    size: tuple[int, int], least: float, most: float, tmp_path: Path
) -> None:
    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "error"})
    logging.disable(logging.WARNING)
    large = [t for t in (plan_timeline(11, index, 2) for index in range(10)) if t.height == 720]
    read, labels = 0, 0
    for timeline in large:
        encode(timeline, tmp_path / "video.mp4")
        small = [text for text in timeline.texts if text.faint and text.role == "label"]
        for text, picture in frames_at(tmp_path / "video.mp4", small, size):
            labels += 1
            found = engine(picture, use_cls=False)
            read += text.text.replace(" ", "") in [t.replace(" ", "") for t in found.txts or ()]
    assert labels >= 4
    assert least <= read / labels <= most


def frames_at(video: Path, texts: list[Text], size: tuple[int, int]) -> list[tuple[Text, object]]:
    """The surroundings of each text, out of the frame on display in the middle of its time."""
    with av.open(str(video)) as container:
        frames = list(container.decode(video=0))
    width, height = size
    cut = []
    for text in texts:
        frame = [f for f in frames if f.time is not None and f.time <= text.interval.middle][-1]
        whole = frame.reformat(width, height, format="bgr24").to_ndarray()
        x, y = round(text.x * width), round(text.y * height)
        across, down = round(0.08 * width), round(0.08 * height)
        cut.append((text, whole[max(0, y - down) : y + down, max(0, x - across) : x + across].copy()))
    return cut
