"""Words of a text, also in scripts that put no spaces between them."""

import re
import unicodedata

# Han, kana, Thai, Lao, Khmer, Myanmar: written without spaces.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents that Python does not count as letters, though they lie inside words.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_PIECES = re.compile(rf"([{_UNSPACED}]+)|((?:[^\W_{_UNSPACED}]|[{_MARKS}])+)")


def words(text: str) -> list[str]:
    """Lower-case words in order; a run of an unspaced script becomes its characters and their pairs."""
    found: list[str] = []
    for unspaced, spaced in _PIECES.findall(unicodedata.normalize("NFKC", text).casefold()):
        if spaced:
            found.append(spaced)
        else:
            found.extend(unspaced)
            found.extend(unspaced[at : at + 2] for at in range(len(unspaced) - 1))
    return found
