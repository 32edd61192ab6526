"""Small pictures of a video, kept beside its memory for people to look at; no model sees them."""

from pathlib import Path

from evoharness.records.base import Record
from evoharness.records.storage import write_atomically

THUMBNAILS_FILE = "thumbnails.json"


class Picture(Record):
    """A small picture."""

    time: float
    """Seconds from the start of the video."""
    jpeg: str
    """The file, as base64."""


class Thumbnails(Record):
    """Small pictures of one video."""

    segments: dict[str, tuple[Picture, ...]] = {}
    """Segment id → some of its pictures, in order of time."""


def save_thumbnails(folder: Path, thumbnails: Thumbnails) -> None:
    """Write them beside the memory in that folder."""
    write_atomically(folder / THUMBNAILS_FILE, thumbnails.model_dump_json())


def load_thumbnails(folder: Path) -> Thumbnails | None:
    """Those beside the memory in that folder; None when there are none that can be read."""
    try:
        return Thumbnails.model_validate_json((folder / THUMBNAILS_FILE).read_bytes())
    except (OSError, ValueError):
        return None
