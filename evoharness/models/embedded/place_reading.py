"""Places in a picture as people name them: *middle left*, *at the bottom*, *in the upper right corner*."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evoharness.models.embedded.english import Quotations, tokens

_VERTICAL = {"top": -1, "upper": -1, "above": -1, "bottom": 1, "lower": 1, "below": 1, "up": -1, "down": 1,
             "upwards": -1, "downwards": 1}  # fmt: skip
_HORIZONTAL = {"left": -1, "lefthand": -1, "right": 1, "righthand": 1, "leftwards": -1, "rightwards": 1}
_MIDDLE = frozenset({"middle", "center", "centre", "central"})
_BESIDE = (
    "at in on the of to from side corner edge part half hand picture screen frame image towards toward it "
    "and near by area region very far"
)
_FILLER = frozenset(_BESIDE.split())
_WORD = "|".join(sorted({*_VERTICAL, *_HORIZONTAL, *_MIDDLE}, key=len, reverse=True))
_MENTION = re.compile(
    rf"(?:(?P<preposition>at|in|on|to|towards?|from|through|via|by)\s+(?:the\s+)?(?:very\s+|far\s+)?)?"
    rf"(?P<place>\b(?:{_WORD})\b(?:[\s-]+(?:{_WORD})\b)?)",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"\bfrom (?:which|what|where)\b|\bwhere\b.* (?:from|start)\b|\b(?:which|what) (?:side|edge"
    r"|direction)\b.*\bfrom\b"
    r"|\b(?:enters?|comes? in|come in|appears? first|arrives?)\b",
    re.IGNORECASE,
)
_GOAL = re.compile(
    r"\b(?:in)?to(?:wards?)? (?:which|what|where)\b|\bwhere\b.*\b(?:to|go|goes|move|moves|end|ends|stop"
    r"|leave|leaves)\b"
    r"|\b(?:which|what) (?:side|direction)\b.*\b(?:leaves?|exits?|goes|go|moves?|disappears?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Place:
    """A place; None where the direction is not said."""

    vertical: int | None
    """-1 the top, 0 the middle, 1 the bottom."""
    horizontal: int | None
    """-1 the left, 0 the middle, 1 the right."""
    preposition: str = ""
    """`at`, `to` or `from`, as far as it is said."""


def _place(words: Sequence[str], preposition: str = "") -> Place | None:
    vertical = next((_VERTICAL[word] for word in words if word in _VERTICAL), None)
    horizontal = next((_HORIZONTAL[word] for word in words if word in _HORIZONTAL), None)
    if any(word in _MIDDLE for word in words):
        vertical = 0 if vertical is None else vertical
        horizontal = 0 if horizontal is None else horizontal
    if vertical is None and horizontal is None:
        return None
    return Place(vertical, horizontal, preposition)


def place_of(option: str) -> Place | None:
    """The place that an option consists of; None when it says anything else."""
    words = tokens(option.replace("-", " "))
    known = {*_VERTICAL, *_HORIZONTAL, *_MIDDLE}
    if any(word not in known and word not in _FILLER for word in words):
        return None
    if (
        len({word for word in words if word in _HORIZONTAL}) > 1
        or len({w for w in words if w in _VERTICAL}) > 1
    ):
        return None
    return _place(words)


def places_of(options: Sequence[str]) -> list[Place] | None:
    """The places of options that all are places; None otherwise."""
    found = [place_of(option) for option in options]
    places = [place for place in found if place is not None]
    return places if len(places) == len(found) and len(places) >= 2 else None


def places_in(statement: str) -> list[Place]:
    """Every place that a statement mentions outside its quotations."""
    found = []
    for match in _MENTION.finditer(Quotations(statement).text):
        said = (match["preposition"] or "").lower()
        preposition = (
            "to" if said.startswith("to") else "from" if said in ("from", "through", "via") else "at"
        )
        place = _place(tokens(match["place"].replace("-", " ")), preposition if said else "")
        if place is not None:
            found.append(place)
    return found


def preposition_asked(question: str) -> str:
    """Whether a question asks where from, where to, or simply where (`at`)."""
    if _GOAL.search(question):
        return "to"
    return "from" if _SOURCE.search(question) else "at"


def agreement(one: Place, other: Place) -> float:
    """How well two places agree, 0 to 1; what one of them leaves open agrees in part."""
    total = 1.0
    for left, right in ((one.vertical, other.vertical), (one.horizontal, other.horizontal)):
        if left == right:
            continue
        if left is None or right is None:
            total *= 0.9 if (left or right or 0) == 0 else 0.55
        else:
            total *= 0.15
    return total
