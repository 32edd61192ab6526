"""What a probe learns about a video file."""

from evoharness.records.base import Record


class VideoInfo(Record):
    """Facts about one readable video file."""

    path: str
    """Where the file lies."""
    content_hash: str
    """Identity of the content, whatever the file is called (hexadecimal)."""
    duration: float
    """Seconds from the first frame to the end of the last."""
    width: int
    """Pixels across as displayed: rotation and sample aspect applied."""
    height: int
    """Pixels down as displayed."""
    frames: int
    """Pictures found in the packet index."""
    rotation: int
    """Degrees, clockwise, by which the stored picture is turned for display: 0, 90, 180 or 270."""
    codec: str
    """Name of the video codec."""
    reader: str
    """Which reader decodes the file."""
    reader_reason: str
    """Why that reader was chosen."""
    warnings: tuple[str, ...] = ()
    """What is odd about the file, one clear line each."""
