"""A video of plain colours, and a backbone that sees which colour fills a frame and nothing else."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import av
import numpy as np

from evoharness.evaluation import Workbench, WorkbenchConfig
from evoharness.models.backbone import Reply, UnsupportedTask
from evoharness.models.perception_tasks import InspectedFrames, InspectFrames, Observation
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer
from evoharness.models.task import Output, Task
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend

COLOURS = {"grey": (128, 128, 128), "red": (220, 20, 20), "blue": (20, 20, 220), "green": (20, 200, 20)}
FPS = 4


def write_video(path: Path, shown: Sequence[tuple[str, float]]) -> Path:
    """A video of colours, each for so many seconds."""
    with av.open(str(path), "w") as container:
        stream = cast(Any, container.add_stream("libx264", rate=FPS))
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for colour, seconds in shown:
            picture = np.full((64, 64, 3), COLOURS[colour], dtype=np.uint8)
            for _ in range(round(seconds * FPS)):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


class ColourBackbone:
    """Names the colour of each frame; chooses the one option whose colour stands in the evidence."""

    id = "colours"

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        output: Any
        frames: tuple[Frame, ...] = ()
        if isinstance(task, InspectFrames):
            frames = task.frames
            output = InspectedFrames(
                observations=tuple(
                    Observation(
                        interval=Interval(start=frame.time, end=frame.time),
                        text=f"the picture is {colour_of(frame)}",
                    )
                    for frame in frames
                )
            )
        elif isinstance(task, AnswerQuestion):
            seen = set(re.findall(r"\w+", " ".join(evidence.text for evidence in task.evidence)))
            named = [i for i, option in enumerate(task.options) if option in seen]
            only = named[0] if len(named) == 1 else None
            output = ChosenAnswer(choice=only, text="seen" if only is not None else "not seen")
        else:
            raise UnsupportedTask(type(task).__name__)
        return Reply(output, Spend(calls=1, frames=len(frames), input_tokens=sum(f.tokens for f in frames)))


def colour_of(frame: Frame) -> str:
    """The nearest of the known colours."""
    (pixels,) = frame.source.pixels([frame])
    mean = np.asarray(pixels, dtype=float).mean(axis=(0, 1))
    return min(COLOURS, key=lambda name: float(np.abs(mean - COLOURS[name]).sum()))


class ColourConfig(WorkbenchConfig):
    """Builds workbenches whose backbone sees colours."""

    def build(self) -> Workbench:
        """See `WorkbenchConfig`."""
        return ColourBench(self)


class ColourBench(Workbench):
    """A workbench like any other, but for its backbone."""

    def make_backbone(self) -> ColourBackbone:
        """The honest, colour-blind-to-all-else backbone."""
        return ColourBackbone()
