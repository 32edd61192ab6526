"""Every picture of a file as plain PyAV decodes it, for comparison."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoharness.video.container import open_container, pick_stream


def every_picture(path: Path) -> dict[int, NDArray[np.uint8]]:
    """Plain PyAV, every picture decoded in order, by presentation stamp."""
    import av

    pictures = {}
    with open_container(path) as container:
        stream: Any = pick_stream(container)
        stream.codec_context.thread_count = 1
        for packet in container.demux(stream):
            try:
                decoded = packet.decode()
            except av.error.FFmpegError:
                continue
            for picture in decoded:
                turned = np.rot90(picture.to_ndarray(format="rgb24"), round(picture.rotation / 90))
                pictures[picture.pts] = np.ascontiguousarray(turned)
    return pictures


def pictures_in_order(path: Path) -> list[NDArray[np.uint8]]:
    """Plain PyAV, every picture decoded, upright, in the order in which they come; only what is shown."""
    pictures = []
    with open_container(path) as container:
        stream: Any = pick_stream(container)
        for picture in container.decode(stream):
            turned = np.rot90(picture.to_ndarray(format="rgb24"), round(picture.rotation / 90))
            pictures.append(np.ascontiguousarray(turned))
    return pictures
