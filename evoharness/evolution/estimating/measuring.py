"""What the jobs of a run use on one video, counted by running them on a backbone that only counts.

Strategies, evidence conditions, checks of questions and the building of memories are the real ones, on the
real duration and size of the video; no model is called, and of some videos a few pictures are decoded, to
see how many of them a memory would leave out.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.errors import UserError
from evoharness.evaluation import AnswerItem, Workbench, WorkbenchConfig, answer
from evoharness.evaluation.meter import MeteredBackbone
from evoharness.evolution.diagnosis import condition
from evoharness.evolution.estimating.chances import Sighting
from evoharness.evolution.estimating.counting import CountingBackbone
from evoharness.evolution.estimating.expectations import EXPECTED
from evoharness.evolution.estimating.load import Amount, Load
from evoharness.evolution.estimating.repeats import Repeats, Thinned
from evoharness.models.embedding import EMBEDDER
from evoharness.models.registry import LITELLM
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from evoharness.records.memory import VideoMemory
from evoharness.records.outcome import APPARATUS
from evoharness.records.question import Question, QuestionKind

if TYPE_CHECKING:
    from evoharness.evolution.estimating.embedding import CountingEmbedder
    from evoharness.harness import Harness
    from evoharness.memory import MemoryReader, MemorySettings
    from evoharness.questioner import QuestionerSettings
    from evoharness.retrieval import Embedder
    from evoharness.solver import SolverLimits
    from evoharness.video import Video

QUESTION = "What does the small green circle at the left do right after the text in the middle is gone?"
OPTION = "it moves to the right"


@dataclass(frozen=True)
class Changed:
    """What an answer of a changed harness takes, where the incumbent has answered before."""

    paid: Load
    """What is paid: not what the response cache knows from the incumbent."""
    full: Load
    """All of it: what is paid where nobody has answered before, and what is compared with limits."""


class CountingBench(Workbench):
    """A workbench whose backbone counts; its memories are stand-ins of the usual size."""

    def __init__(self, config: WorkbenchConfig) -> None:
        super().__init__(config)
        hosted = config.backbone == LITELLM
        self.counting = CountingBackbone(
            prompts=hosted, kept=hosted and config.backbone_options.get("cache", "on") == "on"
        )
        self._memories: dict[str, VideoMemory] = {}
        self._indexed: dict[str, Load] = {}

    @cached_property
    def embedder(self) -> "Embedder":
        """The one that comes with the package, which calls nobody; where a provider would be, it counts."""
        from evoharness.retrieval import make_embedder

        return self._embeddings or make_embedder("wordllama")

    @cached_property
    def _embeddings(self) -> "CountingEmbedder | None":
        if not self.config.embeds_elsewhere:
            return None
        from evoharness.evolution.estimating.embedding import CountingEmbedder
        from evoharness.retrieval import make_embedder
        from evoharness.retrieval.embedders.hosted import BATCH

        batch = self.config.embedder_options.get("batch", BATCH)
        return CountingEmbedder(make_embedder("wordllama"), self.meter, batch)

    @cached_property
    def backbone(self) -> MeteredBackbone:
        """Counts as the configured backbone does."""
        return MeteredBackbone(self.counting, meter=self.meter)

    def forget(self) -> None:
        """Empty the caches of answers and vectors: what comes next is about another question."""
        self.counting.forget()
        if self._embeddings is not None:
            self._embeddings.forget()

    def memory(
        self,
        video: "Video",
        on_segment: Callable[[int, int], None] | None = None,  # noqa: ARG002
        retry: bool = True,  # noqa: ARG002
        stopping: Callable[[], bool] | None = None,  # noqa: ARG002
    ) -> VideoMemory:
        """A memory of the usual size, made anew only for another video."""
        key = video.info.content_hash
        if key not in self._memories:
            before = self.backbone.take()
            self._memories[key] = stand_in_memory(video, self.backbone, self.settings)
            self.backbone.take()
            assert not before.paid, "what was used is taken before a memory is opened"
        return self._memories[key]

    def reader(self, video: "Video") -> "MemoryReader":
        """The read operations on a stand-in; its indexes are made with it, and kept nowhere."""
        from evoharness.memory import MemoryReader

        def opened() -> MemoryReader:
            reader = MemoryReader(self.memory(video), self.embedder)
            before = self.backbone.take()
            for search in (reader.search_nodes, reader.search_segments, reader.search_texts):
                search(OPTION, 1)
            self._indexed[video.info.content_hash] = Load.of(self.backbone.take().paid)
            assert not before.paid, "what was used is taken before a memory is opened"
            return reader

        return self._readers.get(video.info.content_hash, opened)

    def indexing(self, video: "Video") -> Load:
        """What the indexes of a memory take, where it is searched."""
        self.reader(video)
        return self._indexed[video.info.content_hash]

    @property
    def settings(self) -> "MemorySettings":
        """How memories are built."""
        from evoharness.memory import MemorySettings

        return MemorySettings(**self.config.memory)


class Measuring:
    """Loads of single jobs of a run."""

    def __init__(
        self,
        config: WorkbenchConfig,
        harness: "Harness",
        limits: "SolverLimits",
        questioner: "QuestionerSettings",
    ) -> None:
        self._bench = CountingBench(config)
        self._harness = harness
        self._limits = limits
        self._questioner = questioner
        self._repeats = Repeats(self._bench.settings)

    def close(self) -> None:
        """End the sandbox that ran strategies."""
        self._bench.close()

    @property
    def kept(self) -> bool:
        """Whether answers that were paid for are kept, and not paid again."""
        return self._bench.counting.kept

    def duration(self, path: Path) -> float:
        """Seconds."""
        return self._bench.video(path).info.duration

    def sighting(self, path: Path, shown: float, preferred: float = 1.0) -> Sighting:
        """What an answer is made from, when it shows so many frames; `preferred` as in `Sighting`."""
        from evoharness.records.frame import Detail
        from evoharness.video import fit

        info, settings = self._bench.video(path).info, self._bench.settings
        remembered = self._harness.route(info.duration).memory
        detail = settings.detail if remembered else Detail(self._harness.parameters.overview_detail)
        sizes = [fit(info.width, info.height, level) for level in (detail, Detail.NORMAL)]
        seen, usual = (width * height for width, height in sizes)
        return Sighting(
            gap_s=1 / settings.fps if remembered else info.duration / max(1.0, shown),
            seconds=info.duration,
            shrunk=max(0.0, 1 - math.sqrt(seen / usual)),
            preferred=preferred,
        )

    def look_at(self, paths: Sequence[Path]) -> None:
        """Look at some of the videos whose memories will be counted."""
        self._repeats.look_at(paths)

    def remembering(self, path: Path, segment_s: float) -> Load:
        """Building the memory of a video in segments of that length."""
        self._bench.forget()
        stand_in_memory(
            self._bench.video(path),
            self._bench.backbone,
            self._bench.settings,
            segment_s,
            self._repeats.share(path),
        )
        load = self._taken()
        if self._bench.config.embeds_elsewhere and self._harness.route(self.duration(path)).memory:
            load += self._bench.indexing(self._bench.video(path))
        return load

    def answering(self, path: Path, question: Question | None = None) -> Load:
        """One answer of the harness; to a question of the usual sort, or to that one."""
        self._bench.forget()
        return self._answered(path, self._harness, question or self._question(path))

    def repeating(self, path: Path) -> Load:
        """An answer of the harness to a question that it has answered before, in another trial."""
        self.answering(path)
        return self._answered(path, self._harness, self._question(path), trial=1)

    def changing(self, path: Path, harness: "Harness", sure: bool) -> Changed:
        """One answer of a harness to a question that this one has answered; `sure`: of that answer."""
        counting, question = self._bench.counting, self._question(path)
        counting.sure = sure
        try:
            self._bench.forget()
            full = self._answered(path, harness, question)
            if not counting.kept and not self._bench.config.embeds_elsewhere:
                return Changed(paid=full, full=full)
            self.answering(path)
            again = self._answered(path, harness, question)
            if counting.kept:
                return Changed(paid=again, full=full)
            vectors = again.roles.get(EMBEDDER, Amount())  # these are kept all the same
            return Changed(paid=Load({**full.roles, EMBEDDER: vectors}), full=full)
        finally:
            counting.sure = False

    def diagnosing(self, path: Path, wider_s: float | None) -> Load:
        """One answer under an evidence condition; under the wider one after that under the narrow one."""
        question, duration = self._question(path), self.duration(path)
        self._bench.forget()
        load = self._answered(path, condition(self._harness, question, duration, None), question)
        if wider_s is None:
            return load
        return self._answered(path, condition(self._harness, question, duration, wider_s), question)

    def comparing(self, path: Path, questions: int) -> Load:
        """So many questions about a video, held against each other."""
        self._bench.forget()
        seconds = self.duration(path)
        self._bench.embedder.embed(
            [f"{QUESTION} {number} of {seconds} {OPTION}" for number in range(questions)]
        )
        return self._taken()

    def checking_texts(self, path: Path) -> Load:
        """One question without evidence, and from its records."""
        from evoharness.questioner.checks import TextRequest, answer_texts

        self._bench.forget()
        records = tuple(Evidence(source="memory", text=OPTION) for _ in range(3))
        answer_texts(self._bench, (TextRequest(self._question(path).public(), records),))
        return self._taken()

    def looking_afresh(self, path: Path, source_s: float) -> Load:
        """The fresh look at a source of that length, and the answer from it."""
        from evoharness.questioner.checks import LookItem, LookRequest, look_afresh
        from evoharness.video import sample_times

        self._bench.forget()
        question, settings = self._question(path, source_s), self._questioner
        assert question.source_interval is not None
        span = question.source_interval.widened(settings.oracle_padding_s, self.duration(path))
        times = sample_times(span, settings.oracle_fps, settings.oracle_frame_cap)
        look_afresh(self._bench, LookItem(path, (LookRequest(question.public(), (span,), (tuple(times),)),)))
        return self._taken()

    def _question(self, path: Path, source_s: float = EXPECTED.source_s) -> Question:
        duration = self.duration(path)
        start = max(0.0, (duration - source_s) / 2)
        return Question(
            id="usual",
            video=path.stem,
            kind=QuestionKind.ACTIONS_EVENTS,
            form="usual",
            text=QUESTION,
            options=tuple(f"{OPTION} {number}" for number in range(self._questioner.options)),
            answer=0,
            reference_text=OPTION,
            source_segments=("s0000",),
            source_interval=Interval(start=start, end=min(duration, start + source_s)),
        )

    def _answered(self, path: Path, harness: "Harness", question: Question, trial: int = 0) -> Load:
        duration = self.duration(path)
        if harness.route(duration).memory:
            self._bench.reader(self._bench.video(path))
        self._bench.answered.clear()
        (answered,) = answer(
            self._bench, AnswerItem(question.public(), path, (harness,), self._limits, trial)
        )
        if answered.status == APPARATUS:
            raise UserError(f"an answer about {path} cannot be counted: {answered.message}")
        return self._taken()

    def _taken(self) -> Load:
        return Load.of(self._bench.backbone.take().paid)


def stand_in_memory(
    video: "Video",
    backbone: MeteredBackbone,
    settings: "MemorySettings",
    segment_s: float = EXPECTED.segment_s,
    repeats: float = 0.0,
) -> VideoMemory:
    """A memory of segments of equal length: where scenes change is not known without looking.

    `repeats`: share of the pictures that the describer is spared.
    """
    from evoharness.memory import build_memory

    duration = video.info.duration
    count = max(1, round(duration / min(max(segment_s, settings.minimum_s), settings.maximum_s)))
    ends = [duration * number / count for number in range(count + 1)]
    spans = [Interval(start=start, end=end) for start, end in pairwise(ends)]
    return build_memory(video, backbone, settings, spans=spans, look=Thinned(repeats))
