"""How a memory is built: every choice that changes what comes out."""

import hashlib
from typing import Literal

from evoharness.records.frame import Detail
from evoharness.records.memory import MEMORY_SCHEMA
from evoharness.video import SceneSettings

BUILDER_VERSION = 2
"""Raised when the builder makes something else of the same descriptions."""


class MemorySettings(SceneSettings):
    """Segmentation and description (Table 6, memory construction)."""

    fps: float = 0.5
    """Rate at which a segment is shown to the describer, at scattered times (see `scattered_times`)."""
    frame_cap: int = 250
    """The most frames of a segment."""
    detail: Detail = Detail.LARGE
    """Pixels of a frame that is shown to the describer."""
    transcript: Literal["off", "sidecar"] = "off"
    """`sidecar`: what the `.srt` beside a video says is given to the describer and kept."""

    def fingerprint(self, backbone_id: str) -> str:
        """Identity of the builder: settings, version and describer (hexadecimal)."""
        told = f"{BUILDER_VERSION} {MEMORY_SCHEMA} {backbone_id} {self.model_dump_json()}"
        return hashlib.sha256(told.encode()).hexdigest()
