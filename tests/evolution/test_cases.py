"""Failures as proposers read them: the reference, the answer, and a trace in bounded words."""

from typing import Any

import pytest

from evoharness.evolution.cases import LONGEST_RESULT, MOST_CALLS, failure_case, made_calls
from evoharness.records.evolution import FailureCause
from evoharness.records.interval import Interval
from evoharness.records.outcome import Answered, Outcome, Trace, TraceStep
from evoharness.records.question import Question, QuestionKind


def failed(result: Any, steps: int = 1) -> tuple[Question, Outcome]:
    """A question, and a wrong answer to it."""
    question = Question(
        id="q",
        video="v",
        kind=QuestionKind.TEMPORAL_ORDER,
        text="What rolls after the door opens?",
        options=("a red ball", "a blue ring"),
        answer=1,
        source_interval=Interval(start=61.0, end=64.0),
    )
    step = TraceStep(call="look", arguments={"fps": 1, "spans": [[0, 9]]}, result=result, frames=9)
    answer = Answered(
        question="x",
        status="ok",
        choice=0,
        text="it rolls",
        trace=Trace(strategy="overview", steps=(step,) * steps),
    )
    return question, Outcome(harness="h", question="q", reward=0.0, answered=answer)


def test_a_failure_is_told_with_its_reference_and_its_calls() -> None:
    found = {
        "observations": [{"start": 3, "end": 4.5, "text": "a ball\nrolls", "found": True}],
        "frames": ["f1"],
    }
    question, outcome = failed(found)
    case = failure_case(question, outcome, FailureCause.LOCALIZATION, 240.0, lesson="look behind")
    assert (case.reference, case.answer, case.reason) == ("a blue ring", "a red ball", "it rolls")
    assert case.calls[0].result == "[3-4.5] a ball rolls"
    assert case.calls[0].arguments == '{"fps": 1, "spans": [[0, 9]]}'
    assert (case.duration, case.lesson, case.cause) == (240.0, "look behind", FailureCause.LOCALIZATION)


def test_a_trace_is_told_within_bounds() -> None:
    lines = [{"text": f"line {number} " + "x" * 300} for number in range(1000)]
    question, outcome = failed(lines, steps=100)
    case = failure_case(question, outcome, FailureCause.REASONING, 240.0)
    assert len(case.calls) == MOST_CALLS
    assert all(len(call.result) <= LONGEST_RESULT + 2 for call in case.calls)
    assert case.calls[0].result.endswith("…")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"error": "no span lies inside the video"}, '{"error": "no span lies inside the video"}'),
        ([0.5, 0.25], "[0.5, 0.25]"),
        ("\ud800 text\x00", "text"),
        (None, "null"),
    ],
)
def test_a_result_without_a_text_is_told_as_json(result: Any, said: str) -> None:
    (call,) = made_calls((TraceStep(call="x", arguments={}, result=result),))
    assert call.result == said
