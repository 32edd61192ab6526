"""The tasks that look at frames: inspect a span, localise an event, look closely at one frame."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from evoharness.models.embedded.describing import Scene, describe
from evoharness.models.embedded.lasting import sightings
from evoharness.models.embedded.perceiver import Perceiver
from evoharness.models.embedded.relevance import FOUND, relevances
from evoharness.models.embedded.remarks import Remark
from evoharness.models.perception_tasks import (
    DescribeFrame,
    FrameDescription,
    InspectedFrames,
    InspectFrames,
    LocalizedEvent,
    LocalizeEvent,
    Observation,
)
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

OUTPUT_CHARACTERS = 6000
"""Of all observations of one look together."""
LINE_COST = 18
"""Characters that the times of an observation take beside its text."""
CANDIDATES = 8
"""Stretches proposed for a closer look."""
TIGHT = 12.0
"""Longest proposed stretch, in seconds; a longer state is looked at where it begins."""
SCENES = 128
"""Frame sets whose remarks are kept."""


class Looker:
    """Sees frames and says what bears on a prompt; the unprompted remarks of a frame set are kept."""

    def __init__(self, perceiver: Perceiver, embedder: "Embedder") -> None:
        self._perceiver = perceiver
        self._embedder = embedder
        self._scenes: OrderedDict[tuple[object, ...], Scene] = OrderedDict()
        self._lock = Lock()

    def scene(self, frames: Sequence[Frame], span: Interval) -> Scene:
        """Everything that can be said about frames; one thread at a time."""
        with self._lock:
            return self._scene(frames, span)

    def _scene(self, frames: Sequence[Frame], span: Interval) -> Scene:
        ordered = sorted(frames, key=lambda frame: frame.time)
        key = (span.start, span.end, *((frame.key, frame.until) for frame in ordered))
        scene = self._scenes.pop(key, None)
        if scene is None:
            percepts = self._perceiver.perceive(ordered)
            seen = sightings(ordered, span.start)
            scene = describe([percepts[which] for which, _ in seen], [time for _, time in seen], span)
        self._scenes[key] = scene
        while len(self._scenes) > SCENES:
            self._scenes.popitem(last=False)
        return scene

    def inspect(self, task: InspectFrames) -> InspectedFrames:
        """The remarks that matter most for the prompt, in order of time, and where to look closer."""
        scene = self.scene(task.frames, task.span)
        scores = relevances(task.prompt, scene.remarks, self._embedder)
        chosen = _chosen(scene.remarks, scores, OUTPUT_CHARACTERS)
        prompted = bool(task.prompt.strip())
        observations = tuple(
            Observation(
                interval=scene.remarks[index].interval,
                text=scene.remarks[index].text,
                found=not prompted or scores[index] >= FOUND,
            )
            for index in sorted(chosen)
        )
        return InspectedFrames(observations=observations, candidates=_candidates(scene.remarks, scores))

    def localize(self, task: LocalizeEvent) -> LocalizedEvent:
        """A coarse timeline, and the window of the remarks that fit the query best."""
        scene = self.scene(task.frames, task.span)
        scores = relevances(task.query, scene.remarks, self._embedder)
        weights = [0.5 * remark.weight + score for remark, score in zip(scene.remarks, scores, strict=True)]
        chosen = _chosen(scene.remarks, weights, OUTPUT_CHARACTERS // 2)
        timeline = tuple(
            Observation(
                interval=scene.remarks[index].interval,
                text=scene.remarks[index].text,
                found=scores[index] >= FOUND,
            )
            for index in sorted(chosen)
        )
        return LocalizedEvent(timeline=timeline, window=_window(scene.remarks, scores))

    def describe_frame(self, task: DescribeFrame) -> FrameDescription:
        """What one frame or crop shows, what bears on the prompt first."""
        span = Interval(start=task.frame.time, end=task.frame.time)
        scene = self.scene([task.frame], span)
        if not scene.remarks:
            return FrameDescription(text="Nothing that can be named is visible.")
        scores = relevances(task.prompt, scene.remarks, self._embedder)
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        lines = [scene.remarks[index].text for index in order[:40]]
        return FrameDescription(text="\n".join(lines)[:OUTPUT_CHARACTERS])


def _chosen(remarks: Sequence[Remark], scores: Sequence[float], characters: int) -> list[int]:
    """The best remarks that fit into so many characters."""
    order = sorted(range(len(remarks)), key=lambda index: (-scores[index], remarks[index].start, index))
    chosen, used = [], 0
    for index in order:
        cost = len(remarks[index].text) + LINE_COST
        if used + cost > characters:
            continue
        chosen.append(index)
        used += cost
    return chosen


def _candidates(remarks: Sequence[Remark], scores: Sequence[float]) -> tuple[Interval, ...]:
    """Tight stretches around the best remarks, the best first, overlapping ones told once."""
    order = sorted(range(len(remarks)), key=lambda index: (-scores[index], remarks[index].start, index))
    found: list[Interval] = []
    for index in order[:60]:
        if found and scores[index] < 0.5 * scores[order[0]]:
            break
        remark = remarks[index]
        end = min(remark.end, remark.start + TIGHT)
        interval = Interval(start=remark.start, end=end)
        if any(interval.overlaps(other) for other in found):
            continue
        found.append(interval)
        if len(found) == CANDIDATES:
            break
    return tuple(found)


def _window(remarks: Sequence[Remark], scores: Sequence[float]) -> Interval | None:
    """The interval of the best remark, joined with what fits nearly as well inside or beside it."""
    if not remarks:
        return None
    best = max(range(len(remarks)), key=lambda index: (scores[index], -remarks[index].start))
    if scores[best] < FOUND:
        return None
    start, end = remarks[best].start, remarks[best].end
    for index, remark in enumerate(remarks):
        near = remark.start <= end + 1 and remark.end >= start - 1
        joined = max(end, remark.end) - min(start, remark.start)
        if near and scores[index] >= 0.92 * scores[best] and joined <= 2 * max(10.0, end - start):
            start, end = min(start, remark.start), max(end, remark.end)
    return Interval(start=start, end=end)
