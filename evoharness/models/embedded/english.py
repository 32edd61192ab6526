"""A text taken apart: meaningful words as stems, numbers, quotations."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from evoharness.models.embedded.spelling import MISREAD, spelling_closeness
from evoharness.models.embedded.stems import stem
from evoharness.models.embedded.vocabulary import (
    NUMBER_WORDS,
    ORDINAL_WORDS,
    PHRASES,
    RELATED,
    STOP_WORDS,
)

__all__ = [
    "HELD",
    "NUMBER_WORDS",
    "ORDINAL_WORDS",
    "RELATED",
    "Quotations",
    "Words",
    "content_terms",
    "quoted",
    "read_words",
    "spelling_closeness",
    "stem",
    "tokens",
]

_TOKEN = re.compile(r"\d+(?:[.:]\d+)+|\w+(?:['’][^\W\d_]+)?")
_NUMBERED_WORD = re.compile(r"([^\W\d_]{3,})(\d+)")
_NUMBER_WITH_UNIT = re.compile(r"([1-9]\d*)([^\W\d_]{1,2})")
_QUOTED = re.compile(
    r"\"([^\"]{1,200})\"|“([^”]{1,200})”|«([^»]{1,200})»|(?<!\w)['‘]([^'’]{2,200}?)['’](?!\w)"
)


@dataclass(frozen=True)
class Words:
    """A text, taken apart."""

    terms: tuple[str, ...]
    """Stems of the words that carry meaning, in order; numbers as digits."""
    quotes: tuple[str, ...]
    """What stands between quotation marks."""
    numbers: tuple[int, ...]
    """Whole numbers, in digits or words."""
    readings: tuple[str, ...] = ()
    """Other words that mixtures of letters and digits may have been before they were misread."""


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
    for pattern, replacement in PHRASES:
        text = pattern.sub(replacement, text)
    return text


def quoted(text: str) -> tuple[str, ...]:
    """The strings between quotation marks, in order."""
    return tuple(next(group for group in found.groups() if group) for found in _QUOTED.finditer(text))


_HOLD = "\ue000{}\ue001"
HELD = re.compile("\ue000(\\d+)\ue001")
"""What stands in a text for a quotation that was put aside."""


class Quotations:
    """A text with its quotations put aside, so that their commas and words do not read as its own."""

    def __init__(self, text: str) -> None:
        self.strings: list[str] = []
        self.text = _QUOTED.sub(self._hold, text)

    def _hold(self, match: re.Match[str]) -> str:
        self.strings.append(match.group(0))
        return _HOLD.format(len(self.strings) - 1)

    def restore(self, text: str) -> str:
        """A piece of the text with its quotations back in place."""
        return HELD.sub(lambda match: self.strings[int(match.group(1))], text)


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers, in order."""
    return [token.lower().replace("’", "'") for token in _TOKEN.findall(text)]


@lru_cache(maxsize=16384)
def read_words(text: str) -> Words:
    """Take a text apart; the result is kept."""
    terms: list[str] = []
    numbers: list[int] = []
    readings: list[str] = []
    for token in _parts(tokens(normalise(text)), readings):
        token = token.removesuffix("'s").removesuffix("n't")
        if token.isdecimal():
            token = str(int(token))
            numbers.append(int(token))
        elif token in NUMBER_WORDS and token != "none":
            numbers.append(NUMBER_WORDS[token])
            if token != "one":
                token = str(NUMBER_WORDS[token])
        if token and token not in STOP_WORDS:
            terms.append(stem(token))
    return Words(tuple(terms), quoted(text), tuple(numbers), tuple(readings))


def _parts(words: Iterable[str], readings: list[str]) -> Iterator[str]:
    """The words, mixtures of letters and digits split or read as letters; `readings` gets other readings."""
    for word in words:
        if word.isalpha() or word.isdecimal() or not any(map(str.isdecimal, word)):
            yield word
            continue
        split = _NUMBERED_WORD.fullmatch(word) or _NUMBER_WITH_UNIT.fullmatch(word)
        letters = stem(word.translate(MISREAD))
        if split:
            readings.append(letters)
            yield from split.groups()
        elif letters.isalpha():
            yield letters
        else:
            yield word


def content_terms(text: str) -> tuple[str, ...]:
    """Stems of the meaningful words of a text."""
    return read_words(text).terms
