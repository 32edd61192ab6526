"""Frames as encoded pictures, within the pixels and bytes that a model takes.

A picture is never made larger. When pictures together are too many bytes, they are encoded more coarsely
first and thinned evenly then.
"""

import base64
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from evoharness.models.hosted.profiles import Profile
from evoharness.records.frame import Frame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ImageFormat = Literal["jpeg", "png"]
QUALITIES = (90, 75, 60)
"""JPEG qualities, the usual one first; the others are for when bytes are short."""
KEPT_BYTES = 64_000_000
"""Encoded pictures that are kept, for frames that are looked at again."""
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Picture:
    """An encoded picture."""

    data: bytes
    mime: str

    @property
    def url(self) -> str:
        """The picture as a `data:` address."""
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode()}"

    @property
    def sent_bytes(self) -> int:
        """Its size in a request."""
        return 4 * ((len(self.data) + 2) // 3)


def thinned(items: Sequence[Item], count: int) -> list[Item]:
    """`count` of the items, evenly, with the first and the last; all of them when there are no more."""
    if count >= len(items):
        return list(items)
    if count <= 1:
        return list(items[len(items) // 2 :][:count])
    return [items[round(k * (len(items) - 1) / (count - 1))] for k in range(count)]


class Encoder:
    """Encodes frames, and keeps what it encoded last; may be used from many threads."""

    def __init__(self, image_format: ImageFormat = "jpeg", kept_bytes: int = KEPT_BYTES) -> None:
        self._format = image_format
        self._kept_bytes = kept_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, int], Picture] = OrderedDict()
        self._size = 0

    def within(self, frames: Sequence[Frame], profile: Profile) -> list[Picture] | int:
        """One picture for each frame; or, when their bytes are too many, how many frames would do."""
        pictures = [self._within_one(picture, profile) for picture in self._encoded(frames, profile.max_side)]
        budget = profile.max_request_bytes
        for quality in QUALITIES[1:]:
            if sum(picture.sent_bytes for picture in pictures) <= budget or self._format == "png":
                break
            pictures = [recoded(picture, quality) for picture in pictures]
        total = sum(picture.sent_bytes for picture in pictures)
        if total <= budget:
            return pictures
        return min(len(frames) - 1, int(len(frames) * budget / total))

    def _within_one(self, picture: Picture, profile: Profile) -> Picture:
        for quality in (*QUALITIES[1:], 40):
            if len(picture.data) <= profile.max_image_bytes:
                break
            picture = recoded(picture, quality)
        while len(picture.data) > profile.max_image_bytes:
            picture = recoded(picture, QUALITIES[-1], scale=0.7)
        return picture

    def _encoded(self, frames: Sequence[Frame], max_side: int) -> list[Picture]:
        found: list[Picture | None] = []
        with self._lock:
            for frame in frames:
                picture = self._kept.get((frame.key, frame.width, max_side))
                if picture is not None:
                    self._kept.move_to_end((frame.key, frame.width, max_side))
                found.append(picture)
        missing = [at for at, picture in enumerate(found) if picture is None]
        pixels = pixels_of([frames[at] for at in missing])
        for at, image in zip(missing, pixels, strict=True):
            found[at] = picture = encode(image, self._format, max_side)
            self._keep((frames[at].key, frames[at].width, max_side), picture)
        return [picture for picture in found if picture is not None]

    def _keep(self, key: tuple[str, int, int], picture: Picture) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = picture
                self._size += len(picture.data)
            while self._size > self._kept_bytes and self._kept:
                self._size -= len(self._kept.popitem(last=False)[1].data)


def pixels_of(frames: Sequence[Frame]) -> "Iterator[NDArray[np.uint8]]":
    """RGB arrays (height, width, 3) of frames, in their order."""
    for _, run in groupby(frames, key=lambda frame: id(frame.source)):
        of_source = list(run)
        yield from of_source[0].source.pixels(of_source)


def encode(image: "NDArray[np.uint8]", image_format: ImageFormat, max_side: int) -> Picture:
    """An RGB array as a picture, made smaller when a side is longer than `max_side`."""
    import cv2

    height, width = image.shape[:2]
    if max(height, width) > max_side:
        scale = max_side / max(height, width)
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return _written(cv2.cvtColor(image, cv2.COLOR_RGB2BGR), image_format, QUALITIES[0])


def recoded(picture: Picture, quality: int, scale: float = 1.0) -> Picture:
    """A picture as a JPEG of that quality, and smaller when `scale` is below 1."""
    import cv2
    import numpy as np

    image: Any = cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)
    if scale < 1.0:
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return _written(image, "jpeg", quality)


def _written(image: Any, image_format: ImageFormat, quality: int) -> Picture:
    import cv2

    if image_format == "png":
        ok, data = cv2.imencode(".png", image)
    else:
        # Colour at full resolution: small coloured letters and shapes are what questions ask about.
        sampling = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
        ok, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality, *sampling])
    if not ok:
        raise ValueError(f"an image of shape {image.shape} cannot be encoded as {image_format}")
    return Picture(data.tobytes(), f"image/{image_format}")
