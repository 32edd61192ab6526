"""What a Solver works with, and what it may use for one question."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoharness.records.base import Record

if TYPE_CHECKING:
    from evoharness.knowledge import KnowledgeBase
    from evoharness.memory import MemoryReader
    from evoharness.models.backbone import Backbone
    from evoharness.retrieval import Embedder
    from evoharness.sandbox import SandboxBackend
    from evoharness.video import Video


@dataclass(frozen=True)
class SolverBench:
    """The parts that are the same for every question."""

    backbone: "Backbone"
    embedder: "Embedder"
    sandbox: "SandboxBackend"
    memory: "Callable[[Video], MemoryReader]"
    """Gives the memory of a video; called only on routes that declare `memory: true`."""
    knowledge: "KnowledgeBase | None" = None
    """General knowledge that strategies may search; None: there is none."""


class SolverLimits(Record):
    """What one question may use; one call more ends it with the status `over_limit`."""

    frames: int = 4000
    """Frames shown to the backbone."""
    calls: int = 60
    """Calls of the backbone."""
    seconds: float = 600.0
    """Wall time."""
