"""Words of ordinary English: stems, numbers, quoted strings, and which words stand for each other.

Everything here is about the language, nothing about any video: a reading-comprehension engine needs to know
that *closing* and *closed* are one verb, that *three* is 3, and that what *shows up* appears.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

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

_STOP = """a an the of in on at to from by with for and or as is are was were be been being it its this that these
those there here then than so do does did done has have had having will would can could should may might must what
which who whom whose where when why how he she they them his her their him we you your i our us me my into onto over
about up out off if but also very just only some any each every all both such own same other another following video
clip footage according shown show shows showing seen see sees visible displayed display one during while s t"""
STOP_WORDS = frozenset(_STOP.split())
"""Words that carry little meaning of their own in a question or a statement."""

_IRREGULAR = {
    "came": "come", "went": "go", "gone": "go", "became": "become", "began": "begin", "begun": "begin",
    "fell": "fall", "fallen": "fall", "took": "take", "taken": "take", "held": "hold", "wrote": "write",
    "written": "write", "said": "say", "spoke": "speak", "spoken": "speak", "drew": "draw", "drawn": "draw",
    "gave": "give", "given": "give", "made": "make", "kept": "keep", "men": "man", "women": "woman",
    "people": "person", "children": "child", "ran": "run", "sat": "sit", "stood": "stand", "rose": "rise",
    "risen": "rise", "grew": "grow", "grown": "grow", "shrank": "shrink", "shrunk": "shrink", "told": "tell",
    "brought": "bring", "caught": "catch", "thrown": "throw", "threw": "throw", "ate": "eat", "eaten": "eat",
    "found": "find", "lost": "lose", "hid": "hide", "hidden": "hide", "chosen": "choose", "chose": "choose",
    "broke": "break", "broken": "break", "drove": "drive", "driven": "drive", "flew": "fly", "flown": "fly",
    "bought": "buy", "sold": "sell", "built": "build", "cutting": "cut", "putting": "put", "lying": "lie",
    "dying": "die", "tying": "tie",
    "moving": "move", "leaving": "leave", "leaves": "leave", "colour": "color",
    "colours": "color", "coloured": "color", "colored": "color", "colors": "color", "grey": "gray",
    "centre": "center", "centres": "center", "knives": "knife", "reappears": "reappear",
}  # fmt: skip

_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\b(?:comes?|coming|came) (?:in|into|on|onto)"
         r"(?: (?:the )?(?:view|sight|frame|screen|scene|picture))?\b", "enters"),
        (r"\b(?:shows?|showing|showed|pops?|popping|popped|turns?|turning|turned) up\b", "appears"),
        (r"\b(?:is|are|was|were) (?:first )?(?:visible|shown|seen|displayed|presented)\b", "appears"),
        (r"\b(?:goes|go|going|went|gets?|getting|moves?|moving|moved) (?:away|(?:out|off)"
         r"(?: of)?(?: (?:the )?(?:view|sight|frame|screen|scene|picture))?)\b", "leaves"),
        (r"\b(?:exits?|leaves?|left) (?:the )?(?:view|sight|frame|screen|scene|picture)\b", "leaves"),
        (r"\b(?:enters?|entering|entered) (?:the )?(?:view|frame|screen|scene|picture)\b", "enters"),
        (r"\b(?:no longer|not any ?more) (?:visible|shown|seen|displayed)\b", "disappears"),
        (r"\bpick(?:s|ed|ing)? up\b", "takes"),
        (r"\bput(?:s|ting)? down\b", "places"),
    )
)  # fmt: skip

_RELATED_GROUPS: tuple[tuple[float, str], ...] = (
    (0.75, "appear enter arrive emerge come reappear"),
    (0.75, "leave disappear exit vanish go depart"),
    (0.75, "turn change become switch"),
    (0.75, "move travel slide drift shift cross"),
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

_TOKEN = re.compile(r"\d+(?:[.:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|\w+")
_QUOTED = re.compile(
    r"\"([^\"]{1,200})\"|“([^”]{1,200})”|«([^»]{1,200})»|(?<!\w)['‘]([^'’]{2,200}?)['’](?!\w)"
)


def _strip_suffix(word: str) -> str:
    for suffix, least in (("ing", 3), ("ed", 3), ("es", 3), ("s", 3)):
        if not word.endswith(suffix) or len(word) - len(suffix) < least or word.endswith("ss"):
            continue
        root = word[: -len(suffix)]
        if suffix in ("ing", "ed") and not re.search(r"[aeiouy]", root):
            continue
        if suffix == "es" and not re.search(r"(?:s|x|z|ch|sh|o)$", root):
            return root + "e"
        if suffix in ("ing", "ed") and len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
            root = root[:-1]
        return root
    return word


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The common form of a word's inflections; not always a word itself."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    if (word.endswith("ies") and len(word) > 4) or (word.endswith("ied") and len(word) > 4):
        word = word[:-3] + "y"
    else:
        word = _strip_suffix(word)
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word


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


@dataclass(frozen=True)
class Words:
    """A text, taken apart."""

    terms: tuple[str, ...]
    """Stems of the words that carry meaning, in order; numbers as digits."""
    quotes: tuple[str, ...]
    """What stands between quotation marks."""
    numbers: tuple[int, ...]
    """Whole numbers, in digits or words."""


def normalise(text: str) -> str:
    """Put multi-word verbs of appearing and leaving into one word, outside quotation marks."""
    parts: list[str] = []
    last = 0
    for found in _QUOTED.finditer(text):
        parts.append(_replace_phrases(text[last : found.start()]))
        parts.append(found.group(0))
        last = found.end()
    parts.append(_replace_phrases(text[last:]))
    return "".join(parts)


def _replace_phrases(text: str) -> str:
    for pattern, replacement in _PHRASES:
        text = pattern.sub(replacement, text)
    return text


def quoted(text: str) -> tuple[str, ...]:
    """The strings between quotation marks, in order."""
    return tuple(next(group for group in found.groups() if group) for found in _QUOTED.finditer(text))


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers, in order."""
    return [token.lower().replace("’", "'") for token in _TOKEN.findall(text)]


@lru_cache(maxsize=16384)
def read_words(text: str) -> Words:
    """Take a text apart; the result is kept."""
    terms: list[str] = []
    numbers: list[int] = []
    for token in tokens(normalise(text)):
        token = token.removesuffix("'s").removesuffix("n't")
        if token.isdigit():
            token = str(int(token))
            numbers.append(int(token))
        elif token in NUMBER_WORDS and token != "none":
            numbers.append(NUMBER_WORDS[token])
            if token != "one":
                token = str(NUMBER_WORDS[token])
        if token and token not in STOP_WORDS:
            terms.append(stem(token))
    return Words(tuple(terms), quoted(text), tuple(numbers))


def content_terms(text: str) -> tuple[str, ...]:
    """Stems of the meaningful words of a text."""
    return read_words(text).terms


@lru_cache(maxsize=65536)
def edit_distance(one: str, other: str, most: int = 2) -> int:
    """Levenshtein distance, or `most` + 1 as soon as it is larger."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    previous = list(range(len(other) + 1))
    for row, left in enumerate(one, start=1):
        current = [row]
        for column, right in enumerate(other, start=1):
            current.append(min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (left != right)))
        if min(current) > most:
            return most + 1
        previous = current
    return previous[-1]


_CONFUSED = str.maketrans({"0": "o", "1": "l", "5": "s", "8": "b", "i": "l"})


@lru_cache(maxsize=131072)
def spelling_closeness(one: str, other: str) -> float:
    """How well two words agree when one may be misread (0 to 1); numbers agree fully or not at all."""
    if one == other:
        return 1.0
    if one.isdigit() or other.isdigit():
        return 0.0
    if len(one) < 4 or len(other) < 4:
        return 0.0
    digits_one, digits_other = any(map(str.isdigit, one)), any(map(str.isdigit, other))
    if digits_one and digits_other and re.sub(r"\D", "", one) != re.sub(r"\D", "", other):
        return 0.0
    if digits_one or digits_other:
        one, other = one.translate(_CONFUSED), other.translate(_CONFUSED)
        if one == other:
            return 0.9
    longest = max(len(one), len(other))
    if min(len(one), len(other)) >= 4 and longest >= 8 and (one in other or other in one):
        return 0.75
    most = 1 if longest < 7 else 2
    distance = edit_distance(one, other, most)
    return max(0.0, 1.0 - 1.6 * distance / longest) if distance <= most else 0.0
