"""Opening a file with PyAV and going through its packets, also when it is damaged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

ERRORS_IN_A_ROW = 20
"""After so many failures without a packet between them, the rest of a file is given up."""

STALL_S = 60.0
"""After so many seconds without a result the reading of a container is broken off."""


def open_container(path: Path) -> Any:
    """The PyAV container of a local file, whatever its name looks like."""
    import av

    # "file:" keeps a name such as "a:b.mp4" from being taken for a protocol.
    return av.open(f"file:{path}", mode="r", metadata_errors="replace", timeout=STALL_S)


def pick_stream(container: Any) -> Any | None:
    """The video stream that is meant: cover art and other attached pictures are none."""
    import av

    pictures = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails
    streams = [
        s for s in container.streams.video if not s.disposition & pictures and s.codec_context is not None
    ]
    preferred = [s for s in streams if s.disposition & av.stream.Disposition.default]
    return next(iter(preferred + streams), None)


def damage() -> tuple[type[Exception], ...]:
    """What PyAV raises when a file is damaged (IndexError: a stream that the header did not announce)."""
    import av

    return av.error.FFmpegError, EOFError, IndexError


def stalled() -> type[Exception]:
    """What PyAV raises when `STALL_S` have passed."""
    import av

    stop: type[Exception] = av.error.ExitError
    return stop


def beyond_opening() -> tuple[type[Exception], ...]:
    """What opening a file raises besides: it is not there, or may not be read."""
    return *damage(), OSError


def packets_of(container: Any, stream: Any, complaints: list[str] | None = None) -> Iterator[Any]:
    """Packets with content, in the order of the file; reads on behind damage, and ends instead of raising.

    What was wrong is added to `complaints`.
    """
    stop, broken = stalled(), damage()  # looked up now: at the end of the process nothing can be imported
    failures = 0
    while failures <= ERRORS_IN_A_ROW:
        try:
            for packet in container.demux(stream):
                if packet.size:
                    failures = 0
                    yield packet
            return
        except stop:
            if complaints is not None:
                complaints.append(f"nothing came for {STALL_S:.0f} s")
            return
        except broken as error:
            failures += 1
            if complaints is not None:
                complaints.append(str(error))


MOST_PIXELS = 2**27
"""A picture with more (16384 x 8192) is a damaged header, and would take gigabytes."""


def limit_pictures(codec_context: Any) -> None:
    """Refuse pictures of more than `MOST_PIXELS`, before the decoder is opened."""
    codec_context.options = {**codec_context.options, "max_pixels": str(MOST_PIXELS)}
