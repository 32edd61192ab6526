"""What a worker works with: a backbone, an embedder, a sandbox, and the videos and memories in use.

The config crosses to the workers, never the bench: every process builds its own, and each part only
when it is first asked for. A bench may serve several threads at once.
"""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.evaluation.kept import Kept, part
from evoharness.models.budget import Caps
from evoharness.models.settings import EmbedderTerms
from evoharness.records.base import Record
from evoharness.records.outcome import Answered
from evoharness.records.spend import Used

if TYPE_CHECKING:
    from evoharness.evaluation.meter import Meter, MeteredBackbone, MeteredCalls
    from evoharness.knowledge import KnowledgeBase
    from evoharness.memory import MemoryReader, MemoryStore
    from evoharness.models.backbone import Backbone
    from evoharness.records.memory import VideoMemory
    from evoharness.retrieval import Embedder
    from evoharness.retrieval.embedders.calls import Calls
    from evoharness.sandbox import SandboxBackend
    from evoharness.solver import SolverBench
    from evoharness.video import Video

VIDEOS_KEPT = 32
"""Videos and memories at hand: more than a worker has in use at a time."""
WAIT_WITHIN_TASK_S = 5.0
"""How long an embedder waits for room in the budget while a task of the backbone holds some for itself."""
ANSWERS_KEPT = 1000
"""Answers that a worker remembers for reuse."""


class WorkbenchConfig(Record):
    """Everything needed to build a workbench in another process."""

    cache_dir: Path
    """Folder of memories and model responses; shared by runs and by workers."""
    backbone: str = "embedded"
    """Name of the backbone."""
    backbone_options: dict[str, Any] = {}
    """Further arguments of that backbone; names of variables that hold keys, never keys."""
    budget: Caps = Caps()
    """What may be paid for in all, by all workers together."""
    budget_file: Path | None = None
    """Where they keep count of it; None: each for itself."""
    embedder: str = "wordllama"
    """Name of the embedder."""
    embedder_options: dict[str, Any] = {}
    """Further arguments of that embedder."""
    embedder_terms: EmbedderTerms = EmbedderTerms()
    """What calls of a hosted embedder cost, and how fast they may be made."""
    outage_s: float | None = None
    """How long a backbone that answers nobody is waited for before the work ends; None: it is not, and an
    answer that does not come is a matter of its question."""
    sandbox: str = "process"
    """Name of the sandbox backend."""
    allow_weaker_sandbox: bool = False
    """Run code even where it cannot be confined with Landlock and seccomp."""
    memory: dict[str, Any] = {}
    """Fields of `memory.MemorySettings` that differ from their defaults."""
    segments_at_once: int = 1
    """Segments that each worker has described at the same time; more than one only pays with a backbone that
    waits for a network."""
    knowledge: Path | None = None
    """File of passages that strategies may search; None: there is no knowledge base."""

    def build(self) -> "Workbench":
        """A workbench; nothing is loaded until it is used."""
        return Workbench(self)

    def make_embedder(self, calls: "Calls | None" = None) -> "Embedder":
        """The embedder that the config names. `calls`: how one makes its calls that is hosted."""
        from evoharness.retrieval import make_embedder

        hosted = {"calls": calls} if calls is not None else {}
        return make_embedder(self.embedder, cache_dir=self.cache_dir, **self.embedder_options, **hosted)

    def embedding_calls(self, meter: "Meter", note: Callable[[str], None]) -> "MeteredCalls | None":
        """Calls of the embedder, booked in the meter and within the budget; None: it is not hosted."""
        if not self.embeds_elsewhere:
            return None
        from evoharness.evaluation.meter import MeteredCalls
        from evoharness.models.budget import PATIENCE_S, Budget
        from evoharness.models.embedding import EmbeddingCalls
        from evoharness.models.registry import LITELLM
        from evoharness.retrieval.embedders.hosted import endpoint_of

        # A backbone that embeds while it does a task holds room for that: it would wait for itself.
        patience_s = PATIENCE_S if self.backbone == LITELLM else WAIT_WITHIN_TASK_S
        calls = EmbeddingCalls(
            endpoint_of(**self.embedder_options),
            self.embedder_terms,
            budget=Budget(self.budget_file, self.budget, patience_s) if self.keeps_books else None,
            limits_dir=self.cache_dir,
        )
        return MeteredCalls(calls, meter, self.outage_s, note)

    @property
    def embeds_elsewhere(self) -> bool:
        """Whether a provider is paid for vectors."""
        from evoharness.models.registry import LITELLM

        return self.embedder == LITELLM

    @property
    def keeps_books(self) -> bool:
        """Whether what is paid for is written down call by call, or has to stay within caps."""
        return bool(self.budget) or self.budget_file is not None


class Workbench:
    """The parts that jobs use, each built on first use and kept."""

    def __init__(self, config: WorkbenchConfig) -> None:
        from evoharness.evaluation.meter import Meter

        self.config = config
        self.assembling = threading.RLock()
        self.meter = Meter()
        """What jobs use."""
        self.note: Callable[[str], None] = lambda said: print(said, file=sys.stderr)
        """Tells the user something, in one line."""
        self.tell: Callable[[object], None] = lambda _: None
        """Tells whoever handed out the job how far it is."""
        self.stopping: Callable[[], bool] = lambda: False
        """Whether jobs are to end as soon as they can be taken up again where they ended."""
        self.answered: Kept[Answered] = Kept(ANSWERS_KEPT)
        """Recent answers by (behaviour, question, trial, limits), for harnesses that must answer alike."""
        self._videos: Kept[Video] = Kept(VIDEOS_KEPT)
        self._readers: Kept[MemoryReader] = Kept(VIDEOS_KEPT)

    @part
    def embedding_calls(self) -> "MeteredCalls | None":
        """Calls of a hosted embedder, metered and within the budget; None: it is none."""
        return self.config.embedding_calls(self.meter, lambda said: self.note(said))

    @part
    def embedder(self) -> "Embedder":
        """Turns texts into vectors."""
        return self.config.make_embedder(self.embedding_calls)

    @part
    def backbone(self) -> "MeteredBackbone":
        """The frozen model, metered and within the budget."""
        from evoharness.evaluation.meter import MeteredBackbone
        from evoharness.models.registry import LITELLM

        config, backbone = self.config, self.make_backbone()
        # That one keeps the books itself, call by call. Others have to when somebody else does.
        books = config.budget or (config.embeds_elsewhere and config.keeps_books)
        if books and config.backbone != LITELLM:
            from evoharness.models.budget import Budget
            from evoharness.models.budgeted import BudgetedBackbone

            free = config.backbone.startswith("embedded")
            backbone = BudgetedBackbone(backbone, Budget(config.budget_file, config.budget), free)
        return MeteredBackbone(backbone, config.outage_s, lambda said: self.note(said), self.meter)

    def make_backbone(self) -> "Backbone":
        """The frozen model that the config names."""
        from evoharness.models.registry import make_backbone

        config = self.config
        return make_backbone(
            config.backbone, embedder=self.embedder, cache_dir=config.cache_dir, **config.backbone_options
        )

    def take_used(self) -> Used:
        """What this thread used of the models since it last asked."""
        return self.meter.take()

    @property
    def waited_s(self) -> float:
        """How long this thread has waited for providers that answered nobody."""
        calls = self.embedding_calls
        return self.backbone.waited_s + (calls.waited_s if calls is not None else 0.0)

    @part
    def sandbox(self) -> "SandboxBackend":
        """Runs strategies and tools."""
        from evoharness.sandbox import make_sandbox

        return make_sandbox(self.config.sandbox, self.config.allow_weaker_sandbox)

    @part
    def memories(self) -> "MemoryStore":
        """The memories on disk."""
        from evoharness.memory import MemorySettings, MemoryStore

        at_once = self.config.segments_at_once
        if at_once > 1:
            from evoharness.evaluation.imports import import_for_jobs

            import_for_jobs(self.config.backbone.startswith("embedded"))
        settings = MemorySettings(**self.config.memory)
        return MemoryStore(self.config.cache_dir, self.backbone, settings, at_once)

    def video(self, path: Path) -> "Video":
        """The video in that file; the most recent ones stay open."""
        from evoharness.video import Video

        return self._videos.get(str(path), lambda: Video(path))

    def memory(
        self,
        video: "Video",
        on_segment: Callable[[int, int], None] | None = None,
        retry: bool = False,
        stopping: Callable[[], bool] | None = None,
    ) -> "VideoMemory":
        """The memory of a video: from the cache, or built now; see `MemoryStore.load_or_build`."""
        return self.memories.load_or_build(video, on_segment, retry, stopping)

    def reader(self, video: "Video") -> "MemoryReader":
        """The read operations on a video's memory."""
        from evoharness.memory import MemoryReader

        def opened() -> "MemoryReader":
            return MemoryReader(self.memory(video), self.embedder, self.memories.folder(video) / "index")

        return self._readers.get(video.info.content_hash, opened)

    @part
    def knowledge(self) -> "KnowledgeBase | None":
        """The passages of the config's file; None when it names none."""
        if self.config.knowledge is None:
            return None
        from evoharness.knowledge import KnowledgeBase, load_passages

        passages = load_passages(self.config.knowledge)
        return KnowledgeBase(passages, self.embedder, self.config.cache_dir / "knowledge")

    @part
    def solver_bench(self) -> "SolverBench":
        """The same parts, as the Solver takes them."""
        from evoharness.solver import SolverBench

        return SolverBench(
            backbone=self.backbone,
            embedder=self.embedder,
            sandbox=self.sandbox,
            memory=self.reader,
            knowledge=self.knowledge,
        )

    def prepare(self) -> None:
        """Import and build everything that jobs use, before there are threads that would do so at once.

        CPython 3.11 counts the depth of syntax trees for all threads together, and reading the documentation
        of records is one of the many places where an import parses.
        """
        from evoharness.evaluation.imports import import_for_jobs

        import_for_jobs(self.config.backbone.startswith("embedded"))
        for each in (self.solver_bench, self.memories):
            assert each is not None

    def close(self) -> None:
        """End the sandbox, if it was started, and let go of the videos."""
        if "sandbox" in self.__dict__:
            self.sandbox.close()
        self._videos.clear()
        self._readers.clear()
