"""What a file is, found by reading its container and at most a few of its pictures."""

import math
from itertools import islice
from pathlib import Path
from typing import Any

from evoharness.records.video import VideoInfo
from evoharness.video.container import damage, open_container, packets_of, pick_stream
from evoharness.video.errors import NotAVideo
from evoharness.video.index import Packet, PacketIndex, content_hash, read_packets

STRAYS = 0.05
"""At most so large a part of the pictures is left out for impossible times."""

TRIED_PACKETS = 300
"""How far a damaged file is decoded in search of a first picture."""


def probe(path: Path) -> VideoInfo:
    """Facts about a video file; `NotAVideo` with one clear line when it is none."""
    return examine(path)[0]


def examine(path: Path) -> tuple[VideoInfo, PacketIndex]:
    """The facts together with the packet index."""
    if not path.exists():
        raise NotAVideo(path, "no such file")
    if not path.is_file():
        raise NotAVideo(path, "not a file")
    if path.stat().st_size == 0:
        raise NotAVideo(path, "the file is empty")
    try:
        with open_container(path) as container:
            stream = pick_stream(container)
            if stream is None:
                raise NotAVideo(path, _without_video(container))
            return _examine(path, container, stream)
    except PermissionError as error:
        raise NotAVideo(path, "no permission to read it") from error
    except damage() as error:
        raise NotAVideo(path, _beyond_reading(error)) from error
    except OSError as error:
        raise NotAVideo(path, _beyond_reading(error)) from error


def _examine(path: Path, container: Any, stream: Any) -> tuple[VideoInfo, PacketIndex]:
    table = read_packets(container, stream)
    packets, counted = table.packets, table.counted
    warnings = []
    if table.complaints:
        times = len(table.complaints)
        warnings.append(f"reading was disturbed {times} times, first by: {table.complaints[0]}")
    if table.damaged:
        warnings.append(f"{table.damaged} of {len(packets)} packets are damaged")
    # Only these containers count their pictures; elsewhere the number is a guess.
    if "mp4" in container.format.name and len(packets) < stream.frames:
        warnings.append(f"the header promises {stream.frames} pictures, {len(packets)} are there")
    if counted:
        warnings.append("the file carries no times: pictures are taken to be evenly spaced")
        unit = 1 / float(stream.average_rate or stream.guessed_rate or 25)
    else:
        unit = float(stream.time_base)
    promised = 0.0 if counted else _promised_seconds(container, stream)
    packets, strays = _without_strays(packets, unit, promised)
    if strays:
        warnings.append(f"{strays} pictures with impossible times are left out")
    try:
        index = PacketIndex(packets, unit, counted=counted)
    except ValueError:
        raise NotAVideo(path, "its video stream has no pictures") from None
    if promised > index.duration + max(1.0, 0.02 * index.duration):
        warnings.append(f"the header promises {promised:.1f} s, {index.duration:.1f} s are there")
    picture, broken = _first_picture(path)
    if picture is None:
        raise NotAVideo(path, "none of its pictures can be decoded")
    if broken:
        warnings.append("damaged at its beginning: the first pictures cannot be decoded")
    rotation = quarter_turns(picture.rotation) * 90
    width, height = picture.width, picture.height
    aspect = stream.sample_aspect_ratio or stream.codec_context.sample_aspect_ratio
    if aspect and aspect > 0 and aspect != 1:
        width = max(1, round(width * float(aspect)))
    if rotation in (90, 270):
        width, height = height, width
    info = VideoInfo(
        path=str(path),
        content_hash=content_hash(path, packets),
        duration=index.duration,
        width=width,
        height=height,
        frames=len(index),
        rotation=rotation,
        codec=str(stream.codec_context.codec.canonical_name),
        reader="pyav",
        reader_reason="PyAV addresses every picture by its presentation time and applies rotation",
        warnings=tuple(warnings),
    )
    return info, index


def _promised_seconds(container: Any, stream: Any) -> float:
    """How long the header says that the pictures last; 0 when it does not say."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    alone = len(container.streams) == 1  # with sound beside it, the sound may be the longer one
    return container.duration / 1e6 if alone and container.duration else 0.0


def _without_strays(packets: list[Packet], unit: float, promised: float) -> tuple[list[Packet], int]:
    """Packets without the few whose times lie far behind what the header promises, and how many those are.

    One damaged time stamp would otherwise make hours out of a minute. A header that is wrong about many
    packets is not believed.
    """
    if not promised or not packets:
        return packets, 0
    limit = min(packet.pts for packet in packets) + (2 * promised + 60) / unit
    kept = [packet for packet in packets if packet.pts <= limit]
    strays = len(packets) - len(kept)
    return (kept, strays) if 0 < strays <= STRAYS * len(packets) else (packets, 0)


def quarter_turns(counterclockwise: float) -> int:
    """Quarter turns clockwise, 0 to 3, for a display matrix that turns by so many degrees the other way."""
    return round(-counterclockwise / 90) % 4 if math.isfinite(counterclockwise) else 0


def _first_picture(path: Path) -> tuple[Any | None, bool]:
    """The first picture that decodes (it carries the display matrix), and whether some before it did not."""
    broken = False
    with open_container(path) as container:
        stream = pick_stream(container)
        if stream is None:
            return None, False
        for packet in islice(packets_of(container, stream), TRIED_PACKETS):
            try:
                pictures = stream.codec_context.decode(packet)
            except damage():
                broken = True
                continue
            if pictures:
                return pictures[0], broken
        try:
            rest = stream.codec_context.decode(None)
        except damage():
            rest = []
    return next(iter(rest), None), broken


def _without_video(container: Any) -> str:
    if container.streams.video:
        return "no video: its only picture is cover art"
    if container.streams.audio:
        return "no video: it has sound only"
    return "no video stream"


def _beyond_reading(error: Exception) -> str:
    words = (getattr(error, "strerror", None) or str(error)).strip().rstrip(".").lower()
    return f"not a video, or damaged beyond reading ({words})"
