"""Pictures as they arrive in a request: encoded, in `data:` addresses."""

import base64
import hashlib
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evoharness.records.frame import Frame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SentPictures:
    """A `FrameSource` over encoded pictures; decodes them when their pixels are asked for."""

    def __init__(
        self, urls: Sequence[str], times: Sequence[float], untils: Sequence[float | None] | None = None
    ) -> None:
        """`times`: that of each picture, in seconds of the video; `untils`: when each was last the same."""
        self._data = [data_of(url) for url in urls]
        self._times = list(times)
        self._untils = list(untils) if untils is not None else [None] * len(self._times)
        digest = hashlib.sha256(repr(self._times).encode())
        for data in self._data:
            digest.update(hashlib.sha256(data).digest())
        # The pictures of one request are perceived together, as one recording: what was seen in another
        # request does not bear on it, in whatever order requests come.
        self._name = digest.hexdigest()

    def frames(self, box: tuple[float, float, float, float] | None = None) -> tuple[Frame, ...]:
        """One frame a picture, in order."""
        sized = zip(self._times, self._untils, map(size_of, self._data), strict=True)
        return tuple(
            Frame(f"{self._name}:{number}:{width}x{height}", time, width, height, self, box, until)
            for number, (time, until, (width, height)) in enumerate(sized)
        )

    def pixels(self, frames: Sequence[Frame]) -> "Iterator[NDArray[np.uint8]]":
        """See `FrameSource`."""
        for frame in frames:
            yield decoded(self._data[int(frame.key.split(":")[1])])


def data_of(url: str) -> bytes:
    """The bytes of an image in a `data:` address; ValueError for any other address."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        raise ValueError(f"no picture as data: {head[:60]!r}")
    return base64.b64decode(data, validate=True)


def size_of(data: bytes) -> tuple[int, int]:
    """Width and height, from the head of the file."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return image.size


def decoded(data: bytes) -> "NDArray[np.uint8]":
    """RGB, shape (height, width, 3)."""
    import cv2
    import numpy as np

    image: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError("a picture that cannot be decoded")
    rgb: NDArray[np.uint8] = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
    return rgb
