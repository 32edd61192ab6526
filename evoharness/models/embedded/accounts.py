"""Options that tell in several parts what one thing does: `it comes in, then it turns red`.

What is said by pronoun is said of the thing that the question names. Each part is looked for among what the
evidence tells of that thing; an option needs all its parts, in its order of time.
"""

import re
from collections.abc import Sequence

import numpy as np

from evoharness.models.embedded.english import Quotations, content_terms, stem, tokens
from evoharness.models.embedded.evidence_matching import EvidenceMatcher, Scores
from evoharness.models.embedded.following import Event, follow, name_in
from evoharness.models.embedded.happenings import agreement, read_happening
from evoharness.models.embedded.question_patterns import UNTRUE
from evoharness.models.embedded.question_reading import Reading

_PRONOUN = r"(?:it|they|he|she)"
_SPOKEN = re.compile(rf"^{_PRONOUN}\b\s*", re.IGNORECASE)
_NAMED = re.compile(r"^(?:the|an?|this|that)\s", re.IGNORECASE)
_LATER = (
    r"(?:then|afterwards?|after that|after which|later(?: on)?|finally|next|subsequently|lastly|followed by"
    r"|in the end|at last)"
)
_SPLIT = re.compile(
    rf"\s*[,;.]?\s*\b(?:and|but)?\s*\b{_LATER}\b,?\s*|\s*[,;]\s*(?:and\s+|but\s+)?"
    rf"|\s+(?:and|but)\s+(?={_PRONOUN}\b)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^(?:(?:at first|first(?: of all)?|initially|to begin with|and|but)\b[, ]*)+", re.I)
_LEADING = re.compile(
    rf"^(?P<word>after|once|before)\s+(?P<one>[^,]+?)(?:,\s*|\s+(?={_PRONOUN}\b))(?P<two>.+)$", re.I
)
_INNER = re.compile(
    r"^(?P<one>.+?),?\s+(?:shortly |just |right )?(?P<word>before|after)\s+(?P<two>(?!that\b|which\b).+)$",
    re.I,
)
_DENYING = re.compile(r"\b(?:not|never|no longer|without|doesn't|don't|isn't)\b", re.IGNORECASE)
_MISSING = 0.05
_OUT_OF_ORDER = 0.4
_AT_ONCE = 0.8
"""Worth of the order of two parts that the evidence has at the same time."""
_ELSEWHERE = 0.3
_STANDS = 0.08


def parts_of(option: str) -> tuple[str, ...]:
    """The clauses of an option, in the order of time that it claims."""
    held = Quotations(option.strip(" ."))
    return tuple(held.restore(part) for part in _clauses(held.text))


def _clauses(text: str) -> list[str]:
    leading = _LEADING.match(text)
    if leading:
        one, two = _clauses(leading["one"]), _clauses(leading["two"])
        return two + one if leading["word"].lower() == "before" else one + two
    found = []
    for piece in _SPLIT.split(text):
        part = _OPENING.sub("", piece.strip(" ,.;")).strip(" ,.;")
        if not part:
            continue
        inner = _INNER.match(part)
        if inner:
            one, two = _clauses(inner["one"]), _clauses(inner["two"])
            found += one + two if inner["word"].lower() == "before" else two + one
        else:
            found += _joined(part)
    return found


def _joined(part: str) -> list[str]:
    """Two doings that `and` joins, taken apart."""
    one, word, two = part.partition(" and ")
    if word and read_happening(one).kinds and _doing(two):
        return [one, *_joined(two)]
    return [part]


def _doing(clause: str) -> bool:
    first = " ".join(tokens(clause)[:1])
    return first.endswith(("s", "ed", "ing")) and bool(read_happening(clause).kinds)


def _spoken(parts: Sequence[str]) -> bool:
    return any(_SPOKEN.match(part) for part in parts)


def score_accounts(
    reading: Reading, options: Sequence[str], matcher: EvidenceMatcher, allowed: Scores | None
) -> list[float] | None:
    """A score in [0, 1] for each option; None when the options are no such accounts, or of nothing known.

    `allowed` says where in time the question lets statements count.
    """
    accounts = [parts_of(option) for option in options]
    if 2 * sum(len(parts) >= 2 for parts in accounts) < len(accounts):
        return None
    if 2 * sum(_spoken(parts) for parts in accounts) <= len(accounts):
        return None
    subject = name_in(reading.focus, matcher) or name_in(reading.text, matcher)
    known: dict[tuple[str, ...], list[Event]] = {(): []}
    scores, found = [], False
    for parts in accounts:
        name, rows, denials = subject, list[list[tuple[float, float]]](), 1.0
        for part in parts:
            said, clause = _said_of(part, matcher)
            name = said or name
            if name not in known:
                known[name] = follow(matcher, name)
            denied = _DENYING.search(clause) is not None
            fits = _fits(_DENYING.sub(" ", clause), known[name], matcher, allowed)
            found = found or bool(fits)
            if denied:
                denials *= max(_MISSING, 1 - max((fit for _, fit in fits), default=0.0))
            else:
                rows.append(fits)
        count = max(1, len(parts))
        scores.append((_best(rows) * denials) ** (1 / count) if name else 0.0)
    if not found:
        return None
    untrue = reading.negated or UNTRUE.search(reading.focus) is not None
    return [1 - score for score in scores] if untrue else scores


def _said_of(part: str, matcher: EvidenceMatcher) -> tuple[tuple[str, ...], str]:
    """The thing a clause names as its subject, if it does, and the clause without its subject."""
    spoken = _SPOKEN.match(part)
    if spoken:
        return (), part[spoken.end() :]
    name = name_in(" ".join(part.split()[:6]), matcher) if _NAMED.match(part) else ()
    if not name:
        return (), part
    words = part.split()
    last = max((place for place, word in enumerate(words[:6]) if stem(word.lower()) == name[-1]), default=-1)
    return name, " ".join(words[last + 1 :])


def _fits(
    clause: str, events: Sequence[Event], matcher: EvidenceMatcher, allowed: Scores | None
) -> list[tuple[float, float]]:
    """(start, fit) of the events that a clause may speak of."""
    sought = read_happening(clause)
    words = matcher.match(clause) if content_terms(clause) else np.zeros(len(matcher))
    found = []
    for event in events:
        fit = agreement(sought, event.happening)
        if fit is None:
            fit = float(words[event.index])
        elif sought.rest:
            fit *= 0.9 + 0.1 * float(words[event.index])
        fit *= event.weight
        if allowed is not None and allowed[event.index] < _STANDS:
            fit *= _ELSEWHERE
        if fit > _MISSING:
            found.append((event.start, fit))
    return found


def _best(rows: Sequence[Sequence[tuple[float, float]]]) -> float:
    """The best product of one fit for each part: in order of time, or else with a loss."""
    loose = float(np.prod([max((fit for _, fit in row), default=_MISSING) for row in rows]))
    return max(_in_order(rows), loose * _OUT_OF_ORDER ** max(1, len(rows)) if len(rows) > 1 else loose)


def _in_order(rows: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Dynamic programming over (time of the last part found, best product so far)."""
    states: list[tuple[float, float]] = [(float("-inf"), 1.0)]
    for row in rows:
        following = [(moment, value * _MISSING) for moment, value in states]
        for start, fit in row:
            reached = [
                value * fit * (1.0 if moment < start else _AT_ONCE)
                for moment, value in states
                if moment <= start
            ]
            if reached:
                following.append((start, max(reached)))
        best: dict[float, float] = {}
        for moment, value in following:
            best[moment] = max(value, best.get(moment, 0.0))
        states = list(best.items())
    return max(value for _, value in states)
