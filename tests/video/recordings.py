"""Small real recordings in which every picture says its own number, upright and in its corner.

The number is written as twelve bars, black for 0 and white for 1, across the lower half; the upper left
corner is red. Both survive lossy coding and scaling, so a test can ask pixels which picture they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BARS = 12


def numbered(number: int, width: int = 320, height: int = 192) -> NDArray[np.uint8]:
    """The picture that says `number`."""
    picture = np.full((height, width, 3), 96, dtype=np.uint8)
    picture[: height // 4, : width // 4] = (220, 20, 20)
    for bar in range(BARS):
        left, right = bar * width // BARS, (bar + 1) * width // BARS
        picture[height // 2 :, left:right] = 235 if number >> bar & 1 else 16
    return picture


def number_in(picture: NDArray[np.uint8]) -> int:
    """The number that a picture says."""
    height, width = picture.shape[:2]
    total = 0
    for bar in range(BARS):
        middle = (2 * bar + 1) * width // (2 * BARS)
        patch = picture[height * 5 // 8 : height * 7 // 8, middle - 2 : middle + 3]
        total |= int(patch.mean() > 128) << bar
    return total


def is_upright(picture: NDArray[np.uint8]) -> bool:
    """Whether the red corner is at the upper left, and only there."""
    height, width = picture.shape[:2]
    red = (picture[..., 0].astype(int) - picture[..., 1]) > 80
    corner = red[: height // 4, : width // 4]
    return bool(corner.mean() > 0.9 and red.sum() < corner.size * 1.2)


def record(
    path: Path,
    pictures: Iterable[NDArray[np.uint8]],
    times: Sequence[float] | None = None,
    *,
    fps: int = 10,
    gop: int = 20,
    codec: str = "libx264",
    format: str | None = None,
    rotation: int = 0,
    aspect: Fraction | None = None,
    pixels: str = "yuv420p",
    options: Mapping[str, str] | None = None,
    muxing: Mapping[str, str] | None = None,
    interlaced: bool = False,
) -> Path:
    """Encode pictures, shown at `times` (seconds) or at a constant rate; `rotation` counterclockwise.

    `pixels`: the pixel format; `options` are those of the encoder, `muxing` those of the container.
    """
    import av
    from av.codec.context import Flags

    unit = Fraction(1, fps if codec.startswith(("mpeg", "h263")) else 1000)
    with av.open(str(path), "w", format=format, options=dict(muxing or {})) as container:
        stream: Any = None
        for number, picture in enumerate(pictures):
            if stream is None:
                stream = container.add_stream(codec, rate=fps)
                stream.height, stream.width = picture.shape[:2]
                stream.pix_fmt = pixels
                stream.codec_context.time_base = unit
                stream.codec_context.gop_size = gop
                if codec == "libx264":
                    stream.options = {"preset": "veryfast", "keyint_min": str(gop), "sc_threshold": "0"}
                stream.options = {**stream.options, **(options or {})}
                if interlaced:
                    stream.codec_context.flags |= Flags.interlaced_dct | Flags.interlaced_me
                if aspect is not None:
                    stream.codec_context.sample_aspect_ratio = aspect
                if rotation:
                    stream.set_display_rotation(rotation)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            time = number / fps if times is None else times[number]
            frame.pts, frame.time_base = round(time / unit), unit
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def record_sound(path: Path, seconds: float = 1.0, cover: NDArray[np.uint8] | None = None) -> Path:
    """A file with sound only, or with sound and a picture attached to it."""
    import av

    with av.open(str(path), "w") as container:
        sound: Any = container.add_stream("aac", rate=44100)
        art: Any = None
        if cover is not None:
            art = container.add_stream("mjpeg", rate=1)
            art.height, art.width = cover.shape[:2]
            art.pix_fmt = "yuvj420p"
            art.disposition = av.stream.Disposition.attached_pic
        for start in range(0, int(44100 * seconds), 1024):
            samples = np.sin(np.arange(start, start + 1024) / 20).astype(np.float32)[None]
            frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 44100, start
            container.mux(sound.encode(frame))
        container.mux(sound.encode())
        if cover is not None:
            picture = av.VideoFrame.from_ndarray(cover, format="rgb24")
            picture.pts = 0
            container.mux(art.encode(picture))
            container.mux(art.encode())
    return path


ASS_HEADER = b"""[Script Info]
ScriptType: v4.00+
[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,16
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def record_talk(
    path: Path,
    *,
    seconds: int,
    tone: bool = True,
    subtitles: Sequence[tuple[float, float, str]] = (),
    begins: float = 0.0,
    gop: int = 250,
) -> Path:
    """A recording with one picture a second, a beep in every odd second, and subtitles (start, end, text).

    All times of the file lie `begins` seconds later than those of its pictures. `gop`: pictures from one key
    frame to the next.
    """
    import av

    rate, unit = 48_000, Fraction(1, 1000)
    with av.open(str(path), "w") as container:
        pictures: Any = container.add_stream("libx264", rate=1)
        pictures.width, pictures.height, pictures.pix_fmt, pictures.time_base = 320, 192, "yuv420p", unit
        pictures.codec_context.gop_size = gop
        sound: Any = container.add_stream("aac", rate=rate) if tone else None
        texts: Any = None
        if subtitles:
            texts = container.add_stream("subrip" if path.suffix == ".mkv" else "mov_text")
            texts.codec_context.subtitle_header, texts.time_base = ASS_HEADER, unit
        for number in range(seconds):
            frame = av.VideoFrame.from_ndarray(numbered(number), format="rgb24")
            frame.pts, frame.time_base = round((begins + number) * 1000), unit
            container.mux(pictures.encode(frame))
        container.mux(pictures.encode(None))
        if sound is not None:
            times = np.arange(seconds * rate) / rate
            wave = (np.sin(times * 2 * np.pi * 440) * 8000 * (times.astype(int) % 2)).astype(np.int16)
            piece = av.AudioFrame.from_ndarray(wave[None, :], format="s16", layout="mono")
            piece.sample_rate, piece.pts, piece.time_base = rate, round(begins * rate), Fraction(1, rate)
            container.mux(sound.encode(piece))
            container.mux(sound.encode(None))
        for start, end, text in subtitles:
            data = text.encode()
            packet = av.Packet(data if path.suffix == ".mkv" else len(data).to_bytes(2, "big") + data)
            packet.stream, packet.time_base = texts, unit
            packet.pts = packet.dts = round((begins + start) * 1000)
            packet.duration = round((end - start) * 1000)
            container.mux(packet)
    return path
