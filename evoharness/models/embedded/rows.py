"""Things in a row, told from left to right, and the one among them that differs."""

import re
from collections import Counter
from collections.abc import Sequence

from evoharness.models.embedded.english import Quotations, content_terms
from evoharness.models.embedded.evidence_matching import EvidenceMatcher, Scores
from evoharness.models.embedded.question_reading import place_named

_ROW = re.compile(r"\b(?P<way>left to right|right to left)\b[^:]*:\s*(?P<items>.+)$", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:,\s*(?:and\s+)?|\s+and\s+|;)\s*", re.IGNORECASE)
_FROM_RIGHT = re.compile(r"\bfrom (?:the |its )?right\b", re.IGNORECASE)


def row_told(statement: str) -> tuple[str, ...]:
    """The things of a row from left to right; empty when the statement tells of none."""
    held = Quotations(statement)
    match = _ROW.search(held.text)
    if match is None:
        return ()
    items = [held.restore(item).strip(" .") for item in _ITEM.split(match["items"]) if item.strip(" .")]
    return tuple(items if match["way"].lower().startswith("left") else reversed(items))


def odd_position(row: Sequence[str]) -> int | None:
    """Place of the one thing that differs from the rest, from 1 on; None when none or several do."""
    kinds = [content_terms(item) for item in row]
    counted = Counter(kinds)
    single = [kind for kind, count in counted.items() if count == 1]
    if len(row) < 3 or len(counted) != 2 or len(single) != 1:
        return None
    return kinds.index(single[0]) + 1


def score_positions(
    matcher: EvidenceMatcher, question: str, options: Sequence[str], worth: Scores
) -> list[float] | None:
    """Options that count places in a row (`the third`): which the odd thing has; None if no row is told."""
    places = [place_named(option)[0] for option in options]
    if any(place is None for place in places):
        return None
    scores = [0.0] * len(options)
    for statement, value in zip(matcher.statements, worth, strict=True):
        row = row_told(statement.text)
        position = odd_position(row) if row else None
        if position is None:
            continue
        if _FROM_RIGHT.search(question):
            position = len(row) + 1 - position
        for index, place in enumerate(places):
            if place == position or (place == -1 and position == len(row)):
                scores[index] = max(scores[index], float(value))
    return scores if any(scores) else None
