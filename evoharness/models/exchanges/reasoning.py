"""Tasks that think, on the wire: evidence in, letters and words out.

Times count from the start of the video.
"""

import math
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from evoharness.models.exchanges.exchange import Exchange, pieces
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer, Reason, Reasoning
from evoharness.models.task import Task
from evoharness.models.wire import Schema, Wire, parsed, said, schema_of


class WireChoice(Wire):
    """The answer to AnswerQuestion: the reason comes first, so that the letter follows from it."""

    reason: str
    choice: str
    scores: tuple[float, ...]
    guessed: bool


class WireText(Wire):
    """An answer in words."""

    text: str


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
    raise ValueError(f"choice: {letter[:40]!r} is none of the letters {', '.join(known)}")


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


def _reason_sections(task: Reason) -> Mapping[str, Any]:
    return {"prompt": task.prompt, "evidence": pieces(task.evidence)}


def _text_schema(_: Task[Any]) -> Schema:
    return schema_of(WireText)


def _read_reasoning(_: Reason, answer: Mapping[str, Any]) -> Reasoning:
    return Reasoning(text=said(parsed(WireText, answer).text, "text"))


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    AnswerQuestion: Exchange(_answer_sections, _answer_schema, _read_choice, _answer_facts),
    Reason: Exchange(_reason_sections, _text_schema, _read_reasoning),
}
