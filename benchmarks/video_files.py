"""The recordings that `benchmarks.video` reads: 720p, 25 pictures a second, made once and kept."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH, HEIGHT, FPS = 1280, 720, 25
KEY_PICTURES = 250
SCENE_S, LOOP_S = 20, 60


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
