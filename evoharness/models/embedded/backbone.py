"""A backbone without a model: OCR, colour, shape and motion to perceive, matching of evidence to answer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from evoharness.models.backbone import Reply, UnsupportedTask
from evoharness.models.perception_tasks import (
    DescribeFrame,
    DescribeSegment,
    InspectFrames,
    LocalizeEvent,
    SegmentDescription,
)
from evoharness.models.reasoning_tasks import (
    AnswerQuestion,
    ChooseAction,
    Reason,
    SummarizeSegments,
    SummarizeVideo,
    VerifyClaim,
)
from evoharness.models.sizes import CHARACTERS_A_TOKEN, characters_of, frames_of
from evoharness.models.task import Output, Task
from evoharness.records.evidence import Evidence
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend

if TYPE_CHECKING:
    from evoharness.models.embedded.looking import Looker
    from evoharness.retrieval import Embedder

PERCEPT_FILE = "percepts.sqlite"
"""Name of the file with percepts in the cache folder."""


class EmbeddedBackbone:
    """Does every task of looking and thinking on the CPU, always the same way, with no key and no network.

    `cache` is the folder where percepts are kept for all processes; None keeps them in this process alone.
    Without `ocr` no text is read.
    """

    def __init__(self, embedder: "Embedder", cache: Path | None = None, ocr: bool = True) -> None:
        self._embedder = embedder
        self._cache = cache
        self._ocr = ocr
        self._looker: Looker | None = None

    @property
    def id(self) -> str:
        """Name and version of the perceiver and its embedder."""
        from evoharness.models.embedded.perceiver import VERSION

        return f"embedded-{VERSION}{'' if self._ocr else '-no-ocr'}/{self._embedder.id}"

    def run(self, task: Task[Output]) -> Reply[Output]:
        """Do one task; UnsupportedTask when it is of a kind that no handler knows."""
        handler = self._handlers().get(type(task))
        if handler is None:
            raise UnsupportedTask(
                f"{self.id} cannot do {type(task).__name__}; it does {', '.join(sorted(self.tasks()))}"
            )
        output = cast(Output, handler(task))
        return Reply(output, _spend(task, output))

    def tasks(self) -> list[str]:
        """Names of the tasks that it does."""
        return [kind.__name__ for kind in self._handlers()]

    def _handlers(self) -> Mapping[type[Task[Any]], Callable[[Any], Any]]:
        from evoharness.models.embedded import reasoning

        looker = self._looking()
        thinking: dict[Any, Callable[..., Any]] = {
            ChooseAction: reasoning.choose_action,
            Reason: reasoning.reason,
            SummarizeSegments: reasoning.summarize_segments,
            SummarizeVideo: reasoning.summarize_video,
        }
        return {
            InspectFrames: looker.inspect,
            LocalizeEvent: looker.localize,
            DescribeFrame: looker.describe_frame,
            DescribeSegment: self._describe_segment,
            AnswerQuestion: self._answer,
            VerifyClaim: self._verify,
            **{kind: partial(handler, embedder=self._embedder) for kind, handler in thinking.items()},
        }

    def _looking(self) -> "Looker":
        if self._looker is None:
            from evoharness.models.embedded.looking import Looker
            from evoharness.models.embedded.perceiver import Perceiver
            from evoharness.models.embedded.store import PerceptStore

            store = PerceptStore(self._cache / PERCEPT_FILE if self._cache else None)
            self._looker = Looker(Perceiver(store, self._ocr), self._embedder)
        return self._looker

    def _describe_segment(self, task: DescribeSegment) -> SegmentDescription:
        from evoharness.models.embedded.segments import describe_segment

        return describe_segment(self._looking().scene(task.frames, task.span), task.span, task.transcript)

    def _answer(self, task: AnswerQuestion) -> Any:
        from evoharness.models.embedded.reasoning import answer_question

        prompt = " ".join((task.text, *task.options))
        seen = (*task.evidence, *self._seen(task.frames, prompt))
        return answer_question(task.model_copy(update={"evidence": seen}), self._embedder)

    def _verify(self, task: VerifyClaim) -> Any:
        from evoharness.models.embedded.reasoning import verify_claim

        seen = (*task.evidence, *self._seen(task.frames, task.claim))
        return verify_claim(task.model_copy(update={"evidence": seen}), self._embedder)

    def _seen(self, frames: Sequence[Frame], prompt: str) -> tuple[Evidence, ...]:
        """What frames that came with a task of thinking show."""
        if not frames:
            return ()
        times = sorted(frame.time for frame in frames)
        span = Interval(start=max(0.0, times[0]), end=max(0.0, times[-1]))
        ordered = tuple(sorted(frames, key=lambda frame: frame.time))
        found = self._looking().inspect(InspectFrames(frames=ordered, span=span, prompt=prompt))
        return tuple(
            Evidence(source="look", interval=observation.interval, text=observation.text)
            for observation in found.observations
        )


def _spend(task: Task[Any], output: BaseModel) -> Spend:
    """One call; frames at their tokens, text at four characters a token; no money."""
    frames = frames_of(task)
    text = characters_of(task)
    answer = len(output.model_dump_json())
    return Spend(
        calls=1,
        input_tokens=sum(frame.tokens for frame in frames) + text // CHARACTERS_A_TOKEN,
        output_tokens=answer // CHARACTERS_A_TOKEN,
        frames=len(frames),
        cost_usd=0.0,
    )
