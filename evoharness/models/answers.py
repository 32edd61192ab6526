"""From what a model wrote to the JSON object that was asked for.

Text that is JSON and fits the schema passes as it is. Otherwise what models commonly get wrong is put right
where there is only one way to understand it: fences and prose around the object, trailing commas, comments,
Python's `True` and `None`, line breaks in texts, a number written as text, an end that is missing. Whatever
could be understood in two ways, or not at all, is an `AnswerError`, whose message is meant for the model.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evoharness.models.answer_fitting import AnswerError, bounded, fit
from evoharness.models.lenient_json import DEEPEST, ENDS_EARLY, NotJson, read_value, whole_letters

__all__ = ["AnswerError", "parse"]

LONGEST_ANSWER = 2_000_000
"""Characters; no task needs more, and a longer text is no answer."""
MOST_ATTEMPTS = 24
"""How many places in a text are tried as the begin of the answer."""
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_HALF_LETTER = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_THOUGHTS = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)


def parse(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object that `text` holds, fitting `schema`.

    Raises AnswerError, and nothing else, with words that can be shown to the model.
    """
    if len(text) > LONGEST_ANSWER:
        raise AnswerError(f"the answer has {len(text)} characters; that is far too long")
    if not text.strip():
        raise AnswerError("the answer is empty; write the JSON object")
    unread: list[NotJson] = []
    unfit: AnswerError | None = None
    for value, complete in _candidates(text, unread):
        try:
            fitted = _object(fit(value, schema))
            bounded(fitted)
            return fitted
        except AnswerError as error:
            unfit = unfit or (error if complete else AnswerError(f"{ENDS_EARLY} ({error})"))
    if unfit is not None:
        raise unfit
    if unread:
        raise AnswerError(str(unread[0]))
    raise AnswerError("there is no JSON object in the answer; write the object and nothing else")


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise AnswerError("the answer is no JSON object")
    return value


def _candidates(text: str, unread: list[NotJson]) -> Iterator[tuple[Any, bool]]:
    """Values that the text may mean, the likeliest first, and whether each is complete.

    `unread` gets why other places in the text are no JSON.
    """
    strict, found = _strictly(text)
    if found:
        yield strict, True
        return
    text = _THOUGHTS.sub("", text)
    for block in reversed(_FENCED.findall(text)):
        yield from _objects(block, unread)
    yield from _objects(text, unread)


def _strictly(text: str) -> tuple[Any, bool]:
    try:
        value = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None, False
    if _is_deep(value):
        raise AnswerError(f"the answer is nested more than {DEEPEST} levels deep")
    return (_whole_letters(value) if _HALF_LETTER.search(text) else value), True


def _is_deep(value: Any) -> bool:
    """Whether it is nested deeper than any answer; looked at level by level."""
    level = [value]
    for _ in range(DEEPEST + 2):
        level = [
            item
            for one in level
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _whole_letters(value: Any) -> Any:
    """The value with half a surrogate pair, which no file or database takes, replaced in its texts."""
    if isinstance(value, str):
        return whole_letters(value)
    if isinstance(value, list):
        return [_whole_letters(item) for item in value]
    if isinstance(value, dict):
        return {whole_letters(key): _whole_letters(item) for key, item in value.items()}
    return value


def _objects(text: str, unread: list[NotJson]) -> list[tuple[Any, bool]]:
    """Objects written in the text: whole ones before one that is cut off, later ones before earlier ones."""
    whole: list[tuple[Any, bool]] = []
    cut: list[tuple[Any, bool]] = []
    start = text.find("{")
    for _ in range(MOST_ATTEMPTS):
        if start < 0:
            break
        try:
            value, end, complete = read_value(text, start)
        except NotJson as error:
            unread.append(error)
            start = text.find("{", start + 1)
            continue
        (whole if complete else cut).append((value, complete))
        start = text.find("{", end)
    return [*reversed(whole), *cut]
