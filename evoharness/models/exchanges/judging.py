"""Tasks about questions and answers, on the wire: phrasing, rating, checking."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from evoharness.models.exchanges.exchange import Exchange, pieces
from evoharness.models.exchanges.reasoning import lettered
from evoharness.models.reasoning_tasks import (
    CheckFaithfulness,
    Faithfulness,
    JudgeAnswer,
    Judgement,
    PhrasedQuestion,
    PhraseQuestion,
)
from evoharness.models.task import Task
from evoharness.models.wire import Schema, Wire, parsed, said, schema_of

_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]")


class WirePhrasing(Wire):
    """The answer to PhraseQuestion."""

    text: str
    options: tuple[str, ...]


class WireJudgement(Wire):
    """The answer to JudgeAnswer: the comparison comes first, so that the ratings follow from it."""

    comparison: str
    correctness: int
    detail: int
    context: int
    temporal: int


class WireFaithfulness(Wire):
    """The answer to CheckFaithfulness."""

    reason: str
    unsupported: tuple[str, ...]
    faithful: bool


def _phrase_sections(task: PhraseQuestion) -> Mapping[str, Any]:
    return {"question": task.text, "options": lettered(task.options)}


def _phrase_schema(_: PhraseQuestion) -> Schema:
    return schema_of(WirePhrasing)


def _read_phrasing(task: PhraseQuestion, answer: Mapping[str, Any]) -> PhrasedQuestion:
    phrased = parsed(WirePhrasing, answer)
    options = tuple(said(option, "options") for option in phrased.options)
    if len(options) != len(task.options):
        raise ValueError(f"options: {len(options)} came back, and there are {len(task.options)}")
    if len({option.casefold() for option in options}) != len(options):
        raise ValueError("options: two of them are the same")
    text = said(phrased.text, "text")
    _same_facts(task.text, text, "text")
    for number, (old, new) in enumerate(zip(task.options, options, strict=True)):
        _same_facts(old, new, f"options.{number}")
    return PhrasedQuestion(text=text, options=options)


def _same_facts(old: str, new: str, where: str) -> None:
    """ValueError when numbers, or texts in quotation marks, are not what they were."""
    for pattern, what in ((_NUMBER, "numbers"), (_QUOTED, "quoted texts")):
        before, after = Counter(pattern.findall(old)), Counter(pattern.findall(new))
        if before != after:
            kept = ", ".join(sorted(before)) or "none"
            raise ValueError(f"{where}: the {what} are to stay as they were ({kept})")


def _judge_sections(task: JudgeAnswer) -> Mapping[str, Any]:
    return {"question": task.question, "reference": task.reference, "answer": task.answer}


def _judge_schema(_: JudgeAnswer) -> Schema:
    return schema_of(WireJudgement)


def _read_judgement(_: JudgeAnswer, answer: Mapping[str, Any]) -> Judgement:
    rated = parsed(WireJudgement, answer)
    for name in ("correctness", "detail", "context", "temporal"):
        if not 1 <= getattr(rated, name) <= 5:
            raise ValueError(f"{name}: is a whole number from 1 to 5, and not {getattr(rated, name)}")
    return Judgement(
        correctness=rated.correctness,
        detail=rated.detail,
        context=rated.context,
        temporal=rated.temporal,
        text=rated.comparison.strip(),
    )


def _check_sections(task: CheckFaithfulness) -> Mapping[str, Any]:
    return {
        "question": task.question,
        "reference": task.reference,
        "annotation": pieces(task.annotation),
    }


def _check_schema(_: CheckFaithfulness) -> Schema:
    return schema_of(WireFaithfulness)


def _read_check(_: CheckFaithfulness, answer: Mapping[str, Any]) -> Faithfulness:
    checked = parsed(WireFaithfulness, answer)
    unsupported = tuple(each.strip() for each in checked.unsupported if each.strip())
    if checked.faithful and unsupported:
        raise ValueError("faithful: is false when there are unsupported statements")
    return Faithfulness(faithful=checked.faithful, unsupported=unsupported, text=checked.reason.strip())


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    PhraseQuestion: Exchange(_phrase_sections, _phrase_schema, _read_phrasing),
    JudgeAnswer: Exchange(_judge_sections, _judge_schema, _read_judgement),
    CheckFaithfulness: Exchange(_check_sections, _check_schema, _read_check),
}
