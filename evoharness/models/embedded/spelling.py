"""Whether two written words or strings may be the same one, misread."""

import re
from functools import lru_cache
from itertools import pairwise

MISREAD = str.maketrans({"0": "o", "1": "l", "5": "s", "8": "b"})
"""Digits that are read for letters."""


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
        one, other = one.translate(MISREAD), other.translate(MISREAD)
        if one == other:
            return 0.9
    longest = max(len(one), len(other))
    if min(len(one), len(other)) >= 4 and longest >= 8 and (one in other or other in one):
        return 0.75
    most = 1 if longest < 7 else 2
    distance = edit_distance(one, other, most)
    return 1.0 - distance / longest if distance <= most else 0.0


@lru_cache(maxsize=8192)
def _letters(text: str) -> tuple[str, str, frozenset[str]]:
    """The letters and digits alone, with digits read as letters; the digits alone; pairs of letters."""
    plain = "".join(char for char in text.lower() if char.isalnum())
    read = plain.translate(MISREAD)
    digits = "".join(re.findall(r"(?<![^\W\d])\d+(?![^\W\d])", text.lower()))
    return read, digits, frozenset(map("".join, pairwise(read)))


@lru_cache(maxsize=65536)
def string_closeness(one: str, other: str) -> float:
    """How surely two written strings are the same one, misread here and there, or cut; 0 to 1.

    Numbers that stand alone must agree.
    """
    letters_one, digits_one, pairs_one = _letters(one)
    letters_other, digits_other, pairs_other = _letters(other)
    if not letters_one or not letters_other or digits_one != digits_other:
        return 0.0
    if letters_one == letters_other:
        return 1.0
    shortest, longest = sorted((len(letters_one), len(letters_other)))
    if shortest < 0.7 * longest or len(pairs_one & pairs_other) < 0.5 * min(len(pairs_one), len(pairs_other)):
        return 0.0
    distance = edit_distance(letters_one, letters_other, max(1, longest // 5))
    return max(0.0, 1 - distance / longest)
