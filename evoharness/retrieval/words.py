"""Words of a text, also in scripts that put no spaces between them."""

import re
import unicodedata
from functools import cache

# Thai and Lao, Myanmar, Khmer, Tai scripts, Javanese, Han, kana, Bopomofo: written without spaces.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua980-\ua9ff\uaa60-\uaadf"
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Hyphens that show only at the end of a line, joiners; Hebrew and Arabic points, mostly left out.
_UNWRITTEN = re.compile(
    "[\u00ad\u200c\u200d\u2060\ufeff\u0640\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"
)
_AFTER_MARKS = 0x12000
"""Beyond it, marks belong to no script that is written today."""
_ASCII = re.compile("[a-z0-9]+")
_HANGUL = re.compile("[\uac00-\ud7a3]{3,}")


def words(text: str) -> list[str]:
    """Lower-case words in order, without the points that Hebrew and Arabic may be written with.

    A run of an unspaced script becomes its characters and their pairs. A Korean word, which carries its
    particles, is followed by its pairs of syllables.
    """
    if text.isascii():
        return _ASCII.findall(text.lower())
    plain = _UNWRITTEN.sub("", unicodedata.normalize("NFKC", text)).casefold()
    found: list[str] = []
    for unspaced, spaced in _pieces().findall(plain):
        if spaced:
            found.append(spaced)
            if _HANGUL.fullmatch(spaced):
                found.extend(_pairs(spaced))
        else:
            found.extend(unspaced)
            found.extend(_pairs(unspaced))
    return found


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


@cache
def _pieces() -> re.Pattern[str]:
    """Runs of an unspaced script, and of everything else that words consist of."""
    return re.compile(rf"([{_UNSPACED}]+)|((?:[^\W_{_UNSPACED}]|[{_marks()}])+)")


def _marks() -> str:
    """Vowel signs and accents as a class of characters: Python counts none of them as letters."""
    ranges: list[list[int]] = []
    for code in range(_AFTER_MARKS):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
