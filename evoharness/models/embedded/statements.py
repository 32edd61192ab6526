"""Evidence as statements: one sentence, when it holds, and what else is known of it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from evoharness.models.embedded.clock import leading_time
from evoharness.models.embedded.english import Quotations
from evoharness.records.evidence import Evidence

EVIDENCE_CHARACTERS = 6000
"""How much evidence is read for one answer: the most relevant lines up to this many characters."""

SAME_STATEMENT_GAP = 0.75
"""The same words again within this many seconds are one statement that goes on."""

_SENTENCE_END = re.compile(r"(?<=[a-z\")”\ue001][.!?])\s+(?=[A-Z\"“'])|(?<=\w);\s+")


@dataclass(frozen=True)
class Statement:
    """One sentence of evidence."""

    text: str
    start: float | None = None
    """Seconds; None when it speaks of no particular time."""
    end: float | None = None
    """Seconds."""

    @property
    def timed(self) -> bool:
        """Whether it is known when it holds."""
        return self.start is not None and self.end is not None


@lru_cache(maxsize=8192)
def _sentences(text: str) -> tuple[tuple[str, float | None, float | None], ...]:
    found: list[tuple[str, float | None, float | None]] = []
    for line in text.splitlines():
        time, rest = leading_time(line.strip().lstrip("-*•").strip())
        start, end = (time.start, time.end) if time else (None, None)
        held = Quotations(rest)
        pieces = (held.restore(piece).strip() for piece in _SENTENCE_END.split(held.text))
        found.extend((piece, start, end) for piece in pieces if piece)
    return tuple(found)


def read_statements(evidence: Iterable[Evidence]) -> list[Statement]:
    """Every sentence of the evidence once, in order of time; those without a time come last.

    A line that opens with a time has that time, any other the interval of its evidence. The same sentence
    from overlapping or adjoining intervals is one statement over both.
    """
    by_text: dict[str, list[Statement]] = {}
    for item in evidence:
        for text, start, end in _sentences(item.text):
            if start is None and item.interval is not None:
                start, end = item.interval.start, item.interval.end
            by_text.setdefault(text, []).append(Statement(text, start, end))
    merged = [statement for group in by_text.values() for statement in _merge(group)]
    return sorted(merged, key=_when)


def _when(statement: Statement) -> tuple[float, float, str]:
    if statement.start is None or statement.end is None:
        return (float("inf"), float("inf"), statement.text)
    return (statement.start, statement.end, statement.text)


def _merge(group: Sequence[Statement]) -> list[Statement]:
    merged: list[Statement] = []
    for statement in sorted(group, key=_when):
        last = merged[-1] if merged else None
        if last is None:
            merged.append(statement)
        elif statement.start is None or statement.end is None:
            if last.timed:
                continue
        elif last.end is not None and statement.start <= last.end + SAME_STATEMENT_GAP:
            merged[-1] = replace(last, end=max(last.end, statement.end))
        else:
            merged.append(statement)
    return merged


def within_budget(
    statements: Sequence[Statement], relevance: Sequence[float], characters: int = EVIDENCE_CHARACTERS
) -> list[Statement]:
    """The most relevant statements that fit into `characters`, in the order given."""
    left = characters
    kept: set[int] = set()
    for index in sorted(range(len(statements)), key=lambda index: (-relevance[index], index)):
        cost = len(statements[index].text) + 1
        if cost <= left:
            kept.add(index)
            left -= cost
    return [statements[index] for index in sorted(kept)]
