"""What the jobs of a run use on one video, counted by running them on a backbone that only counts.

Strategies, evidence conditions, checks of questions and the building of memories are the real ones, on the
real duration and size of the video; no picture is decoded and no model is called.
"""

from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.errors import UserError
from evoharness.evaluation import AnswerItem, Workbench, WorkbenchConfig, answer
from evoharness.evaluation.meter import MeteredBackbone
from evoharness.evolution.diagnosis import condition
from evoharness.evolution.estimating.counting import CountingBackbone
from evoharness.evolution.estimating.expectations import EXPECTED
from evoharness.evolution.estimating.load import Load
from evoharness.models.registry import LITELLM
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from evoharness.records.memory import VideoMemory
from evoharness.records.outcome import APPARATUS
from evoharness.records.question import Question, QuestionKind

if TYPE_CHECKING:
    from evoharness.harness import Harness
    from evoharness.memory import MemorySettings
    from evoharness.questioner import QuestionerSettings
    from evoharness.retrieval import Embedder
    from evoharness.solver import SolverLimits
    from evoharness.video import Video

SOURCE_S = 5.0
"""Seconds of the source interval of a generated question."""
QUESTION = "What does the small green circle at the left do right after the text in the middle is gone?"
OPTION = "it moves to the right"


class CountingBench(Workbench):
    """A workbench whose backbone counts; its memories are stand-ins of the usual size."""

    def __init__(self, config: WorkbenchConfig) -> None:
        super().__init__(config)
        self._memories: dict[str, VideoMemory] = {}

    @cached_property
    def embedder(self) -> "Embedder":
        """The one that comes with the package: it calls nobody."""
        from evoharness.retrieval import make_embedder

        return make_embedder("wordllama")

    @cached_property
    def backbone(self) -> MeteredBackbone:
        """Counts as the configured backbone does."""
        return MeteredBackbone(CountingBackbone(prompts=self.config.backbone == LITELLM))

    def memory(self, video: "Video") -> VideoMemory:
        """A memory of the usual size, made anew only for another video."""
        key = video.info.content_hash
        if key not in self._memories:
            before = self.backbone.take()
            self._memories[key] = stand_in_memory(video, self.backbone, self.settings)
            self.backbone.take()
            assert not before.paid, "what was used is taken before a memory is opened"
        return self._memories[key]

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

    def close(self) -> None:
        """End the sandbox that ran strategies."""
        self._bench.close()

    def duration(self, path: Path) -> float:
        """Seconds."""
        return self._bench.video(path).info.duration

    def remembering(self, path: Path, segment_s: float) -> Load:
        """Building the memory of a video in segments of that length."""
        stand_in_memory(self._bench.video(path), self._bench.backbone, self._bench.settings, segment_s)
        return self._taken()

    def answering(self, path: Path, question: Question | None = None) -> Load:
        """One answer of the harness; to a question of the usual sort, or to that one."""
        return self._answered(path, self._harness, question or self._question(path))

    def diagnosing(self, path: Path, wider_s: float | None) -> Load:
        """One answer under an evidence condition."""
        question = self._question(path)
        changed = condition(self._harness, question, self.duration(path), wider_s)
        return self._answered(path, changed, question)

    def checking_texts(self, path: Path) -> Load:
        """One question without evidence, and from its records."""
        from evoharness.questioner.checks import TextRequest, answer_texts

        records = tuple(Evidence(source="memory", text=OPTION) for _ in range(3))
        answer_texts(self._bench, (TextRequest(self._question(path).public(), records),))
        return self._taken()

    def looking_afresh(self, path: Path) -> Load:
        """The fresh look at the source of one question, and the answer from it."""
        from evoharness.questioner.checks import LookItem, LookRequest, look_afresh
        from evoharness.video import sample_times

        question, settings = self._question(path), self._questioner
        assert question.source_interval is not None
        span = question.source_interval.widened(settings.oracle_padding_s, self.duration(path))
        times = sample_times(span, settings.oracle_fps, settings.oracle_frame_cap)
        look_afresh(self._bench, LookItem(path, (LookRequest(question.public(), (span,), (tuple(times),)),)))
        return self._taken()

    def _question(self, path: Path) -> Question:
        duration = self.duration(path)
        start = max(0.0, (duration - SOURCE_S) / 2)
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
            source_interval=Interval(start=start, end=min(duration, start + SOURCE_S)),
        )

    def _answered(self, path: Path, harness: "Harness", question: Question) -> Load:
        duration = self.duration(path)
        if harness.route(duration).memory:
            self._bench.memory(self._bench.video(path))
        self._bench.answered.clear()
        (answered,) = answer(self._bench, AnswerItem(question.public(), path, (harness,), self._limits))
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
) -> VideoMemory:
    """A memory of segments of equal length: where scenes change is not known without looking."""
    from evoharness.memory import build_memory, pointing

    duration = video.info.duration
    count = max(1, round(duration / min(max(segment_s, settings.minimum_s), settings.maximum_s)))
    ends = [duration * number / count for number in range(count + 1)]
    spans = [Interval(start=start, end=end) for start, end in pairwise(ends)]
    return build_memory(video, backbone, settings, spans=spans, look=pointing)
