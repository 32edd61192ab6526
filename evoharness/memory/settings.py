"""How a memory is built: every choice that changes what comes out."""

import hashlib

from evoharness.memory.transcripts import TranscriptSource
from evoharness.records.frame import Detail
from evoharness.records.memory import MEMORY_SCHEMA
from evoharness.video import SceneSettings

BUILDER_VERSION = 3
"""Raised when the builder makes something else of the same descriptions."""


TRANSCRIPT_VERSION = 2
"""Raised when captions are read otherwise."""


class MemorySettings(SceneSettings):
    """Segmentation and description (Table 6, memory construction)."""

    fps: float = 0.5
    """Rate at which a segment is shown to the describer, at scattered times (see `scattered_times`)."""
    frame_cap: int = 250
    """The most frames of a segment."""
    detail: Detail = Detail.LARGE
    """Pixels of a frame that is shown to the describer."""
    transcript: TranscriptSource = "off"
    """Where what is said is taken from, to be given to the describer and kept. sidecar: the `.srt` or `.vtt`
    beside a video; stream: subtitles in the file; auto: the first of these that is there; model: the
    backbone's transcriber listens."""

    def fingerprint(self, backbone_id: str) -> str:
        """Identity of the builder: settings, version and describer (hexadecimal)."""
        told = f"{BUILDER_VERSION} {MEMORY_SCHEMA} {backbone_id} {self.model_dump_json()}"
        if self.transcript != "off":
            told += f" {TRANSCRIPT_VERSION}"
        return hashlib.sha256(told.encode()).hexdigest()
