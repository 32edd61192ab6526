"""Why the incumbent failed: each wrong answer again, under two evidence conditions.

The evidence is handed over by a strategy made for the purpose, run by the Solver like any other, so that
it has the representation of the question's own path: on sampling paths observations of the padded source
interval at the detail rate and size; on the memory path the records of the source segments with a replay.
The second condition adds what lies around it, at the same rate and size. Right in the first: the
harness looked elsewhere (localization). Right only in the second: the source was too narrow for its
question (question_evidence). Wrong in both: reasoning.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evaluation import AnswerItem, Executor, WorkerLost, answer
from evoharness.records.evolution import DiagnosedFailure, Diagnosis, FailureCause
from evoharness.records.interval import Interval
from evoharness.records.outcome import APPARATUS, Answered, Outcome, Trace
from evoharness.records.question import Question
from evoharness.scoring import as_fraction, reward_of

if TYPE_CHECKING:
    from evoharness.harness import Harness
    from evoharness.solver import SolverLimits

RIGHT_FROM = 0.75
"""Reward as a fraction from which an answer counts as right: 1 of 0/1, 4 of 1–5."""

_SAMPLED = """\
def strategy(ctx, question):
    p = ctx.params
    seen = ctx.look({source}, p.detail_fps, p.frame_cap, p.detail_detail, question["text"])
{wider}
    return ctx.answer([seen["observations"], around])
"""
_REMEMBERED = """\
def strategy(ctx, question):
    p = ctx.params
    seen = ctx.look({source}, p.replay_fps, p.replay_frame_cap, p.replay_detail, question["text"])
    known = [ctx.records(segment) for segment in {segments}]
{wider}
    return ctx.answer([seen["observations"], known, around])
"""
_NOTHING_AROUND = "    around = []"
_AROUND = """\
    more = ctx.look({around}, p.{path}_fps, p.{cap}, p.{path}_detail, question["text"])
    around = more["observations"]\
"""
_NAME = "evidence_condition"


@dataclass(frozen=True)
class _Failure:
    question: Question
    outcome: Outcome


def right(question: Question, reward: float | None) -> bool:
    """Whether a reward counts as a right answer."""
    return reward is not None and as_fraction(reward, question) >= RIGHT_FROM


def diagnose(
    questions: Sequence[Question],
    outcomes: Sequence[Outcome],
    harness: "Harness",
    videos: Mapping[str, Path],
    durations: Mapping[str, float],
    executor: Executor,
    limits: "SolverLimits",
    wider_s: float,
    on_done: Callable[[], None] = lambda: None,
) -> Diagnosis:
    """Explain every wrong answer; `outcomes` are in the order of `questions`.

    `wider_s`: seconds that the second condition adds on each side. `on_done` is called once a failure.
    """
    failures = [
        _Failure(question, outcome)
        for question, outcome in zip(questions, outcomes, strict=True)
        if outcome.status != APPARATUS and not right(question, outcome.reward)
    ]
    causes: dict[str, FailureCause] = {
        failure.question.id: FailureCause.UNDETERMINED
        for failure in failures
        if failure.question.source_interval is None
    }
    for cause, wider in ((FailureCause.LOCALIZATION, None), (FailureCause.QUESTION_EVIDENCE, wider_s)):
        open_ones = [failure.question for failure in failures if failure.question.id not in causes]
        items = [
            AnswerItem(
                question=question.public(),
                path=videos[question.video],
                harnesses=(condition(harness, question, durations[question.video], wider),),
                limits=limits,
            )
            for question in open_ones
        ]
        for index, (answered,) in executor.map(answer, items, key=_video, on_lost=_lost):
            question = open_ones[index]
            if answered.status == APPARATUS:
                causes[question.id] = FailureCause.UNDETERMINED
            elif right(question, reward_of(question, answered)):
                causes[question.id] = cause
            if wider is None:
                on_done()
    return Diagnosis(
        answered=sum(outcome.status != APPARATUS for outcome in outcomes),
        failures=tuple(
            DiagnosedFailure(
                question=failure.question.id,
                kind=failure.question.kind.value,
                cause=causes.get(failure.question.id, FailureCause.REASONING),
                status=failure.outcome.status,
            )
            for failure in failures
        ),
    )


def condition(harness: "Harness", question: Question, duration: float, wider_s: float | None) -> "Harness":
    """The harness with a strategy that answers from the source of `question`, and from around it if asked."""
    from evoharness.harness import Route

    assert question.source_interval is not None
    told = question.source_interval
    route = harness.route(duration)
    parameters = harness.parameters
    padding = parameters.replay_padding_s if route.memory else parameters.detail_padding_s
    inside = Interval(start=min(told.start, duration), end=min(told.end, duration))
    source = inside.widened(padding, duration)  # a file of questions may name times beyond its video
    wider = _NOTHING_AROUND
    if wider_s is not None:
        whole = source.widened(wider_s, duration)
        sides = [Interval(start=whole.start, end=source.start), Interval(start=source.end, end=whole.end)]
        wider = _AROUND.format(
            around=_spans([side for side in sides if side.duration > 0] or [whole]),
            path="replay" if route.memory else "detail",
            cap="replay_frame_cap" if route.memory else "frame_cap",
        )
    template = _REMEMBERED if route.memory else _SAMPLED
    code = template.format(source=_spans([source]), segments=list(question.source_segments), wider=wider)
    routes = (Route(strategy=_NAME, memory=route.memory),)
    return harness.with_strategy(_NAME, code).with_routes(routes)


def _spans(intervals: Sequence[Interval]) -> list[list[float]]:
    return [[round(interval.start, 3), round(interval.end, 3)] for interval in intervals]


def _video(item: AnswerItem) -> str:
    return item.question.video


def _lost(item: AnswerItem, error: WorkerLost) -> list[Answered]:
    return [
        Answered(question=item.question.id, status=APPARATUS, message=str(error), trace=Trace(strategy=_NAME))
    ]
