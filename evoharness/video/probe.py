"""What a file is, found by reading its container and at most a few of its pictures."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from evoharness.records.amounts import agreeing, how_many
from evoharness.records.video import VideoInfo
from evoharness.video.container import damage, limit_pictures, open_container, packets_of, pick_stream
from evoharness.video.damage import without_undecodable
from evoharness.video.errors import NotAVideo
from evoharness.video.hashing import content_hash
from evoharness.video.index import PacketIndex
from evoharness.video.packets import Packet, read_packets
from evoharness.video.picture import orientation
from evoharness.video.readers.choice import Nature, choose_reader

STRAYS = 0.05
"""At most so large a part of the pictures is left out for impossible times."""

TRIED_PACKETS = 300
"""How far a damaged file is decoded in search of a first picture."""


TEXT_AS_PICTURES = frozenset({"ansi", "bintext", "xbin", "idf"})
"""As which FFmpeg shows any file that is called `.txt`, `.nfo` or the like."""

FIELDS = 2
"""Packets with one time that follow each other may belong to one picture."""

WIDEST_PIXEL = 16
"""Pixels are at most so many times as wide as they are high, or as high as wide."""


@dataclass(frozen=True)
class Examined:
    """What one examination of a file found."""

    info: VideoInfo
    index: PacketIndex
    nature: Nature


def probe(path: Path) -> VideoInfo:
    """Facts about a video file; `NotAVideo` with one clear line when it is none."""
    return examine(path).info


def examine(path: Path) -> Examined:
    """The facts together with the packet index, and what a reader has to know."""
    try:
        if not path.exists():
            raise NotAVideo(path, "no such file")
        if not path.is_file():
            raise NotAVideo(path, "not a file")
        if path.stat().st_size == 0:
            raise NotAVideo(path, "the file is empty")
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


def _be(number: int) -> str:
    return agreeing(number, "is", "are")


def _examine(path: Path, container: Any, stream: Any) -> Examined:
    table = read_packets(container, stream)
    packets, counted = table.packets, table.counted
    warnings = []
    if table.complaints:
        times = len(table.complaints)
        warnings.append(f"reading was disturbed {how_many(times, 'time')}, first by: {table.complaints[0]}")
    if table.hurt:
        warnings.append(f"{table.hurt} of {how_many(len(packets), 'packet')} {_be(table.hurt)} damaged")
    # Only these containers count their pictures; elsewhere the number is a guess.
    counts = "mp4" in container.format.name and stream.frames > 0
    if counts and len(packets) < stream.frames:
        promised_pictures, there_are = how_many(stream.frames, "picture"), _be(len(packets))
        warnings.append(f"the header promises {promised_pictures}, {len(packets)} {there_are} there")
    rate = stream.average_rate or stream.guessed_rate or 25
    unit = float(stream.time_base) if table.timed else 1 / float(rate)
    promised = _promised_seconds(container, stream) if table.timed else 0.0
    packets, strays = _without_strays(packets, unit, promised)
    if strays:
        warnings.append(f"{how_many(strays, 'picture')} with impossible times {_be(strays)} left out")
    if stream.codec_context.codec.canonical_name in TEXT_AS_PICTURES:
        raise NotAVideo(path, "not a video: it is text")
    picture, broken = _first_picture(path)
    if picture is None:
        raise NotAVideo(path, "none of its pictures can be decoded")
    if broken and packets[0].key:
        warnings.append("damaged at its beginning: the first pictures cannot be decoded")
    shown = packets if counted else without_undecodable(path, packets)
    headless = ""
    if len(shown) < len(packets):
        lost = len(packets) - len(shown)
        left_out = f"{how_many(lost, 'picture')} cannot be decoded and {_be(lost)} left out"
        if table.hurt:
            warnings.append(left_out)
        else:
            headless = f"it begins between two key frames: {left_out}"
    try:
        index = PacketIndex(shown, unit, counted=counted)
    except ValueError:
        raise NotAVideo(path, "its video stream has no pictures") from None
    there = max(index.duration, index.end * unit)  # some headers count from 0, not from the first picture
    if promised > there + max(1.0, 0.02 * there):
        warnings.append(f"the header promises {promised:.1f} s, {index.duration:.1f} s are there")
    damaged = warnings[0] if warnings else ""
    if headless:
        warnings.append(headless)
    if not table.counted and (again := _times_again(shown)):
        have = agreeing(again, "has the time of another before it", "have the times of others before them")
        warnings.append(f"{how_many(again, 'picture')} {have} and {_be(again)} left out")
    if not table.timed:
        warnings.append("the file carries no times: pictures are taken to be evenly spaced")
    turns, mirrored = orientation(picture)
    aspect = _pixel_aspect(stream, warnings)
    width, height = max(1, round(picture.width * aspect)), picture.height
    if turns % 2:
        width, height = height, width
    codec = str(stream.codec_context.codec.canonical_name)
    nature = Nature(
        codec=codec,
        pixel_format=picture.format.name,
        container=container.format.name.split(",")[0],
        damage=damaged,
        rotation=turns * 90,
        mirrored=mirrored,
        odd_pixels=aspect != 1,
        interlaced=bool(picture.interlaced_frame) or _in_fields(stream),
        starts_late=not counted and abs(index.pts[0] * unit) > 1e-6,
        counted=counted,
        cut_away=index.cut_away,
        miscounted=counts and stream.frames != len(packets),
        open_keys=any(packet.leans for packet in packets),
        headless=bool(headless),
        endless=not stream.duration and not container.duration,
        streams=len(container.streams.video),
    )
    reader, reason = choose_reader(nature)
    info = VideoInfo(
        path=str(path),
        content_hash=content_hash(path, packets),
        duration=index.duration,
        width=width,
        height=height,
        frames=len(index),
        rotation=nature.rotation,
        codec=codec,
        reader=reader,
        reader_reason=reason,
        warnings=tuple(warnings),
    )
    return Examined(info, index, nature)


def _in_fields(stream: Any) -> bool:
    """Whether the header says that pictures are made of two fields."""
    order = getattr(stream.codec_context, "field_order", None)
    return getattr(order, "name", str(order)).lower() not in ("progressive", "unknown", "none", "0", "1")


def _pixel_aspect(stream: Any, warnings: list[str]) -> float:
    """Width of a pixel over its height."""
    aspect = float(stream.sample_aspect_ratio or stream.codec_context.sample_aspect_ratio or 1)
    if aspect <= 0:
        return 1.0
    if not 1 / WIDEST_PIXEL <= aspect <= WIDEST_PIXEL:
        warnings.append(f"pixels {aspect:g} times as wide as high are not believed, and taken as square")
        return 1.0
    return aspect


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


def _times_again(packets: list[Packet]) -> int:
    """How many pictures have the time of one far before them in the file, as where recordings were joined.

    Not counted is what follows at once: the second field of a picture, or another layer of it.
    """
    found = 0
    places: dict[int, int] = {}
    for place, packet in enumerate(packets):
        found += place - places.setdefault(packet.pts, place) > FIELDS
    return found


def _first_picture(path: Path) -> tuple[Any | None, bool]:
    """The first picture that decodes (it carries the display matrix), and whether some before it did not."""
    broken = False
    with open_container(path) as container:
        stream = pick_stream(container)
        if stream is None:
            return None, False
        limit_pictures(stream.codec_context)
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
