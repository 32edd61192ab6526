"""Does a JSON value fit a schema, and if not quite: is there one plain way to make it fit?

The schemas are those of answers on the wire: objects, lists, texts, numbers, booleans and enumerations
(see `wire`), with `anyOf` and bounds understood as well. A value that fits is given back as it is.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

LARGEST, SMALLEST = 2**64 - 1, -(2**63)
"""Whole numbers beyond these are no answer to anything, and neither fit a float nor a database."""


class AnswerError(ValueError):
    """An answer that is not what was asked for; the message tells the model what is wrong."""


def bounded(value: Any) -> None:
    """AnswerError for a number, anywhere in the value, that is not finite or does not fit 64 bits."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        elif not _is_bounded(one):
            raise AnswerError(f"{_shown(one)} is no number that can be used")


def _is_bounded(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or SMALLEST <= value <= LARGEST


def fit(value: Any, schema: Mapping[str, Any], path: str = "") -> Any:
    """The value, changed where there is one plain way to make it fit. Raises AnswerError."""
    if "anyOf" in schema:
        return _fit_any(value, schema["anyOf"], path)
    kinds = schema.get("type", ())
    if not isinstance(kinds, str):
        return _fit_any(value, [{**schema, "type": kind} for kind in kinds], path) if kinds else value
    fitted = _FITTING[kinds](value, schema, path) if kinds in _FITTING else value
    if "enum" in schema:
        return _among(fitted, schema["enum"], path)
    return fitted


def _fit_any(value: Any, schemas: Sequence[Mapping[str, Any]], path: str) -> Any:
    error: AnswerError | None = None
    changed: list[Any] = []
    for schema in schemas:
        try:
            fitted = fit(value, schema, path)
        except AnswerError as failure:
            error = error or failure
        else:
            if _same(fitted, value):
                return fitted
            changed.append(fitted)
    if changed:
        return changed[0]
    raise error or AnswerError(f"{_at(path)}: {_shown(value)} does not fit")


def _same(first: Any, second: Any) -> bool:
    return type(first) is type(second) and first == second


def _object(value: Any, schema: Mapping[str, Any], path: str) -> dict[str, Any]:
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    if (
        isinstance(value, list)
        and len(required) == 1
        and properties.get(required[0], {}).get("type") == "array"
    ):
        value = {required[0]: value}
    if not isinstance(value, dict):
        raise AnswerError(f"{_at(path)}: {_shown(value)} is no object")
    missing = [name for name in required if name not in value]
    if missing:
        raise AnswerError(f"{_at(path)}: {', '.join(map(json.dumps, missing))} missing")
    fitted = dict(value)
    for name, inner in properties.items():
        if name in value:
            fitted[name] = fit(value[name], inner, f"{path}.{name}" if path else name)
    return fitted


def _list(value: Any, schema: Mapping[str, Any], path: str) -> list[Any]:
    if value is None:
        value = []
    if not isinstance(value, list):
        raise AnswerError(f"{_at(path)}: {_shown(value)} is no list")
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        raise AnswerError(f"{_at(path)}: {len(value)} entries; {_range(least, most)} are needed")
    inner = schema.get("items")
    return value if inner is None else [fit(item, inner, f"{path}[{at}]") for at, item in enumerate(value)]


def _text(value: Any, schema: Mapping[str, Any], path: str) -> str:
    if value is None and "enum" not in schema:
        value = ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = json.dumps(value)
    if not isinstance(value, str):
        raise AnswerError(f"{_at(path)}: {_shown(value)} is no text")
    return value


def _number(value: Any, schema: Mapping[str, Any], path: str) -> int | float:
    if isinstance(value, str):
        try:
            value = json.loads(value.strip().removesuffix("s").strip())
        except (ValueError, RecursionError):
            raise AnswerError(f"{_at(path)}: {_shown(value)} is no number") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_bounded(value):
        raise AnswerError(f"{_at(path)}: {_shown(value)} is no number")
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if not least <= value <= most:
        raise AnswerError(f"{_at(path)}: {_shown(value)} is not {_range(least, most)}")
    return value


def _integer(value: Any, schema: Mapping[str, Any], path: str) -> int:
    number = _number(value, schema, path)
    if isinstance(number, float):
        if not number.is_integer():
            raise AnswerError(f"{_at(path)}: {_shown(value)} is no whole number")
        number = int(number)
    if not _is_bounded(number):
        raise AnswerError(f"{_at(path)}: {_shown(value)} is no number that can be used")
    return number


def _boolean(value: Any, _: Mapping[str, Any], path: str) -> bool:
    if isinstance(value, str):
        value = {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower(), value)
    if not isinstance(value, bool):
        raise AnswerError(f"{_at(path)}: {_shown(value)} is neither true nor false")
    return value


def _null(value: Any, _: Mapping[str, Any], path: str) -> None:
    if value is not None:
        raise AnswerError(f"{_at(path)}: {_shown(value)} is not null")


_FITTING = {
    "object": _object,
    "array": _list,
    "string": _text,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "null": _null,
}


def _among(value: Any, allowed: Sequence[Any], path: str) -> Any:
    for one in allowed:
        if _same(one, value):
            return value
    if isinstance(value, str):
        alike = [one for one in allowed if isinstance(one, str) and _plain(one) == _plain(value)]
        if len(alike) == 1:
            return alike[0]
    words = ", ".join(json.dumps(one) for one in allowed[:40])
    raise AnswerError(f"{_at(path)}: {_shown(value)} is none of {words}")


def _plain(word: str) -> str:
    return word.strip(" \t\n\"'()[].:").casefold().replace(" ", "_").replace("-", "_")


def _at(path: str) -> str:
    return path or "the answer"


def _range(least: float, most: float) -> str:
    if most == math.inf:
        return f"at least {least:g}"
    return f"at most {most:g}" if least in (0, -math.inf) else f"{least:g} to {most:g}"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value)
    except (ValueError, TypeError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else text[:60] + "…"
