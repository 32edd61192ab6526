"""Which option a free text chooses, when it chooses one.

Read in this order: an answer that is marked as such (`<answer>`, `\\boxed`, a JSON field), the last
sentence of the form "the answer is C", a text that begins with a letter as a list does ("C. A man"),
a text that is an option word for word, and finally the only bracketed letter in it. Only letters of
options that exist count; "A" before a word is an article unless the text says otherwise; "A or C" is
no choice. Nothing is ever guessed: no choice is None.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\{\s*(?:\\text\{)?([^{}]*)\}")
_FIELD = re.compile(r'"(?:answer|choice|option)"\s*:\s*"([^"]*)"', re.IGNORECASE)
_SAID = re.compile(
    r"(?:\b(?:answer|choice|option)\b|\bI\s+(?:choose|pick|select)|答案)"
    r"(?P<link>\s*(?:\b(?:is|would be|must be|should be)\b|是|为)?\s*[:：=]?)"
    r"\s*(?:\b(?:option|choice)\b\s*)?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?P<before>[\s*_`\"'“‘(\[{]*)(?P<letter>[A-Z])(?![A-Za-z'’])(?P<rest>.*)", re.DOTALL)
_LOWER_CASE_ALONE = re.compile(r"[\s*(\[]*([a-z])[\s*)\].:]*")
_SECOND = re.compile(
    r"\s*[\"'*)\]]*\s*(?:,|/|&|\bor\b|\band\b)\s*(?:option\s+)?[(\[\"'*]*([A-Z])(?![A-Za-z'’])"
)
_CLOSED = re.compile(r"[\s*_`]*(?:[\"'”’)\]}.:,;*_`]|\Z)")
_REASON = re.compile(r"\s+(?:because|since|as\b|based|given|—|–|-)")
_BRACKETED = re.compile(r"[(\[]([A-Z])[)\]]")


def choice_in(text: str, options: Sequence[str]) -> int | None:
    """Index of the option that `text` chooses, or None when it chooses none or more than one."""
    text = _THOUGHT.sub("", text).strip()
    for marked in (_TAGGED, _BOXED, _FIELD):
        found = marked.findall(text)
        if found:
            return _choice_of_phrase(found[-1].strip(), options)
    said = _last_said(text, options)
    if said is not None:
        return said
    return _choice_of_phrase(text, options)


def _last_said(text: str, options: Sequence[str]) -> int | None:
    """The choice in the last "the answer is …" that names one."""
    for match in reversed(list(_SAID.finditer(text))):
        rest = text[match.end() :]
        letter = _leading_letter(rest, len(options))
        if letter is not None:
            return letter
        sentence = re.split(r"\.\s|\n", rest, maxsplit=1)[0]
        exact = _same_text(sentence, options)
        if exact is not None and match.group("link").strip():
            return exact
    return None


def _choice_of_phrase(text: str, options: Sequence[str]) -> int | None:
    """The choice of a text that is nothing but an answer, perhaps with its reasons."""
    exact = _same_text(text, options)
    if exact is not None:
        return exact
    letter = _leading_letter(text, len(options), marked=True)
    if letter is not None:
        return letter
    bracketed = {_index(found, len(options)) for found in _BRACKETED.findall(text)} - {None}
    return bracketed.pop() if len(bracketed) == 1 else None


def _leading_letter(text: str, count: int, marked: bool = False) -> int | None:
    """The letter that `text` begins with; `marked`: only when it is alone or dressed, as in "C." or "(C)"."""
    match = _LETTER.match(text)
    if match is None:
        alone = _LOWER_CASE_ALONE.fullmatch(text)
        return _index(alone.group(1).upper(), count) if alone else None
    letter, rest = match.group("letter"), match.group("rest")
    second = _SECOND.match(rest)
    if second and _index(second.group(1), count) is not None:
        return None
    dressed = bool(match.group("before").strip() or _CLOSED.match(rest) or _REASON.match(rest))
    may_be_a_word = marked or letter in "AI"
    return _index(letter, count) if dressed or not may_be_a_word else None


def _same_text(text: str, options: Sequence[str]) -> int | None:
    plain = _plain(text)
    same = [index for index, option in enumerate(options) if _plain(option) == plain]
    return same[0] if plain and len(same) == 1 else None


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" .*_`\"'“”‘’").casefold()


def _index(letter: str, count: int) -> int | None:
    index = ascii_uppercase.find(letter)
    return index if 0 <= index < count else None
