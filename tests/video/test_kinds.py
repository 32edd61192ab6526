"""A table of kinds of files: each gives the pictures that decoding every one of them gives.

The reference is plain PyAV, every picture decoded in order; wanted pictures come by seeking, by reading on,
with pictures left out, by several threads, or through decord, as the plan and the file have it.
"""

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from evoharness.records.frame import Detail
from evoharness.video import Video
from evoharness.video.container import open_container, pick_stream
from evoharness.video.readers import Losses, Wanted
from tests.video.fields import record_fields
from tests.video.recordings import number_in, numbered, record
from tests.video.reference import pictures_in_order

COUNT = 60


def restless(count: int = COUNT, width: int = 320, height: int = 192) -> Iterator[NDArray[np.uint8]]:
    """Pictures that say their numbers, with a texture that moves, so that a neighbour is never the same."""
    texture = np.random.default_rng(0).integers(0, 255, (height // 2, width // 2, 1), dtype=np.uint8)
    for number in range(count):
        picture = numbered(number, width, height)
        picture[: height // 2, width // 3 : width // 3 + width // 2] = np.roll(texture, number * 3, axis=1)
        yield picture


class Kind(NamedTuple):
    """One row of the table."""

    name: str
    """What the file is called; the ending chooses the container."""
    settings: dict[str, Any]
    """What `record` is told."""
    reader: str = "PyAV"
    """Which reader is right."""
    reason: str = ""
    """A part of the reason why."""
    size: tuple[int, int] = (320, 192)
    """As displayed."""


QUIET = "log-level=error"
STEPS = [n / 30 if n < 30 else 1 + (n - 30) / 5 for n in range(COUNT)]

KINDS = [
    Kind("h264.mp4", {}, "decord"),
    Kind("h264.mkv", {}, "decord"),
    Kind("no pictures to leave out.mov", {"options": {"bf": "0"}}, "decord"),
    Kind(
        "deep pyramid.mp4",
        {"options": {"x264-params": "bframes=8:b-pyramid=normal:ref=8:b-adapt=0"}},
        "decord",
    ),
    Kind("variable rate.mp4", {"times": STEPS}, "decord"),
    Kind("variable rate.mkv", {"times": STEPS}, "decord"),
    Kind('it\'s "größe" & co (é).mp4', {}, "decord"),
    Kind("open groups.mp4", {"options": {"x264-params": "open-gop=1"}}, reason="no clean start"),
    Kind(
        "refreshed bit by bit.mp4", {"options": {"x264-params": "intra-refresh=1"}}, reason="no clean start"
    ),
    Kind("refreshed bit by bit.ts", {"options": {"x264-params": "intra-refresh=1"}}, reason="not at time 0"),
    Kind("late.ts", {"times": [7 + n / 10 for n in range(COUNT)]}, reason="not at time 0"),
    Kind("late.mkv", {"times": [7 + n / 10 for n in range(COUNT)]}, reason="not at time 0"),
    Kind("begins before zero.mp4", {"times": [n / 10 - 1 for n in range(COUNT)]}, reason="edit list"),
    Kind("in fragments.mp4", {"muxing": {"movflags": "frag_keyframe+empty_moov"}}),
    Kind("without an index.mkv", {"muxing": {"live": "1"}}, reason="how long it is"),
    Kind("h264.avi", {}, reason="when its pictures are shown"),
    Kind("h264.flv", {}),
    Kind("mpeg4.avi", {"codec": "mpeg4", "options": {"bf": "2"}}, reason="not at time 0"),
    Kind("mpeg2.mpg", {"codec": "mpeg2video", "fps": 25, "options": {"bf": "2"}}, reason="not at time 0"),
    Kind("mjpeg.avi", {"codec": "mjpeg", "pixels": "yuvj420p"}, reason="mjpeg"),
    Kind("vp8.webm", {"codec": "libvpx", "options": {"deadline": "realtime"}}, reason="vp8"),
    Kind(
        "vp9.webm",
        {"codec": "libvpx-vp9", "options": {"deadline": "realtime", "cpu-used": "8"}},
        reason="vp9",
    ),
    Kind("av1.mp4", {"codec": "libsvtav1", "options": {"preset": "8", "crf": "10"}}, reason="av1"),
    Kind("hevc.mp4", {"codec": "libx265", "options": {"x265-params": QUIET}}, reason="hevc"),
    Kind(
        "hevc 10 bits 4:4:4.mp4",
        {"codec": "libx265", "pixels": "yuv444p10le", "options": {"x265-params": QUIET}},
        reason="hevc",
    ),
    Kind(
        "hevc in layers.mp4",
        {"codec": "libx265", "options": {"x265-params": f"{QUIET}:temporal-layers=3:bframes=4"}},
        reason="hevc",
    ),
    Kind(
        "hevc with open groups.mkv",
        {"codec": "libx265", "options": {"x265-params": f"{QUIET}:open-gop=1:bframes=8:b-adapt=0"}},
        reason="hevc",
    ),
    Kind("hevc.ts", {"codec": "libx265", "options": {"x265-params": QUIET}}, reason="not at time 0"),
    Kind("10 bits.mp4", {"pixels": "yuv420p10le"}, reason="yuv420p10le"),
    Kind("4:4:4.mkv", {"pixels": "yuv444p"}, reason="yuv444p"),
    Kind("lossless.mkv", {"codec": "ffv1", "pixels": "bgr0"}, reason="ffv1"),
    Kind("wide pixels.mp4", {"aspect": Fraction(4, 3)}, reason="not square", size=(427, 192)),
    Kind("turned.mp4", {"rotation": 90}, reason="turned", size=(192, 320)),
    Kind("turned back.mp4", {"rotation": -90}, reason="turned", size=(192, 320)),
    Kind("on its head.mp4", {"rotation": 180}, reason="turned"),
]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_pictures_are_those_of_a_full_decode(kind: Kind, tmp_path: Path) -> None:
    path = record(tmp_path / kind.name, restless(), **kind.settings)
    video = Video(path)
    info = video.info
    assert info.reader_reason.startswith(kind.reader), info.reader_reason
    assert kind.reason in info.reader_reason
    assert (info.width, info.height) == kind.size
    assert not info.warnings
    truth = pictures_in_order(path)
    assert info.frames == len(video.index) == len(truth)
    _compare(video, lambda number: truth[number])
    assert video.losses == Losses()


def _compare(video: Video, truth: Callable[[int], NDArray[np.uint8]]) -> None:
    count = len(video.index)
    rng = random.Random(video.path.name)
    width, height = video.info.width, video.info.height
    for size in (1, 1, 2, 5, 20, count):
        chosen = sorted(rng.sample(range(count), min(size, count)))
        wanted = [Wanted(number, width, height, None) for number in chosen]
        for number, pixels in zip(chosen, video._reader.read(wanted), strict=True):
            expected = truth(number)
            if expected.shape != pixels.shape:  # pixels that are not square
                assert pixels.shape == (height, width, 3)
                continue
            assert np.array_equal(pixels, expected), (video.path.name, size, number)


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if "rotation" not in kind.settings], ids=lambda kind: kind.name
)
def test_times_find_their_pictures(kind: Kind, tmp_path: Path) -> None:
    path = record(tmp_path / kind.name, restless(), **kind.settings)
    video = Video(path)
    times = kind.settings.get("times") or [n / kind.settings.get("fps", 10) for n in range(COUNT)]
    first = max(0.0, times[0])  # what lies before zero is cut away
    cut = sum(time < 0 for time in times)
    middles = [(a + b) / 2 - first for a, b in zip(times[cut:], times[cut + 1 :], strict=False)]
    frames = video.frames(middles, Detail.LARGE)
    assert [number_in(pixels) for pixels in video.pixels(frames)] == list(range(cut, COUNT - 1))


def test_one_key_frame_in_a_long_video(tmp_path: Path) -> None:
    small = (numbered(n, 64, 32) for n in range(2400))
    video = Video(record(tmp_path / "forty minutes.mp4", small, [float(n) for n in range(2400)], gop=9999))
    assert len(video.index.keys) == 1
    assert video.info.duration == pytest.approx(2400, abs=1)
    frames = video.frames([2399, 5.5, 1800, 1200.2], Detail.SMALL)
    assert [number_in(pixels) for pixels in video.pixels(frames)] == [2399, 5, 1800, 1200]


@pytest.mark.parametrize("options", [{}, {"x264-params": "open-gop=1"}], ids=["closed groups", "open groups"])
def test_a_recording_that_begins_in_the_middle_counts_from_its_first_picture(
    tmp_path: Path, options: dict[str, str]
) -> None:
    path = record(tmp_path / "broadcast.ts", restless(100), options=options)
    data = path.read_bytes()
    path.write_bytes(data[len(data) * 13 // 100 // 188 * 188 :])
    video = Video(path)
    assert (video.info.frames, video.info.duration) == (80, 8.0)
    assert "begins between two key frames" in video.info.warnings[0]
    frames = video.frames([0, 1.05, 7.9, 3], Detail.LARGE)
    assert [number_in(pixels) for pixels in video.pixels(frames)] == [20, 30, 99, 50]
    assert video.losses == Losses()


def test_where_recordings_were_joined_it_is_told_what_is_left_out(tmp_path: Path) -> None:
    one, other = (record(tmp_path / name, restless(count)) for name, count in (("a.ts", 20), ("b.ts", 30)))
    path = tmp_path / "joined.ts"
    path.write_bytes(one.read_bytes() + other.read_bytes())
    video = Video(path)
    assert video.info.frames == 30
    assert any("20 pictures have the times of others" in warning for warning in video.info.warnings)


def test_an_index_that_was_cut_off_is_not_missed(tmp_path: Path) -> None:
    path = record(tmp_path / "x.avi", restless(), codec="mpeg4")
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"idx1")])
    video = Video(path)
    assert video.info.frames == COUNT
    frames = video.frames([5.95, 2.05, 4.05], Detail.LARGE)
    assert [number_in(pixels) for pixels in video.pixels(frames)] == [59, 20, 40]


@pytest.mark.parametrize(
    ("space", "range_", "red", "blue"),
    [(1, 1, 0.2126, 0.0722), (5, 1, 0.299, 0.114), (9, 1, 0.2627, 0.0593), (1, 2, 0.2126, 0.0722)],
    ids=["BT.709", "BT.601", "BT.2020", "BT.709, full range"],
)
def test_colours_are_those_of_the_tags(
    tmp_path: Path, space: int, range_: int, red: float, blue: float
) -> None:
    colour = (200, 60, 120)
    path = _flat(tmp_path / "x.mp4", colour, space, range_, red, blue)
    video = Video(path)
    pixels = next(video.pixels(video.frames([0], Detail.SMALL)))
    assert np.abs(pixels.reshape(-1, 3).mean(axis=0) - colour).max() < 2.5


def _flat(path: Path, colour: tuple[int, int, int], space: int, range_: int, red: float, blue: float) -> Path:
    """Pictures of one colour, converted by the formula of a colour space and tagged with it."""
    import av

    r, g, b = (value / 255 for value in colour)
    luma = red * r + (1 - red - blue) * g + blue * b
    chroma = ((b - luma) / (2 * (1 - blue)), (r - luma) / (2 * (1 - red)))
    if range_ == 2:
        levels = [255 * luma, *(255 * part + 128 for part in chroma)]
    else:
        levels = [219 * luma + 16, *(224 * part + 128 for part in chroma)]
    width, height = 128, 64
    planes = np.full((height * 3 // 2, width), round(levels[0]), np.uint8)
    planes[height : height + height // 4] = round(levels[1])
    planes[height + height // 4 :] = round(levels[2])
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.colorspace, stream.codec_context.color_range = space, range_
        for number in range(3):
            frame: Any = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, 10)
            frame.colorspace, frame.color_range = space, range_
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def test_mirrored_recordings_are_turned_back(tmp_path: Path) -> None:
    path = record(tmp_path / "x.mov", map(numbered, range(5)), rotation=180)
    data = path.read_bytes()
    turned = b"".join(n.to_bytes(4, "big", signed=True) for n in (-65536, 0, 0, 0, -65536, 0, 0, 0, 1 << 30))
    head = turned[:24]  # the last row may tell of a shift
    assert data.count(head) == 1
    mirror = b"".join(n.to_bytes(4, "big", signed=True) for n in (-65536, 0, 0, 0, 65536, 0))
    path.write_bytes(data.replace(head, mirror))
    video = Video(path)
    assert "mirrored" in video.info.reader_reason
    pixels = next(video.pixels(video.frames([0], Detail.NORMAL)))
    red = pixels[..., 0].astype(int) - pixels[..., 1] > 80
    assert red[:48, -80:].mean() > 0.9
    assert red[:48, :80].mean() < 0.1


class TestInterlaced:
    def test_something_that_moves_has_no_combs(self, tmp_path: Path) -> None:
        path = record(
            tmp_path / "x.mp4", _fields(12), interlaced=True, options={"x264-params": "tff=1", "crf": "8"}
        )
        video = Video(path)
        assert "interlaced" in video.info.reader_reason
        pixels = next(video.pixels(video.frames([0.5], Detail.NORMAL))).astype(int)
        with open_container(path) as container:
            stream: Any = pick_stream(container)
            raw = [p.to_ndarray(format="rgb24") for p in container.decode(stream)][5].astype(int)
        assert _combs(raw) > 500
        assert _combs(pixels) < _combs(raw) / 20
        box = np.argwhere(pixels[..., 0] > 128)
        left, right = box[:, 1].min(), box[:, 1].max()
        assert abs(left - (20 + 5 * 16)) <= 2  # where it was at the moment of the first field
        assert abs(right - (20 + 5 * 16 + 39)) <= 2

    def test_pictures_of_two_coded_fields_come_whole(self, tmp_path: Path) -> None:
        path = record_fields(tmp_path / "fields.ts", 40)
        video = Video(path)
        assert video.info.frames == 40
        assert video.info.duration == pytest.approx(1.6)
        truth = pictures_in_order(path)
        assert len(truth) == 40
        _compare(video, lambda number: truth[number])
        assert video.losses == Losses()

    def test_what_stands_still_keeps_every_line(self, tmp_path: Path) -> None:
        stripes = np.zeros((192, 320, 3), np.uint8)
        stripes[40:150:4, 30:290] = 255
        stripes[41:150:4, 30:290] = 255
        path = record(tmp_path / "x.mp4", [stripes] * 6, interlaced=True, options={"crf": "8"})
        video = Video(path)
        pixels = next(video.pixels(video.frames([0.2], Detail.NORMAL)))
        assert np.abs(pixels.astype(int) - stripes).mean() < 4


def _fields(count: int) -> Iterator[NDArray[np.uint8]]:
    """A bright block that moves 16 pixels a picture, 8 between the fields."""
    for number in range(count):
        picture = np.full((192, 320, 3), 30, np.uint8)
        for field in (0, 1):
            left = 20 + number * 16 + field * 8
            picture[60 + field : 130 : 2, left : left + 40] = 220
        yield picture


def _combs(rgb: NDArray[np.int_]) -> int:
    """Pixels that stick out from the lines above and below in the same direction."""
    over, under = rgb[1:-1] - rgb[:-2], rgb[1:-1] - rgb[2:]
    return int(((np.minimum(over, under) > 40) | (np.maximum(over, under) < -40)).any(axis=2).sum())
