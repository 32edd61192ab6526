"""What words of ordinary English stand for: numbers, verbs of several words, words of one meaning.

Everything here is about the language, nothing about any video: a reading-comprehension engine needs to know
that *three* is 3, that what *shows up* appears, and that *large* is *big*.
"""

import re

from evoharness.models.embedded.stems import stem

_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
NUMBER_WORDS: dict[str, int] = {word: value for value, word in enumerate(_NUMBERS.split())} | {
    "once": 1,
    "twice": 2,
    "thrice": 3,
    "none": 0,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
}
ORDINAL_WORDS: dict[str, int] = {word: value for value, word in enumerate(_ORDINALS.split()) if value}

_STOP = """
a an the of in on at to from by with for and or as is are was were be been being it its this that these
those there here then than so do does did done has have had having will would can could should may might
must what which who whom whose where when why how he she they them his her their him we you your i our us me
my into onto over about up out off if but also very just only some any each every all both such own same
other another following video clip footage according shown show shows showing seen see sees visible
displayed display one during while s t not never no nor neither except happen happens happened happening
occur occurs occurred
"""
STOP_WORDS = frozenset(_STOP.split())
"""Words that carry little meaning of their own in a question or a statement."""

PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\b(?:comes?|coming|came) (?:in|into|on|onto)"
         r"(?: (?:the )?(?:view|sight|frame|screen|scene|picture))?\b", "enters"),
        (r"\b(?:shows?|showing|showed|pops?|popping|popped|turns?|turning|turned) up\b", "appears"),
        (r"\b(?:goes|go|going|went|gets?|getting|moves?|moving|moved|runs?|ran|walks?|walked) "
         r"(?:away\b|(?:out|off)(?:(?: of| from)? (?:the )?(?:view|sight|frame|screen|scene|picture)\b"
         r"|(?=\s*(?:[.,;?!]|$))))", "leaves"),
        (r"\b(?:has|have|had|having) (?:already |just )?left\b(?! of)", "leaves"),
        (r"\bleft(?= (?:first|last|before|after|earlier|later|behind)\b)", "leaves"),
        (r"\b(?:exits?|leaves?|left) (?:the )?(?:view|sight|frame|screen|scene|picture)\b", "leaves"),
        (r"\b(?:enters?|entering|entered) (?:the )?(?:view|frame|screen|scene|picture)\b", "enters"),
        (r"\b(?:no longer|not any ?more) (?:visible|shown|seen|displayed)\b", "disappears"),
        (r"\b(step|part|stage|phase|slide|level|lesson|number|section|chapter) one\b", r"\1 1"),
        (r"\b(?:gets?|getting|got|grows?|growing|grew|becomes?|became) (?:bigger|larger)\b", "grows"),
        (r"\b(?:gets?|getting|got|grows?|becomes?|became) smaller\b", "shrinks"),
        (r"\bchang(?:es?|ed|ing) (?:its |the |their |in )?colou?rs?\b", "recolors"),
        (r"\bpick(?:s|ed|ing)? up\b", "takes"),
        (r"\bput(?:s|ting)? down\b", "places"),
    )
)  # fmt: skip

_RELATED_GROUPS: tuple[tuple[float, str], ...] = (
    (0.75, "appear enter arrive emerge come reappear arrival entry entrance appearance"),
    (0.75, "leave disappear exit vanish go depart departure disappearance"),
    (0.75, "turn change become switch"),
    (0.75, "move travel slide drift shift"),
    (0.9, "middle center central"),
    (0.9, "top upper above"),
    (0.9, "bottom lower below underneath beneath"),
    (0.6, "text caption word label title sign heading inscription message card banner sentence note line"),
    (0.5, "thing object item shape figure"),
    (0.85, "circle disc disk circular round ball dot"),
    (0.8, "rectangle rectangular box"),
    (0.9, "large big huge"),
    (0.9, "small little tiny"),
    (0.8, "begin start commence"),
    (0.8, "end finish conclude complete stop"),
    (0.8, "say mention tell speak state"),
    (0.8, "close shut"),
    (0.8, "take grab lift"),
    (0.8, "place put lay set"),
    (0.8, "person man woman someone people"),
    (0.8, "purple violet"),
    (0.8, "repeat again twice"),
    (0.7, "grow expand enlarge"),
    (0.7, "shrink reduce"),
    (0.7, "blink flash flicker"),
    (0.7, "rotate spin turn"),
)
"""How far the words of a group stand for each other (1: the same word)."""


COLORS = frozenset(
    map(
        stem,
        [
            "red",
            "green",
            "blue",
            "yellow",
            "orange",
            "purple",
            "violet",
            "pink",
            "brown",
            "black",
            "white",
            "gray",
            "cyan",
            "magenta",
            "turquoise",
        ],
    )
)
"""Stems of the names of colors."""


def _related() -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for closeness, words in _RELATED_GROUPS:
        stems = [stem(word) for word in words.split()]
        for one in stems:
            row = table.setdefault(one, {})
            row.update({other: max(closeness, row.get(other, 0.0)) for other in stems if other != one})
    return table


RELATED: dict[str, dict[str, float]] = _related()
"""Stem → stems that may stand for it, with closeness in (0, 1)."""
