"""Data in prompts: JSON between tags that nothing inside can close, bounded and free of odd characters.

Text that comes out of a video may hold anything, such as "ignore your instructions" or a closing tag. In
a section `</` is written as `<\\/`, which JSON reads as the same, and line breaks are escaped: no line of
it is a tag but those put there by `fenced`. Controls, direction marks and lone surrogates are replaced.
Whatever lay within the bounds is what `unfenced` gives back.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST_TEXT = 24_000
"""Characters of one text in a section."""
LONGEST_SECTION = 120_000
"""Characters of all texts of a section together; the longest ones are shortened first."""
MOST_ITEMS = 2_000
"""Items of a list; longer lists are thinned evenly."""
CUT = " … [cut]"
"""What a shortened text ends with."""

_SECTION = re.compile(r"^<([a-z_]+)>\n(.*?)\n</\1>$", re.MULTILINE | re.DOTALL)
_UNUSUAL = re.compile(r"[^\n\t\x20-\x7e]")
_JOINERS = "\u200c\u200d"
"""Without a shape of their own, but some scripts and emoji are not the same without them."""


def fenced(name: str, value: Any, longest: int = LONGEST_TEXT, total: int = LONGEST_SECTION) -> str:
    """A section: `<name>`, the value as JSON, `</name>`, each on lines of its own.

    Of a list every item is on a line of its own. Texts together have at most `total` characters, each at
    most `longest`; when items of a list were left out, a line below the section says how many.
    """
    plain, left_out = _thinned(_json_value(value))
    plain = _shortened(plain, longest, total)
    note = f"\n({left_out} entries of {name} were left out, evenly.)" if left_out else ""
    return f"<{name}>\n{_written(plain)}\n</{name}>{note}"


def unfenced(text: str) -> dict[str, Any]:
    """Name → value of every section in a text, in order."""
    return {match[1]: json.loads(match[2]) for match in _SECTION.finditer(text)}


def _json_value(value: Any) -> Any:
    """Plain JSON: mappings as dicts, sequences as lists, ordinary text, numbers to three decimals."""
    if isinstance(value, str):
        return _UNUSUAL.sub(_seen, value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, 3)
    if isinstance(value, Mapping):
        return {_json_value(str(key)): _json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(inner) for inner in value]
    return value


def _thinned(value: Any) -> tuple[Any, int]:
    if not isinstance(value, list) or len(value) <= MOST_ITEMS:
        return value, 0
    kept = [value[number * len(value) // MOST_ITEMS] for number in range(MOST_ITEMS)]
    return kept, len(value) - MOST_ITEMS


def _shortened(value: Any, longest: int, total: int) -> Any:
    lengths = sorted(len(text) for text in _texts(value))
    room = total
    for position, length in enumerate(lengths):
        share = room // (len(lengths) - position)
        if length > share:
            longest = min(longest, share)
            break
        room -= length
    return _cut(value, longest)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        if len(value) <= longest:
            return value
        return value[: max(0, longest - len(CUT))] + CUT
    if isinstance(value, dict):
        return {_cut(key, longest): _cut(inner, longest) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cut(inner, longest) for inner in value]
    return value


def _written(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(item, str | list | dict) for item in value):
        return "[\n" + ",\n".join(map(_one_line, value)) + "\n]"
    return _one_line(value)


def _one_line(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/")


def _seen(match: "re.Match[str]") -> str:
    """A letter as it is, a blank as a space, anything without a shape as the replacement mark."""
    letter = match[0]
    if letter.isprintable() or letter in _JOINERS:
        return letter
    return " " if letter.isspace() else "\ufffd"
