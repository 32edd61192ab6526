"""Evidence as strategies hand it over: text, dicts, results of calls, lists of any of them."""

from typing import Any

from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval

_TEXT = ("text", "description", "summary", "label", "name", "transcript")
"""Fields that say what was found, the most telling first."""
_SOURCE = "look"


def gathered(value: Any, source: str = "") -> tuple[Evidence, ...]:
    """Every piece of evidence in a JSON value, in its order, without empty and repeated ones.

    A dict with a text is one piece, with its `start` and `end` (seconds) when it has them; what lies in
    lists below it follows. Text alone is a piece without an interval.
    """
    pieces: list[Evidence] = []
    _collect(value, source, pieces)
    unique: dict[tuple[str, str], Evidence] = {}
    for piece in pieces:
        unique.setdefault((piece.text, repr(piece.interval)), piece)
    return tuple(unique.values())


def _collect(value: Any, source: str, pieces: list[Evidence]) -> None:
    if isinstance(value, str):
        if value.strip():
            pieces.append(Evidence(source=source or _SOURCE, text=value.strip()))
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, source, pieces)
    elif isinstance(value, dict):
        where = value.get("source")
        source = where if isinstance(where, str) and where else source
        text = next((value[name] for name in _TEXT if isinstance(value.get(name), str) and value[name]), "")
        if text.strip():
            pieces.append(Evidence(source=source or _SOURCE, interval=_interval(value), text=text.strip()))
        for name, inner in value.items():
            if isinstance(inner, dict) or (isinstance(inner, list) and name not in ("frames", "candidates")):
                _collect(
                    [item for item in inner if not isinstance(item, str)]
                    if isinstance(inner, list)
                    else inner,
                    source,
                    pieces,
                )


def _interval(value: dict[str, Any]) -> Interval | None:
    start, end = value.get("start"), value.get("end")
    if isinstance(start, bool) or not isinstance(start, int | float) or start < 0:
        return None
    if isinstance(end, bool) or not isinstance(end, int | float) or end < start:
        end = start
    return Interval(start=float(start), end=float(end))
