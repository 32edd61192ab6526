"""English for questions: cleaning what a describer wrote, phrases, times, comparing wordings."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN = re.compile(r"\d+(?::\d+)+|[^\W_]+(?:['’][^\W_]+)*")
_ARTICLES = frozenset({"a", "an", "the"})
_DETERMINERS = _ARTICLES | _words(
    "this that these those his her its their my your our some several many both all no another each "
    "he she it they we you i "
    "every two three four five six seven eight nine ten someone somebody something everyone people"
)
_AUXILIARIES = _words("is are was were has have had can will may must does do did be been gets")
_PAST = _words(
    "went ran came took gave got made saw put cut set fell held kept left lost met read said sat stood "
    "threw told wrote began broke brought built drove drew fed found flew grew hit hung knew laid led let "
    "lit paid rang rode rose sang shook shot shut slid spoke spread stuck swung taught tore turned wore won"
)
COLOURS = _words(
    "red green blue yellow orange purple pink brown black white grey gray cyan magenta teal violet turquoise "
    "beige golden silver maroon navy olive lime"
)
SIZES = _words("tiny small little medium large big huge")
GENERIC = _words("shape shapes object objects thing things item items figure figures something")
SURROUNDINGS = _words("background scene screen camera picture video image frame view slide")
DIRECTIONS = _words("left right top bottom up down upper lower upwards downwards centre center middle")
CONTRASTS = (
    COLOURS,
    SIZES,
    DIRECTIONS,
    _words("appears disappears enters leaves opens closes starts stops"),
)
_FOLD = str.maketrans({"o": "0", "l": "1", "i": "1", "|": "1", "s": "5", "b": "8", "z": "2"})


def clean(text: str) -> str:
    """One line without control characters, outer quotes and a final stop; double quotes become single."""
    plain = unicodedata.normalize("NFKC", text)
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in plain)
    plain = re.sub(r"[\"“”„«»]", "'", plain)
    plain = re.sub(r"\s+", " ", plain).strip(" `.,;:")
    while len(plain) > 1 and plain[0] == plain[-1] == "'":
        plain = plain[1:-1].strip(" `.,;:")
    return plain


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Lower-case words and numbers; a clock time such as 1:24 is one token."""
    return tuple(_TOKEN.findall(text.casefold()))


@lru_cache(maxsize=65536)
def content(text: str) -> tuple[str, ...]:
    """The tokens without articles."""
    return tuple(token for token in tokens(text) if token not in _ARTICLES)


def noun_phrase(name: str) -> str:
    """`red circle` → `the red circle`; names, and phrases that have a determiner, stay as they are."""
    phrase = clean(name)
    first, _, rest = phrase.partition(" ")
    if first.casefold() in {"a", "an"} and rest:
        return f"the {rest}"
    if first.casefold() in _DETERMINERS or first[:1].isdigit():
        return lower_first(phrase)
    if first[:1].isupper() and (not rest or rest[:1].isupper()) and not first.isupper():
        return phrase
    return f"the {lower_first(phrase)}"


def lower_first(text: str) -> str:
    """With a small first letter, unless the first word is written in capitals."""
    first = text.split(" ", 1)[0]
    return text if len(first) > 1 and first.isupper() else text[:1].lower() + text[1:]


def upper_first(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]


def plural_subject(subject: str) -> bool:
    """Whether a noun phrase probably takes a plural verb."""
    words = tokens(subject)
    if not words:
        return False
    if words[0] in {
        "two",
        "three",
        "four",
        "five",
        "several",
        "many",
        "both",
        "these",
        "those",
        "people",
        "they",
    }:
        return True
    if words[0].isdigit() and words[0] != "1":
        return True
    last = words[-1]
    return (
        "and" in words or last == "people" or (last.endswith("s") and not last.endswith(("ss", "us", "is")))
    )


def predicate_of(action: str, subject: str) -> str:
    """The action as a present-tense predicate: `picking up the cup` → `is picking up the cup`."""
    phrase = lower_first(clean(action))
    first, _, rest = phrase.partition(" ")
    plural = plural_subject(subject)
    if first.endswith("ing") and len(first) > 4:
        return f"{'are' if plural else 'is'} {phrase}"
    if first in _AUXILIARIES or first in _PAST or first.endswith(("s", "ed")) or not first.isalpha():
        return phrase
    if plural:
        return phrase
    if first.endswith(("sh", "ch", "x", "o")):
        verb = first + "es"
    elif first.endswith("y") and first[-2:-1] not in "aeiou":
        verb = first[:-1] + "ies"
    else:
        verb = first + "s"
    return f"{verb} {rest}".strip()


def clock(seconds: float) -> str:
    """`84` → `1:24`; with hours from one hour on."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Letters that readers of text confuse (O and 0, l and 1, …) made equal, spaces and marks dropped."""
    return "".join(tokens(text)).translate(_FOLD)


@lru_cache(maxsize=65536)
def numbers(text: str) -> tuple[str, ...]:
    """The number tokens in order, a lone O or l read as a digit."""
    found = []
    for token in tokens(text):
        digit = token.translate(str.maketrans("oli", "011")) if len(token) == 1 else token
        if digit[:1].isdigit() and digit[-1:].isdigit():
            found.append(digit)
    return tuple(found)


def _one_slip(a: str, b: str) -> bool:
    """Whether one letter more, less or other turns `a` into `b`."""
    if abs(len(a) - len(b)) > 1:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    if len(a) == len(b):
        return a[start + 1 :] == b[start + 1 :]
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[start + 1 :] == shorter[start:]


def _same_token(a: str, b: str) -> bool:
    if a == b:
        return True
    left, right = a.translate(_FOLD), b.translate(_FOLD)
    return left == right or (min(len(a), len(b)) >= 5 and _one_slip(left, right))


def same_words(a: str, b: str) -> bool:
    """Whether two readings are most likely of one text: equal but for marks, spaces and slips."""
    if fold(a) == fold(b):
        return True
    left, right = tokens(a), tokens(b)
    if numbers(a) != numbers(b):
        return False
    if len(left) == len(right):
        return all(map(_same_token, left, right))
    return min(len(left), len(right)) > 1 and _same_token("".join(left), "".join(right))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without a common ending: `spraying`, `sprays`, `sprayed` → `spray`."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].removesuffix("e")
    return word.removesuffix("e")


def contrasts(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two token sequences differ by words of one contrasting class, such as two colours."""
    if [word for word in a if word[:1].isdigit()] != [word for word in b if word[:1].isdigit()]:
        return True
    for words in CONTRASTS:
        left, right = [w for w in a if w in words], [w for w in b if w in words]
        if left and right and left != right:
            return True
    return False


def contains_words(longer: str, shorter: str) -> bool:
    """Whether the words of `shorter` stand in `longer`, one after the other, articles aside."""
    big, small = content(longer), content(shorter)
    return bool(small) and any(big[i : i + len(small)] == small for i in range(len(big) - len(small) + 1))


def contains_in_order(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """Whether `shorter` is `longer` with some words left out."""
    rest = iter(longer)
    return bool(shorter) and all(word in rest for word in shorter)


def specific(words: Sequence[str]) -> tuple[str, ...]:
    """The words without nouns that can stand for anything, such as `shape` or `object`."""
    return tuple(word for word in words if word not in GENERIC)


def could_be(vague: Sequence[str], exact: Sequence[str]) -> bool:
    """Whether a wording with a noun for anything (`black shape`) fits another (`black circle`)."""
    return any(word in GENERIC for word in vague) and contains_in_order(exact, specific(vague) or exact)


def confusable(a: str, b: str) -> bool:
    """Whether two wordings are too close to stand side by side as answers.

    Wordings that differ in a number (`Step 1`, `Step 2`), a colour, a size or a direction are told apart
    by any reader and are not confusable; else one being part of the other, or most words being the same, is.
    """
    if same_words(a, b) or contains_words(a, b) or contains_words(b, a):
        return True
    left, right = content(a), content(b)
    if could_be(left, right) or could_be(right, left):
        return True
    if contrasts(left, right):
        return False
    one, other = {stem(word) for word in left}, {stem(word) for word in right}
    return len(one & other) >= 0.7 * len(one | other) and sorted(left) != sorted(right)
