"""The jobs of the filters: answers without evidence, from the supporting records, and from a fresh look."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.models.backbone import BackboneUnavailable, Refused, Unparsed
from evoharness.models.perception_tasks import InspectFrames
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.models.task import Role
from evoharness.questioner.evidence import supporting_records, when
from evoharness.records.evidence import Evidence
from evoharness.records.frame import Detail
from evoharness.records.interval import Interval, merged
from evoharness.records.memory import VideoMemory
from evoharness.records.question import PublicQuestion, Question

if TYPE_CHECKING:
    from evoharness.evaluation import Workbench
    from evoharness.models.backbone import Backbone


@dataclass(frozen=True)
class Answer:
    """What a check was answered; `choice` is None when the model would not or could not choose."""

    choice: int | None
    apparatus: bool = False
    """No answer came, for reasons of infrastructure."""


@dataclass(frozen=True)
class TextRequest:
    """One question, and the supporting records as evidence."""

    question: PublicQuestion
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class TextAnswers:
    """Both answers that need no picture."""

    without_evidence: Answer
    from_records: Answer


@dataclass(frozen=True)
class LookRequest:
    """One question, and where and when to look."""

    question: PublicQuestion
    spans: tuple[Interval, ...]
    times: tuple[tuple[float, ...], ...]
    """Times of the frames of each span, in seconds."""


@dataclass(frozen=True)
class LookItem:
    """Several looks at one video."""

    path: Path
    requests: tuple[LookRequest, ...]


def answer_texts(bench: "Workbench", item: tuple[TextRequest, ...]) -> list[TextAnswers]:
    """Job: answer every question from nothing (blind answerer), then from its records (Solver)."""
    return [
        TextAnswers(
            without_evidence=_answer(bench.backbone, request.question, (), Role.BLIND_ANSWERER),
            from_records=_answer(bench.backbone, request.question, request.evidence, Role.SOLVER),
        )
        for request in item
    ]


def look_afresh(bench: "Workbench", item: LookItem) -> list[Answer]:
    """Job: watch the frames of each question's spans, at large detail, and answer from what is seen."""
    video = bench.video(item.path)
    answers = []
    for request in item.requests:
        question = request.question
        prompt = "\n".join((question.text, "Options:", *(f"- {option}" for option in question.options)))
        evidence: list[Evidence] = []
        try:
            for span, times in zip(request.spans, request.times, strict=True):
                frames = tuple(video.frames(times, Detail.LARGE))
                if not frames:
                    continue
                seen = bench.backbone.run(InspectFrames(frames=frames, span=span, prompt=prompt)).output
                evidence += [
                    Evidence(source="look", interval=observation.interval, text=observation.text)
                    for observation in seen.observations
                ]
        except (Refused, Unparsed):
            answers.append(Answer(None))
        except BackboneUnavailable:
            answers.append(Answer(None, apparatus=True))
        else:
            answers.append(_answer(bench.backbone, question, tuple(evidence), Role.SOLVER))
    return answers


def _answer(
    backbone: "Backbone", question: PublicQuestion, evidence: tuple[Evidence, ...], role: Role
) -> Answer:
    task = AnswerQuestion(text=question.text, options=question.options, evidence=evidence, answered_by=role)
    try:
        return Answer(backbone.run(task).output.choice)
    except (Refused, Unparsed):
        return Answer(None)
    except BackboneUnavailable:
        return Answer(None, apparatus=True)


def look_request(
    question: Question, memory: VideoMemory, fps: float, padding_s: float, cap: int
) -> LookRequest:
    """Where to look for a question: the padded source interval, or, when that is too long for the frames
    that are allowed, the padded intervals of the supporting records.

    The grid begins half a step into the segment; the describer's times are scattered, so what it saw by
    chance is confirmed or not by a look of its own.
    """
    source = question.source_interval or Interval(start=0.0, end=memory.duration)
    spans = [source.widened(padding_s, memory.duration)]
    if spans[0].duration * fps > cap:
        own = [_opening(when(record), 6.0) for record in supporting_records(question, memory)]
        spans = merged([i.widened(padding_s, memory.duration) for i in own]) or spans
    starts = {segment.id: segment.interval.start for segment in memory.segments}
    phase = starts.get(question.source_segments[0], 0.0) if question.source_segments else 0.0
    times = [_grid(span, fps, phase + 0.5 / fps) for span in spans]
    total = sum(map(len, times))
    if total > cap:
        times = [_thinned(t, max(1, cap * len(t) // total)) for t in times]
    return LookRequest(question.public(), tuple(spans), tuple(map(tuple, times)))


def _opening(interval: Interval, seconds: float) -> Interval:
    return Interval(start=interval.start, end=min(interval.end, interval.start + seconds))


def _grid(span: Interval, fps: float, phase: float) -> list[float]:
    """The times `phase + k / fps` in the span; its middle when none falls inside."""
    first = -(-(span.start - phase) * fps // 1)
    times = []
    while (time := phase + first / fps) <= span.end:
        times.append(round(time, 6))
        first += 1
    return [t for t in times if t >= 0] or [span.middle]


def _thinned(times: Sequence[float], cap: int) -> list[float]:
    return [times[i * len(times) // cap] for i in range(cap)]
