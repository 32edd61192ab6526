"""What a clause says that something does: kinds of doing by meaning, sides, colors, and the other words."""

import re
from dataclasses import dataclass
from itertools import pairwise

from evoharness.models.embedded.english import content_terms, normalise, stem, tokens
from evoharness.models.embedded.vocabulary import COLORS

__all__ = ["Happening", "agreement", "read_happening"]


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_COMING = _stems("enter appear arrive come emerge reappear arrival entry entrance appearance")
_GOING = _stems("leave disappear exit vanish depart departure disappearance")
_GROWING = _stems("grow enlarge expand swell bigger larger")
_SHRINKING = _stems("shrink reduce diminish smaller")
_MOVING = _stems("move travel slide drift shift")
_ROTATING = _stems("rotate spin")
_BLINKING = _stems("blink flash flicker")
_STEPPING = _MOVING | _stems("go come run walk fly float glide roll jump swim drive step")
_TURNING = _stems("turn become change switch go get recolor take gain adopt fade")
_CHANGING = _stems("change alter")
_COLOR, _SIZE = stem("color"), stem("size")
_CLASSES = (
    ("come", _COMING),
    ("go", _GOING),
    ("grow", _GROWING),
    ("shrink", _SHRINKING),
    ("rotate", _ROTATING),
    ("blink", _BLINKING),
)
_INWARDS = frozenset({"in", "into", "inside"})
_OUTWARDS = frozenset({"out", "off", "away"})
_SIDES = {
    "left": "left", "right": "right", "top": "top", "bottom": "bottom", "up": "top", "down": "bottom",
    "above": "top", "below": "bottom", "upwards": "top", "upward": "top", "downwards": "bottom",
    "downward": "bottom", "leftwards": "left", "rightwards": "right", "center": "center",
    "centre": "center", "middle": "center",
}  # fmt: skip
_SIDE = re.compile(
    r"\b(?:(?P<from>from|through)\s+)?(?:the\s+)?(?P<side>" + "|".join(_SIDES) + r")\b", re.IGNORECASE
)
_OWN_COLOR = re.compile(r"\b(?:its|their|his|her) colou?rs? (?P<verb>changes?|changed|changing)\b", re.I)
_CONTRADICTED = 0.15
_UNTOLD = 0.7
"""Worth of a statement that leaves open a side or a color that is looked for."""


@dataclass(frozen=True)
class Happening:
    """What one clause says of its subject."""

    text: str
    """The clause without its subject."""
    kinds: frozenset[str]
    """Kinds of doing, such as `come` and `recolor`; empty when it is of no kind known here."""
    origins: frozenset[str]
    """Sides it is from."""
    sides: frozenset[str]
    """Sides it is at or goes to."""
    color: str | None
    """The color it takes on."""
    rest: tuple[str, ...]
    """Stems of the other words."""


def read_happening(clause: str) -> Happening:
    """Read a clause without its subject."""
    text = normalise(_OWN_COLOR.sub("recolors", clause))
    terms = content_terms(text)
    words = tokens(text)
    colors = [term for term in terms if term in COLORS]
    kinds = _kinds(set(terms), words, bool(colors))
    origins, sides = set[str](), set[str]()
    for found in _SIDE.finditer(text):
        (origins if found["from"] else sides).add(_SIDES[found["side"].lower()])
    known = {stem(word) for word in _SIDES} | COLORS | {_COLOR, _SIZE, "side", "edg"}
    rest = tuple(term for term in terms if term not in known)
    return Happening(
        text,
        frozenset(kinds),
        frozenset(origins),
        frozenset(sides),
        colors[-1] if colors and "recolor" in kinds else None,
        rest,
    )


def _kinds(terms: set[str], words: list[str], colored: bool) -> set[str]:
    kinds = {name for name, verbs in _CLASSES if terms & verbs}
    following = {after for word, after in pairwise(words) if stem(word) in _STEPPING | {"get"}}
    if following & _INWARDS:
        kinds.add("come")
    elif following & _OUTWARDS:
        kinds = (kinds - {"come"}) | {"go"}
    if stem("recolor") in terms or (terms & _TURNING and (colored or _COLOR in terms)):
        kinds.add("recolor")
    elif _SIZE in terms and terms & _CHANGING:
        kinds.add("resize")
    elif stem("turn") in terms and not kinds:
        kinds.add("rotate")
    elif terms & _CHANGING and not kinds:
        kinds.add("change")
    if not kinds and terms & _STEPPING:
        kinds.add("move")
    return kinds


_WIDER = {
    "resize": {"grow", "shrink"},
    "change": {"grow", "shrink", "recolor"},
}


def agreement(sought: Happening, told: Happening) -> float | None:
    """How far what is told is what is sought, 0 to 1; None when the kind of doing does not say."""
    if not sought.kinds:
        return None
    wanted = sought.kinds.union(*(_WIDER.get(kind, ()) for kind in sought.kinds))
    if not wanted & told.kinds:
        return 0.0
    fit = 1.0
    if sought.color:
        fit *= 1.0 if told.color == sought.color else _UNTOLD if told.color is None else _CONTRADICTED
    if wanted & {"come", "go"}:
        return fit * _same_sides(sought.origins | sought.sides, told.origins | told.sides)
    return fit * _same_sides(sought.origins, told.origins) * _same_sides(sought.sides, told.sides)


def _same_sides(sought: frozenset[str], told: frozenset[str]) -> float:
    if not sought or sought <= told:
        return 1.0
    if not told:
        return _UNTOLD
    return _UNTOLD if sought & told else _CONTRADICTED
