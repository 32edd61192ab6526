"""Answers on the wire: small models of what a backbone writes, their strict schemas, and relative times.

A wire model has only texts, numbers, booleans, words out of a list, lists and objects, all of them required,
because that is what the strict modes of all providers have in common. Nothing is nullable: an empty text or
list, or a boolean beside it, says that there is nothing.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evoharness.records.interval import Interval

Schema = dict[str, Any]
CLOCK_SLACK_S = 0.5
"""How far outside its clip a time may lie and still be taken for a time of it."""


class Wire(BaseModel):
    """What a model writes, before it is turned into the output of its task."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


Shape = TypeVar("Shape", bound=Wire)


class WireSpan(Wire):
    """A stretch of time in the seconds of the clip."""

    start: float
    end: float


class WireText(Wire):
    """An answer in words."""

    text: str


def parsed(shape: type[Shape], answer: Mapping[str, Any]) -> Shape:
    """The answer as a wire model; ValueError names the first field that does not fit, and why."""
    try:
        return shape.model_validate(dict(answer))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from error


def schema_of(shape: type[Wire], **words: Sequence[str]) -> Schema:
    """The strict JSON schema of a wire model.

    `words`: for a field of the top level that is a text, the only texts that it may be.
    """
    schema = deepcopy(_schema(shape))
    for name, allowed in words.items():
        schema["properties"][name]["enum"] = list(allowed)
    return schema


@cache
def _schema(shape: type[Wire]) -> Schema:
    source = shape.model_json_schema()
    return _strict(source, source.get("$defs", {}))


def _strict(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    if "$ref" in node:
        return _strict(definitions[node["$ref"].rpartition("/")[2]], definitions)
    kind = node.get("type")
    if kind == "object":
        inner = {name: _strict(part, definitions) for name, part in node.get("properties", {}).items()}
        return {
            "type": "object",
            "properties": inner,
            "required": list(inner),
            "additionalProperties": False,
        }
    if kind == "array":
        return {"type": "array", "items": _strict(node["items"], definitions)}
    if kind in ("string", "number", "integer", "boolean"):
        return {"type": kind, "enum": list(node["enum"])} if "enum" in node else {"type": kind}
    raise TypeError(f"no strict schema for {dict(node)}")


def said(text: str, field: str) -> str:
    """The text without space around it; ValueError when nothing is left."""
    text = text.strip()
    if not text:
        raise ValueError(f"{field}: is empty; say it in words")
    return text


class Clock:
    """From the seconds of a clip to those of its video.

    A model that counted from the start of the video although it was told otherwise is understood as a
    whole or not at all: `times` are all the times that it gave.
    """

    def __init__(self, span: Interval, times: Iterable[float]) -> None:
        given = [time for time in times if math.isfinite(time)]
        absolute = (
            bool(given)
            and span.start > 0
            and max(given) > span.duration + CLOCK_SLACK_S
            and min(given) >= span.start - CLOCK_SLACK_S
            and max(given) <= span.end + CLOCK_SLACK_S
        )
        self._span = span
        self._shift = 0.0 if absolute else span.start

    def raw(self, time: float) -> float:
        """The time in the video, wherever it lies."""
        return round(time + self._shift, 6)

    def at(self, time: float) -> float:
        """The time in the video, inside the span."""
        return min(max(self.raw(time), self._span.start), self._span.end)

    def interval(self, span: WireSpan) -> Interval:
        """The stretch in the video, inside the span; start and end may come in either order."""
        start, end = sorted((self.at(span.start), self.at(span.end)))
        return Interval(start=start, end=end)


def times_of(spans: Iterable[WireSpan]) -> list[float]:
    """Every start and end."""
    return [time for span in spans for time in (span.start, span.end)]
