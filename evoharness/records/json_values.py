"""JSON values: their types in words, their equality, and the bounds of those that others hand in."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

ValueType = Literal["text", "number", "integer", "boolean", "list", "object"]
"""`integer` is a number without a fraction, 3.0 too; no boolean is a number."""
VALUE_TYPES: tuple[ValueType, ...] = get_args(ValueType)

DEEPEST = 20
"""Levels of nesting."""
LARGEST = 64 * 1024
"""Bytes of UTF-8 JSON."""
LARGEST_INTEGER = 2**63
"""Beyond this in either direction, readers of JSON disagree."""


def fits(value: Any, kind: ValueType) -> bool:
    """Whether a JSON value is of that type."""
    match kind:
        case "text":
            return isinstance(value, str)
        case "number":
            return _is_number(value)
        case "integer":
            return _is_number(value) and (isinstance(value, int) or value.is_integer())
        case "boolean":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list | tuple)
        case "object":
            return isinstance(value, Mapping)


def type_of(value: Any) -> str:
    """The type of a JSON value in one word: one of VALUE_TYPES, or `null`."""
    if value is None:
        return "null"
    return next((kind for kind in VALUE_TYPES if fits(value, kind)), type(value).__name__)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are; 1 and true are not, nor is anything but null null."""
    if _is_number(one) and _is_number(other):
        return bool(one == other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def fault(value: Any, deepest: int = DEEPEST, largest: int = LARGEST) -> str:
    """Why a value is no JSON value of bounded size, in a few words; empty when it is one."""
    layer = [value]
    for _ in range(deepest + 1):
        inner: list[Any] = []
        for item in layer:
            if isinstance(item, Mapping):
                if not all(isinstance(key, str) for key in item):
                    return "the keys of an object are texts"
                inner.extend(item.values())
            elif isinstance(item, list | tuple):
                inner.extend(item)
            elif said := _scalar_fault(item):
                return said
        if not inner:
            return _size_fault(value, largest)
        layer = inner
    return f"nested more than {deepest} levels"


def shown(value: Any, longest: int = 200) -> str:
    """A JSON value as one short line that can be printed and stored, whatever it holds."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return one_line(text, longest)


def one_line(text: str, longest: int = 200) -> str:
    """Text without line breaks and lone surrogates, cut to at most `longest` characters."""
    plain = "".join(c if c.isprintable() else " " for c in text[: 4 * longest])
    plain = " ".join(plain.encode("utf-8", "replace").decode().split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def printable(text: str) -> str:
    """Text that does nothing to a terminal but write and end lines, and can be stored."""
    plain = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
    return plain.encode("utf-8", "replace").decode()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _scalar_fault(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isfinite(value) else "numbers are finite"
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return "integers lie within 64 bits"
    if value is None or isinstance(value, str | int | bool):
        return ""
    return f"{type(value).__name__} is no JSON"


def _size_fault(value: Mapping[str, Any] | Sequence[Any] | Any, largest: int) -> str:
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return "text that is no Unicode"
    return f"larger than {largest // 1024} KB" if size > largest else ""
