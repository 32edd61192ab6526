"""A real video whose screen has one colour after another, and a backbone that honestly looks at it."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evoharness.evaluation import WorkbenchConfig, WorkerLost
from evoharness.models.backbone import BackboneUnavailable, Refused, Reply
from evoharness.models.perception_tasks import InspectedFrames, InspectFrames, Observation
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer
from evoharness.models.task import Role
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend, Used
from evoharness.video import Video

COLOURS = {
    "red": (220, 30, 30),
    "green": (30, 180, 30),
    "blue": (40, 40, 220),
    "yellow": (230, 220, 40),
    "white": (240, 240, 240),
}


def film(path: Path, colours: Sequence[str], seconds: float = 5.0, fps: int = 8) -> Path:
    """Encode `seconds` of each colour, one after the other."""
    import av

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for colour in colours:
            picture = np.full((64, 96, 3), COLOURS[colour], dtype=np.uint8)
            for _ in range(int(seconds * fps)):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


class Onlooker:
    """Names the colour of every frame; answers what the evidence names most, else the first option."""

    id = "onlooker"

    def __init__(self) -> None:
        self.looks: list[InspectFrames] = []
        self.asked: list[AnswerQuestion] = []
        self.refuses = ""
        self.down_for = ""

    def run(self, task: Any) -> Reply[Any]:
        if isinstance(task, InspectFrames):
            self.looks.append(task)
            if self.refuses and self.refuses in task.prompt:
                raise Refused("not this")
            seen = [
                Observation(
                    interval=Interval(start=frame.time, end=frame.time),
                    text=f"the screen is {self._colour(pixels)}",
                )
                for frame, pixels in zip(task.frames, task.frames[0].source.pixels(task.frames), strict=True)
            ]
            return Reply(InspectedFrames(observations=tuple(seen)), Spend(calls=1, frames=len(seen)))
        assert isinstance(task, AnswerQuestion)
        self.asked.append(task)
        if self.down_for and self.down_for in task.text:
            raise BackboneUnavailable("down")
        said = [sum(option in e.text for e in task.evidence) for option in task.options]
        best = said.index(max(said)) if any(said) else 0
        return Reply(ChosenAnswer(choice=best, guessed=not any(said)), Spend(calls=1))

    @property
    def blind(self) -> list[AnswerQuestion]:
        return [task for task in self.asked if task.role is Role.BLIND_ANSWERER]

    @staticmethod
    def _colour(pixels: Any) -> str:
        mean = pixels.reshape(-1, 3).mean(axis=0)
        return min(COLOURS, key=lambda name: float(np.abs(mean - np.array(COLOURS[name])).sum()))


class Bench:
    """What the jobs of the filters use of a workbench."""

    def __init__(self, backbone: Onlooker) -> None:
        self.backbone = backbone

    def video(self, path: Path) -> Video:
        return Video(path)


class Inline:
    """An executor that runs every job here, and can lose one."""

    workers = 1
    config = WorkbenchConfig(cache_dir=Path("unused"))

    def __init__(self, backbone: Onlooker, lose: Callable[[Any], bool] = lambda _: False) -> None:
        self.bench = Bench(backbone)
        self.used = Used()
        self.on_note: Callable[[str], None] = print
        self.on_told: Callable[[object], None] = print
        self.lose = lose

    def map(
        self,
        job: Callable[[Any, Any], Any],
        items: Sequence[Any],
        *,
        key: Callable[[Any], Hashable] | None = None,  # noqa: ARG002
        on_lost: Callable[[Any, WorkerLost], Any] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        for index in reversed(range(len(items))):
            if self.lose(items[index]) and on_lost:
                yield index, on_lost(items[index], WorkerLost("gone"))
            else:
                yield index, job(self.bench, items[index])

    def close(self) -> None:
        return
