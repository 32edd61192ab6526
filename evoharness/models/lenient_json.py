"""A reader of JSON as models write it.

It takes what `json` takes and, beyond that: commas too many, comments, words of Python and JavaScript,
texts in single quotes or with line breaks in them, bare keys, and an end that is missing. Of a text that
ends early only what is complete is kept: a text, a number or a word that the end may have shortened is
left out, so is an unfinished object in a list or under a key; the lists and the object around them are
closed where they stand.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

DEEPEST = 64
"""Levels of nesting; no answer has more than a few."""
ENDS_EARLY = "the answer ends before it is complete; answer more briefly"
_SPACE = re.compile(r"(?:\s+|//[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z)|#[^\n]*(?:\n|\Z))*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_UNFINISHED_NUMBER = re.compile(r"[-+.]?(?:[\d.]+[eE]?[-+]?)?\Z")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_WORDS = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
    "null": None, "None": None, "undefined": None,
    "NaN": None, "nan": None, "Infinity": None, "inf": None,
}  # fmt: skip
_ESCAPED = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CUT = object()
"""Stands for a value that the end of the text may have shortened."""


class NotJson(ValueError):
    """This cannot be read as JSON however leniently; the message says where and why."""


def read_value(text: str, start: int = 0) -> tuple[Any, int, bool]:
    """(value, position after it, whether it was complete) of the value that begins at `start`.

    Raises NotJson when there is none, or nothing of it is complete.
    """
    reader = _Reader(text, start)
    value = reader.value(0)
    if value is _CUT:
        raise NotJson(ENDS_EARLY)
    return value, reader.at, not reader.ended


def whole_letters(text: str) -> str:
    """The text with surrogate pairs as single letters; half a pair becomes the replacement mark."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass
class _Reader:
    text: str
    at: int
    ended: bool = False
    """The text came to its end inside the value."""

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise NotJson(f"the answer is nested more than {DEEPEST} levels deep")
        self.skip_space()
        letter = self.text[self.at : self.at + 1]
        if not letter:
            return self.cut()
        if letter == "{":
            return self.object(depth)
        if letter == "[":
            return self.list(depth)
        if letter in "\"'":
            return self.string(letter)
        return self.scalar()

    def object(self, depth: int) -> Any:
        found: dict[str, Any] = {}
        self.at += 1
        while True:
            self.skip_commas()
            letter = self.text[self.at : self.at + 1]
            if letter == "}":
                self.at += 1
                return found
            key = self.key(letter) if letter else self.cut()
            if key is _CUT:
                return found
            self.skip_space()
            if self.at == len(self.text):
                self.cut()
                return found
            if self.text[self.at] != ":":
                raise NotJson(f'there is no ":" after the key {_shown(key)}')
            self.at += 1
            before = self.ended
            value = self.value(depth + 1)
            cut = self.ended and not before
            if value is not _CUT and not (cut and isinstance(value, dict)):
                if key in found and found[key] != value:
                    raise NotJson(f"the key {_shown(key)} comes twice, with different values")
                found[key] = value
            if cut:
                return found
            self.expect_end_of_item("}")

    def list(self, depth: int) -> Any:
        found: list[Any] = []
        self.at += 1
        while True:
            self.skip_commas()
            letter = self.text[self.at : self.at + 1]
            if letter == "]":
                self.at += 1
                return found
            if not letter:
                self.cut()
                return found
            value = self.value(depth + 1)
            if self.ended:
                return found
            found.append(value)
            self.expect_end_of_item("]")

    def key(self, letter: str) -> Any:
        if letter in "\"'":
            return self.string(letter)
        match = _WORD.match(self.text, self.at)
        if match is None:
            raise NotJson(f"{_shown(self.text[self.at : self.at + 12])} stands where a key should be")
        self.at = match.end()
        return match[0]

    def string(self, quote: str) -> Any:
        pieces: list[str] = []
        begin = self.at + 1
        ends = re.compile(r"[\\" + quote + "]")
        while True:
            match = ends.search(self.text, begin)
            if match is None:
                return self.cut()
            pieces.append(self.text[begin : match.start()])
            if match[0] == quote:
                self.at = match.end()
                return whole_letters("".join(pieces))
            piece, begin = self.escape(match.end())
            pieces.append(piece)

    def escape(self, at: int) -> tuple[str, int]:
        """The letter that an escape stands for; one that JSON does not know stands for itself."""
        letter = self.text[at : at + 1]
        if letter == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", code := self.text[at + 1 : at + 5]):
            return chr(int(code, 16)), at + 5
        return _ESCAPED.get(letter, "\\" + letter), at + 1

    def scalar(self) -> Any:
        match = _NUMBER.match(self.text, self.at) or _WORD.match(self.text, self.at)
        if _UNFINISHED_NUMBER.match(self.text, self.at):
            return self.cut()
        if match is None:
            rest = self.text[self.at : self.at + 12]
            raise NotJson(f"{_shown(rest)} stands where a value should be")
        if match.end() == len(self.text):
            return self.cut()
        self.at = match.end()
        if match.re is _NUMBER:
            return _number(match[0])
        if match[0] not in _WORDS:
            raise NotJson(f"{_shown(match[0])} is no value; put texts between double quotes")
        return _WORDS[match[0]]

    def expect_end_of_item(self, closing: str) -> None:
        self.skip_space()
        if self.text[self.at : self.at + 1] not in (",", closing, ""):
            rest = self.text[self.at : self.at + 12]
            raise NotJson(f'{_shown(rest)} stands where "," or "{closing}" should be')

    def skip_commas(self) -> None:
        self.skip_space()
        while self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self.skip_space()

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def cut(self) -> Any:
        self.ended = True
        self.at = len(self.text)
        return _CUT


def _number(written: str) -> int | float | None:
    try:
        return json.loads(written, parse_constant=lambda _: None)  # type: ignore[no-any-return]
    except ValueError:
        pass
    try:
        value = float(written)
    except ValueError as error:
        raise NotJson(f"{_shown(written)} is no number") from error
    return value


def _shown(text: str) -> str:
    return json.dumps(text if len(text) <= 40 else text[:40] + "…")
