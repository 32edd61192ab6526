"""Tasks that think, on the wire: evidence in, letters, decisions and words out.

Times count from the start of the video.
"""

import json
import math
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from evoharness.models.exchanges.exchange import Exchange, pieces
from evoharness.models.reasoning_tasks import (
    AnswerOpen,
    AnswerQuestion,
    ChooseAction,
    ChosenAction,
    ChosenAnswer,
    ClaimVerdict,
    OpenAnswer,
    Reason,
    Reasoning,
    SegmentGroup,
    SegmentGroups,
    SummarizeSegments,
    SummarizeVideo,
    VerifyClaim,
    VideoSummary,
)
from evoharness.models.task import Task
from evoharness.models.wire import Schema, Wire, WireText, parsed, said, schema_of
from evoharness.records.json_values import fault, one_line, type_of

STOP = "STOP"
"""The action that ends the gathering; names of tools are in lower case."""


class WireChoice(Wire):
    """The answer to AnswerQuestion: the reason comes first, so that the letter follows from it."""

    reason: str
    choice: str
    scores: tuple[float, ...]
    guessed: bool


class WireOpenAnswer(Wire):
    """The answer to AnswerOpen."""

    text: str
    guessed: bool


class WireVerdict(Wire):
    """The answer to VerifyClaim."""

    text: str
    supported: bool
    confidence: float


class WireAction(Wire):
    """The answer to ChooseAction; the arguments are a JSON object as text."""

    thought: str
    action: str
    arguments: str


class WireGroup(Wire):
    """Neighbouring segments, by the numbers of the first and the last."""

    first: int
    last: int
    label: str
    description: str


class WireGroups(Wire):
    """The answer to SummarizeSegments."""

    groups: tuple[WireGroup, ...]


def letters(count: int) -> tuple[str, ...]:
    """The letters of so many options; ValueError for none and for more than the alphabet has."""
    if not 1 <= count <= len(ascii_uppercase):
        raise ValueError(f"a question with options has 1 to {len(ascii_uppercase)} of them, not {count}")
    return tuple(ascii_uppercase[:count])


def lettered(options: Sequence[str]) -> dict[str, str]:
    """Letter → option."""
    return dict(zip(letters(len(options)), options, strict=True)) if options else {}


def index_of(letter: str, count: int) -> int:
    """The option that a letter names, as it stands or dressed: `B`, `b`, `(B)`, `B. the red ball`."""
    known = letters(count)
    word = letter.strip().lstrip("([{*\"' ")
    if word[:1].upper() in known and not word[1:2].isalnum():
        return known.index(word[:1].upper())
    raise ValueError(f"choice: {one_line(letter, 40)!r} is none of the letters {', '.join(known)}")


def normalized(scores: Sequence[float], count: int) -> tuple[float, ...]:
    """Scores of all options, summing to 1; empty when there are not as many, or none is above 0."""
    total = sum(scores)
    usable = len(scores) == count and min(scores, default=-1.0) >= 0 and 0 < total < math.inf
    return tuple(round(score / total, 6) for score in scores) if usable else ()


def _answer_sections(task: AnswerQuestion) -> Mapping[str, Any]:
    return {
        "question": task.text,
        "options": lettered(task.options),
        "evidence": pieces(task.evidence),
        "guidance": task.guidance,
    }


def _answer_facts(task: AnswerQuestion) -> Mapping[str, Any]:
    return {"frames": len(task.frames), "letters": letters(len(task.options))}


def _answer_schema(task: AnswerQuestion) -> Schema:
    return schema_of(WireChoice, choice=letters(len(task.options)))


def _read_choice(task: AnswerQuestion, answer: Mapping[str, Any]) -> ChosenAnswer:
    chosen = parsed(WireChoice, answer)
    count = len(task.options)
    return ChosenAnswer(
        choice=index_of(chosen.choice, count),
        text=chosen.reason.strip(),
        scores=normalized(chosen.scores, count),
        guessed=chosen.guessed,
    )


def _open_sections(task: AnswerOpen) -> Mapping[str, Any]:
    return {"question": task.text, "evidence": pieces(task.evidence), "guidance": task.guidance}


def _frame_facts(task: AnswerOpen | VerifyClaim) -> Mapping[str, Any]:
    return {"frames": len(task.frames)}


def _open_schema(_: AnswerOpen) -> Schema:
    return schema_of(WireOpenAnswer)


def _read_open(_: AnswerOpen, answer: Mapping[str, Any]) -> OpenAnswer:
    told = parsed(WireOpenAnswer, answer)
    return OpenAnswer(text=said(told.text, "text"), guessed=told.guessed)


def _claim_sections(task: VerifyClaim) -> Mapping[str, Any]:
    return {"claim": task.claim, "evidence": pieces(task.evidence)}


def _claim_schema(_: VerifyClaim) -> Schema:
    return schema_of(WireVerdict)


def _read_verdict(_: VerifyClaim, answer: Mapping[str, Any]) -> ClaimVerdict:
    verdict = parsed(WireVerdict, answer)
    if not 0 <= verdict.confidence <= 1:
        raise ValueError(f"confidence: lies between 0 and 1, and {verdict.confidence:g} does not")
    return ClaimVerdict(supported=verdict.supported, confidence=verdict.confidence, text=verdict.text.strip())


def _reason_sections(task: Reason) -> Mapping[str, Any]:
    return {"prompt": task.prompt, "evidence": pieces(task.evidence)}


def _text_schema(_: Task[Any]) -> Schema:
    return schema_of(WireText)


def _read_reasoning(_: Reason, answer: Mapping[str, Any]) -> Reasoning:
    return Reasoning(text=said(parsed(WireText, answer).text, "text"))


def _action_sections(task: ChooseAction) -> Mapping[str, Any]:
    return {
        "question": task.question,
        "options": lettered(task.options),
        "duration": task.duration,
        "tools": [tool.model_dump() for tool in task.tools],
        "history": list(task.history),
        "evidence": pieces(task.evidence),
        "guidance": task.guidance,
    }


def _action_facts(_: ChooseAction) -> Mapping[str, Any]:
    return {"stop": STOP}


def _action_schema(task: ChooseAction) -> Schema:
    return schema_of(WireAction, action=(*(tool.name for tool in task.tools), STOP))


def _read_action(task: ChooseAction, answer: Mapping[str, Any]) -> ChosenAction:
    chosen = parsed(WireAction, answer)
    tools = {tool.name: tool for tool in task.tools}
    if chosen.action not in tools:
        if chosen.action.strip().upper() == STOP:
            return ChosenAction(stop=True)
        raise ValueError(f"action: {one_line(chosen.action, 40)!r} is none of {', '.join([*tools, STOP])}")
    arguments = json_object(chosen.arguments, "arguments")
    known = tools[chosen.action].arguments
    for name in arguments:
        if name not in known:
            raise ValueError(
                f"arguments: {chosen.action} has no argument {one_line(name, 40)!r} "
                f"(it has: {', '.join(known) or 'none'})"
            )
    return ChosenAction(tool=chosen.action, arguments=arguments)


def json_object(text: str, field: str) -> dict[str, Any]:
    """The JSON object that a text holds, bounded; nothing but space is an empty one."""
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{field}: no JSON object as text: {one_line(str(error))}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{field}: a JSON object as text is needed, and not {type_of(value)}")
    if problem := fault(value):
        raise ValueError(f"{field}: {problem}")
    return value


def _group_sections(task: SummarizeSegments) -> Mapping[str, Any]:
    return {"summaries": [{"segment": n, "text": text} for n, text in enumerate(task.summaries)]}


def _group_facts(task: SummarizeSegments) -> Mapping[str, Any]:
    return {"last": len(task.summaries) - 1}


def _group_schema(_: SummarizeSegments) -> Schema:
    return schema_of(WireGroups)


def _read_groups(task: SummarizeSegments, answer: Mapping[str, Any]) -> SegmentGroups:
    groups = parsed(WireGroups, answer).groups
    last = len(task.summaries) - 1
    for number, group in enumerate(groups):
        if not 0 <= group.first <= group.last <= last:
            raise ValueError(
                f"groups.{number}: goes from {group.first} to {group.last}, "
                f"but segments go from 0 to {last}, and first is not after last"
            )
    return SegmentGroups(
        groups=tuple(
            SegmentGroup(
                label=group.label.strip(),
                description=group.description.strip(),
                first=group.first,
                last=group.last,
            )
            for group in groups
        )
    )


def _video_sections(task: SummarizeVideo) -> Mapping[str, Any]:
    return {"super_events": list(task.super_events)}


def _read_summary(_: SummarizeVideo, answer: Mapping[str, Any]) -> VideoSummary:
    return VideoSummary(text=said(parsed(WireText, answer).text, "text"))


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    AnswerQuestion: Exchange(_answer_sections, _answer_schema, _read_choice, _answer_facts),
    AnswerOpen: Exchange(_open_sections, _open_schema, _read_open, _frame_facts),
    VerifyClaim: Exchange(_claim_sections, _claim_schema, _read_verdict, _frame_facts),
    Reason: Exchange(_reason_sections, _text_schema, _read_reasoning),
    ChooseAction: Exchange(_action_sections, _action_schema, _read_action, _action_facts),
    SummarizeSegments: Exchange(_group_sections, _group_schema, _read_groups, _group_facts),
    SummarizeVideo: Exchange(_video_sections, _text_schema, _read_summary),
}
