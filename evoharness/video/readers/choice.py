"""Which reader is right for a file."""

import importlib.util
from dataclasses import dataclass
from functools import cache

DECORD = "decord"
PYAV = "pyav"

DECORD_CODECS = frozenset({"h264"})
"""Codecs of which decord gives the right pictures, bit for bit those of PyAV.

Of HEVC and MPEG-4 it gives neighbours of some pictures after a seek; AV1 it does not know.
"""
DECORD_FORMATS = frozenset({"yuv420p"})
"""Pixel formats of which it does; 10 bits it rounds otherwise."""
DECORD_CONTAINERS = frozenset({"mov", "matroska"})
"""Containers of which it finds every picture again after a seek."""


@dataclass(frozen=True)
class Nature:
    """What a probe found that a reader may get wrong."""

    codec: str
    pixel_format: str
    container: str
    """FFmpeg's name of the container, the first one of several."""
    damage: str = ""
    """What is damaged, in a few words; empty: nothing was found."""
    rotation: int = 0
    mirrored: bool = False
    odd_pixels: bool = False
    """Whether pixels are not square."""
    interlaced: bool = False
    starts_late: bool = False
    """Whether the first picture is not at time 0 of the container."""
    counted: bool = False
    """Whether there are no times of presentation."""
    cut_away: int = 0
    """Pictures that an edit list leaves out."""
    miscounted: bool = False
    """Whether the header tells another number of pictures than there are."""
    open_keys: bool = False
    """Whether some key frames are followed by pictures that are built from earlier ones."""
    headless: bool = False
    """Whether it begins between two key frames."""
    endless: bool = False
    """Whether the header does not tell how long the file is."""
    streams: int = 1
    """Streams with moving pictures in the file."""

    @property
    def sound(self) -> bool:
        """Whether no damage was found."""
        return not self.damage


def choose_reader(nature: Nature) -> tuple[str, str]:
    """Name of the reader of a file, and why it is that one.

    decord where it is installed and nothing was found that it gets wrong, else PyAV. Where decord is right,
    both give the same pixels, bit for bit, so that a request can go to either.
    """
    objection = against_decord(nature)
    if objection:
        return PYAV, f"PyAV: {objection}"
    return DECORD, (
        f"decord: {nature.codec} {nature.pixel_format} in {nature.container} and nothing found that it gets"
        " wrong; PyAV takes the requests that it answers with less decoding"
    )


def against_decord(nature: Nature) -> str:
    """What speaks against decord for a file, in a few words; empty when nothing does."""
    found = (
        (nature.damage, f"the file is damaged ({nature.damage})"),
        (nature.counted, "the file does not tell when its pictures are shown"),
        (nature.rotation or nature.mirrored, "the picture is turned or mirrored for display"),
        (nature.odd_pixels, "its pixels are not square"),
        (nature.interlaced, "it is interlaced"),
        (nature.starts_late, "its first picture is not at time 0"),
        (nature.cut_away, "an edit list cuts pictures away"),
        (nature.miscounted, "the header tells another number of pictures than there are"),
        (nature.open_keys, "some of its key frames are no clean start"),
        (nature.headless, "it begins between two key frames"),
        (nature.endless, "its header does not tell how long it is"),
        (nature.streams > 1, "it has more than one video stream"),
        (nature.codec not in DECORD_CODECS, f"decord is not trusted with {nature.codec}"),
        (
            nature.pixel_format not in DECORD_FORMATS,
            f"decord is not trusted with pixels of kind {nature.pixel_format}",
        ),
        (
            nature.container not in DECORD_CONTAINERS,
            f"decord is not trusted with {nature.container} containers",
        ),
        (not decord_is_there(), "decord is not installed"),
    )
    return next((reason for applies, reason in found if applies), "")


@cache
def decord_is_there() -> bool:
    """Whether decord is installed; it is not imported here, for that may end badly in itself."""
    return importlib.util.find_spec("decord") is not None
