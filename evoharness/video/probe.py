"""What a file is, found by reading its container and at most a few of its pictures."""

import math
from pathlib import Path
from typing import Any

from evoharness.records.video import VideoInfo
from evoharness.video.errors import NotAVideo
from evoharness.video.index import PacketIndex, content_hash, read_packets

TRIED_PACKETS = 300
"""How far a damaged file is decoded in search of a first picture."""


def probe(path: Path) -> VideoInfo:
    """Facts about a video file; `NotAVideo` with one clear line when it is none."""
    return examine(path)[0]


def examine(path: Path) -> tuple[VideoInfo, PacketIndex]:
    """The facts together with the packet index."""
    import av

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
    except (av.error.FFmpegError, OSError) as error:
        raise NotAVideo(path, f"not a video, or damaged beyond reading ({_words(error)})") from error


def open_container(path: Path) -> Any:
    """The PyAV container of a local file, whatever its name looks like."""
    import av

    # "file:" keeps a name such as "a:b.mp4" from being taken for a protocol.
    return av.open(f"file:{path}", mode="r", metadata_errors="replace")


def pick_stream(container: Any) -> Any | None:
    """The video stream that is meant: cover art and other attached pictures are none."""
    import av

    pictures = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails
    streams = [
        s for s in container.streams.video if not s.disposition & pictures and s.codec_context is not None
    ]
    preferred = [s for s in streams if s.disposition & av.stream.Disposition.default]
    return next(iter(preferred + streams), None)


def _examine(path: Path, container: Any, stream: Any) -> tuple[VideoInfo, PacketIndex]:
    table = read_packets(container, stream)
    packets, counted = table.packets, table.counted
    warnings = []
    if table.stopped:
        warnings.append(f"reading stopped before the end of the file ({table.stopped})")
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
    try:
        index = PacketIndex(packets, unit, counted=counted)
    except ValueError:
        raise NotAVideo(path, "its video stream has no pictures") from None
    promised = _promised_seconds(container, stream)
    if promised > index.duration + max(1.0, 0.02 * index.duration) and not counted:
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


def quarter_turns(counterclockwise: float) -> int:
    """Quarter turns clockwise, 0 to 3, for a display matrix that turns by so many degrees the other way."""
    return round(-counterclockwise / 90) % 4 if math.isfinite(counterclockwise) else 0


def _first_picture(path: Path) -> tuple[Any | None, bool]:
    """The first picture that decodes (it carries the display matrix), and whether some before it did not."""
    import av

    broken = False
    with open_container(path) as container:
        stream = pick_stream(container)
        if stream is None:
            return None, False
        try:
            for number, packet in enumerate(container.demux(stream)):
                if number > TRIED_PACKETS:
                    break
                try:
                    for picture in packet.decode():
                        return picture, broken
                except (av.error.FFmpegError, EOFError):
                    broken = True
        except (av.error.FFmpegError, EOFError):
            pass
    return None, True


def _without_video(container: Any) -> str:
    if container.streams.video:
        return "no video: its only picture is cover art"
    if container.streams.audio:
        return "no video: it has sound only"
    return "no video stream"


def _words(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).strip().rstrip(".").lower()
