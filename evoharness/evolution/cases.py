"""Failures as proposers read them: a wrong answer, its reference, and its trace in bounded words."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evoharness.models.evolution_tasks import FailureCase, MadeCall
from evoharness.records.evolution import FailureCause
from evoharness.records.json_values import one_line
from evoharness.records.outcome import OK, Outcome, TraceStep
from evoharness.records.question import Question

LONGEST_RESULT = 1_500
"""Characters kept of what one call found."""
LONGEST_ARGUMENTS = 300
MOST_CALLS = 24
"""Calls kept of one trace: the first and the last ones."""
_TOLD = ("text", "description", "summary", "label", "name")


def failure_case(
    question: Question,
    outcome: Outcome,
    cause: FailureCause,
    duration: float,
    *,
    lesson: str = "",
    result: int = LONGEST_RESULT,
) -> FailureCase:
    """The case of a question that was answered wrongly.

    `duration`: seconds of the video. `result`: characters kept of what each call found.
    """
    answered = outcome.answered
    return FailureCase(
        kind=question.kind.value,
        text=question.text,
        options=question.options,
        reference=reference_of(question),
        answer=_option(question, answered.choice) or ("" if question.options else answered.text),
        status=outcome.status,
        reason=answered.text if question.options and outcome.status == OK else answered.message,
        cause=cause,
        source=question.source_interval,
        duration=duration,
        strategy=answered.trace.strategy,
        skills=answered.trace.skills,
        calls=made_calls(answered.trace.steps, result),
        lesson=lesson,
    )


def reference_of(question: Question) -> str:
    """The right answer in words: the option, or the reference text."""
    return _option(question, question.answer) or question.reference_text


def made_calls(steps: Sequence[TraceStep], result: int = LONGEST_RESULT) -> tuple[MadeCall, ...]:
    """The calls of a trace, each with what it found; in the middle of a long one some are left out."""
    kept = list(steps)
    if len(kept) > MOST_CALLS:
        kept = [*kept[: MOST_CALLS // 2], *kept[-(MOST_CALLS - MOST_CALLS // 2) :]]
    return tuple(
        MadeCall(
            call=step.call,
            arguments=one_line(_plain(step.arguments), LONGEST_ARGUMENTS),
            result=_found(step.result, result),
            frames=step.frames,
        )
        for step in kept
    )


def _option(question: Question, choice: int | None) -> str:
    return question.options[choice] if choice is not None and 0 <= choice < len(question.options) else ""


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _found(value: Any, longest: int) -> str:
    lines: list[str] = []
    room = longest
    for line in _pieces(value):
        line = one_line(line, 400)
        room -= len(line) + 1
        if room < 0:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join(lines) if lines else one_line(_plain(value), 200)


def _pieces(value: Any) -> Iterator[str]:
    """`[start-end] text` of whatever has a text, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            if not isinstance(item, str):
                yield from _pieces(item)
    elif isinstance(value, Mapping):
        told = next((value[n] for n in _TOLD if isinstance(value.get(n), str) and value[n]), "")
        if told:
            yield _when(value) + told
        for inner in value.values():
            if isinstance(inner, list | tuple | Mapping):
                yield from _pieces(inner)


def _when(value: Mapping[str, Any]) -> str:
    start, end = value.get("start"), value.get("end")
    if isinstance(start, int | float) and isinstance(end, int | float):
        return f"[{start:g}-{end:g}] "
    return ""
