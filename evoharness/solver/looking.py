"""Calls of `ctx` that look at the video: overviews, spans, single frames, localization."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evoharness.harness import Parameters
from evoharness.models.backbone import Unparsed
from evoharness.models.perception_tasks import (
    DescribeFrame,
    InspectFrames,
    LocalizedEvent,
    LocalizeEvent,
    Observation,
)
from evoharness.records.frame import Detail, Frame
from evoharness.records.interval import Interval
from evoharness.sandbox import HostCallError
from evoharness.solver import arguments as given
from evoharness.solver.meter import Meter
from evoharness.solver.skills import PlanStep
from evoharness.solver.spans import read_spans, shared

if TYPE_CHECKING:
    from evoharness.video import Video


class Looking:
    """The video as a strategy sees it: by seconds, under the frame cap of each model call."""

    def __init__(self, video: "Video", parameters: Parameters, meter: Meter, guidance: str) -> None:
        self._video = video
        self._parameters = parameters
        self._meter = meter
        self._guidance = guidance
        self._issued: dict[str, Frame] = {}
        self._names: dict[str, str] = {}
        self.duration = video.info.duration

    def look(self, call: given.Look) -> dict[str, Any]:
        """Inspect spans: one task a span, `max_frames` shared over all of them.

        `unread` counts the spans about which the model's words could not be read: nothing else in the
        result is about them.
        """
        spans = read_spans(call.spans, self.duration)
        wanted = self._parameters.frame_cap if call.max_frames is None else call.max_frames
        observations: list[Observation] = []
        candidates: list[Interval] = []
        shown: list[str] = []
        unread = 0
        for span, share in zip(spans, shared(wanted, spans), strict=True):
            frames = self._sampled(span, call.fps, share, call.detail)
            if not frames:
                continue
            task = InspectFrames(frames=frames, span=span, prompt=self._prompted(call.prompt))
            try:
                seen = self._meter.ask(task, frames)
            except Unparsed:
                unread += 1
                continue
            observations.extend(seen.observations)
            candidates.extend(seen.candidates)
            shown.extend(self._issue(frame) for frame in frames)
        return {
            "observations": [_observed(observation) for observation in observations],
            "candidates": [_interval(candidate) for candidate in candidates],
            "frames": shown,
            "unread": unread,
        }

    def localize(self, call: given.Localize) -> dict[str, Any]:
        """view_full_video of MedClaw: a coarse pass over everything, then a fine one over the window.

        `unread` counts the passes of which the model's words could not be read.
        """
        values = self._parameters
        whole = Interval(start=0.0, end=self.duration)
        coarse = self._located(call.query, whole, values.overview_fps, Detail.SMALL)
        if coarse is None:
            return {"timeline": [], "window": None, "unread": 1}
        if coarse.window is None:
            return {"timeline": [_observed(o) for o in coarse.timeline], "window": None, "unread": 0}
        near = coarse.window.widened(values.detail_padding_s, self.duration)
        fine = self._located(call.query, near, values.detail_fps, Detail.LARGE)
        timeline = list(coarse.timeline)
        window = coarse.window
        if fine is not None and fine.timeline:
            timeline = [o for o in timeline if not _inside(o.interval, near)] + list(fine.timeline)
            timeline.sort(key=lambda o: (o.interval.start, o.interval.end))
        if fine is not None and fine.window is not None:
            window = fine.window
        return {
            "timeline": [_observed(o) for o in timeline],
            "window": _interval(window),
            "unread": int(fine is None),
        }

    def follow(self, plan: Sequence[PlanStep], query: str) -> dict[str, Any]:
        """What the plans of skills ask for: locate the event of the question, then look beside it."""
        found = self.localize(given.Localize(query=query))
        window = found["window"]
        if window is None:
            return {"observations": [], "candidates": [], "frames": [], "unread": found["unread"]}
        look = given.Look(
            spans=[_beside(window, step, self.duration) for step in plan],
            fps=self._parameters.detail_fps,
            max_frames=self._parameters.frame_cap,
            detail=self._parameters.detail_detail,
            prompt=query,
        )
        seen = self.look(look)
        return {**seen, "unread": seen["unread"] + found["unread"]}

    def frame(self, call: given.OneFrame) -> dict[str, Any]:
        """select_video_frame, or crop_video_frame when there is a box: the frame verifier's words."""
        if call.box is not None and not (call.box[0] < call.box[2] and call.box[1] < call.box[3]):
            raise HostCallError("a box is [x1, y1, x2, y2] in fractions with x1 < x2 and y1 < y2")
        time = min(call.time, self.duration)
        frame = self._video.frames([time], Detail.LARGE, box=call.box)[0]
        try:
            described = self._meter.ask(
                DescribeFrame(frame=frame, prompt=self._prompted(call.prompt)), (frame,)
            )
        except Unparsed as error:
            raise HostCallError("the model's words could not be read") from error
        return {"start": frame.time, "end": frame.time, "text": described.text, "frame": self._issue(frame)}

    def chosen(self, frames: Iterable[str | float]) -> tuple[Frame, ...]:
        """Frames by id or by time (seconds, at overview detail), at most as many as one call may show."""
        picked = []
        for item in frames:
            if isinstance(item, str):
                if item not in self._issued:
                    raise HostCallError(f"there is no frame {item[:40]!r}: use ids that ctx.look returned")
                picked.append(self._issued[item])
            else:
                time = min(max(0.0, item), self.duration)
                picked.extend(self._video.frames([time], self._parameters.overview_detail))
        unique = list({frame.key: frame for frame in picked}.values())
        return tuple(_thinned(unique, self._parameters.frame_cap))

    def _located(self, query: str, span: Interval, fps: float, detail: Detail) -> LocalizedEvent | None:
        frames = self._sampled(span, fps, self._parameters.frame_cap, detail)
        try:
            return self._meter.ask(LocalizeEvent(frames=frames, span=span, query=query), frames)
        except Unparsed:
            return None

    def _sampled(self, span: Interval, fps: float, most: int, detail: Detail) -> tuple[Frame, ...]:
        from evoharness.video import sample_times

        most = min(most, self._parameters.frame_cap)
        if most < 1:
            return ()
        return tuple(self._video.frames(sample_times(span, fps, most), detail))

    def _prompted(self, prompt: str) -> str:
        return f"{prompt}\n\n{self._guidance}".strip() if self._guidance else prompt

    def _issue(self, frame: Frame) -> str:
        name = self._names.setdefault(frame.key, f"f{len(self._names):04}")
        self._issued[name] = frame
        return name


def _beside(window: dict[str, float], step: PlanStep, duration: float) -> list[float]:
    if step.look == "after":
        return [window["end"], min(duration, window["end"] + step.seconds)]
    if step.look == "before":
        return [max(0.0, window["start"] - step.seconds), window["start"]]
    return [window["start"], window["end"]]


def _observed(observation: Observation) -> dict[str, Any]:
    return {**_interval(observation.interval), "text": observation.text, "found": observation.found}


def _interval(interval: Interval) -> dict[str, float]:
    return {"start": round(interval.start, 3), "end": round(interval.end, 3)}


def _inside(inner: Interval, outer: Interval) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _thinned(frames: list[Frame], most: int) -> list[Frame]:
    if len(frames) <= most:
        return frames
    return [frames[number * len(frames) // most] for number in range(most)]
