"""A real little video and a backbone that reports exactly what it was shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np

from evoharness.harness import Harness, Route, initial_harness
from evoharness.models.backbone import Reply
from evoharness.models.perception_tasks import (
    DescribeFrame,
    FrameDescription,
    InspectedFrames,
    InspectFrames,
    LocalizedEvent,
    LocalizeEvent,
    Observation,
)
from evoharness.models.reasoning_tasks import (
    AnswerQuestion,
    ChooseAction,
    ChosenAction,
    ChosenAnswer,
    ClaimVerdict,
    Reason,
    Reasoning,
    VerifyClaim,
)
from evoharness.models.task import Output, Task
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from evoharness.records.question import PublicQuestion
from evoharness.records.spend import Spend

QUESTION = PublicQuestion(
    id="q", video="v", text="What happens after the red circle?", options=("a", "b", "c")
)


def write_video(path: Path, seconds: int, size: tuple[int, int] = (320, 192)) -> Path:
    """A video of one picture a second, each of another grey."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=1)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for second in range(seconds):
            grey = np.full((size[1], size[0], 3), second * 7 % 256, dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


class Witness:
    """A backbone that keeps every task, and answers from nothing but the task.

    It says which frames it saw, finds the event at `event`, and chooses option 1.
    """

    id = "witness"

    def __init__(
        self,
        event: Interval | None = None,
        actions: tuple[ChosenAction, ...] = (),
        instead: Callable[[Task[Any]], Any] | None = None,
    ) -> None:
        self.tasks: list[Task[Any]] = []
        self._event = event
        self._actions = list(actions)
        self._instead = instead

    def of(self, kind: type[Task[Any]]) -> list[Any]:
        """The tasks of one kind, in order."""
        return [task for task in self.tasks if isinstance(task, kind)]

    def run(self, task: Task[Output]) -> Reply[Output]:
        self.tasks.append(task)
        output = self._instead(task) if self._instead else None
        frames = getattr(task, "frames", None) or ([task.frame] if isinstance(task, DescribeFrame) else [])
        spend = Spend(calls=1, input_tokens=10, output_tokens=1, frames=len(frames))
        return Reply(output=output or self._output(task, list(frames)), spend=spend)

    def _output(self, task: Task[Any], frames: list[Frame]) -> Any:
        if isinstance(task, InspectFrames):
            text = f"{len(frames)} frames of {frames[0].width}x{frames[0].height}"
            seen = self._event is not None and any(self._within(frame) for frame in frames)
            candidates = (self._event,) if seen and self._event is not None else ()
            return InspectedFrames(
                observations=(Observation(interval=task.span, text=text),), candidates=candidates
            )
        if isinstance(task, LocalizeEvent):
            timeline = (Observation(interval=task.span, text=f"{len(frames)} frames"),)
            return LocalizedEvent(timeline=timeline, window=self._event)
        if isinstance(task, DescribeFrame):
            return FrameDescription(text=f"a frame of {task.frame.width}x{task.frame.height}")
        if isinstance(task, ChooseAction):
            return self._actions.pop(0) if self._actions else ChosenAction(stop=True)
        if isinstance(task, AnswerQuestion):
            return ChosenAnswer(choice=1, text="because", scores=(0.2, 0.7, 0.1), guessed=not task.evidence)
        if isinstance(task, VerifyClaim):
            return ClaimVerdict(supported=True, confidence=0.9)
        assert isinstance(task, Reason)
        return Reasoning(text=task.prompt.upper())

    def _within(self, frame: Frame) -> bool:
        return self._event is not None and self._event.start <= frame.time <= self._event.end


class Letters:
    """An embedder that counts letters."""

    id = "letters"

    def embed(self, texts: Any) -> Any:
        rows = np.array([[text.lower().count(chr(97 + i)) + 0.01 for i in range(26)] for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def only(source: str, memory: bool = False) -> Harness:
    """The initial harness with one strategy for every video."""
    harness = initial_harness().with_strategy("mine", source)
    return harness.with_routes((Route(strategy="mine", memory=memory),))
