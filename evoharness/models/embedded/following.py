"""One thing followed through the evidence: what is told of it, by whatever color it has at the time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evoharness.models.embedded.english import RELATED, content_terms, stem, tokens
from evoharness.models.embedded.evidence_matching import EvidenceMatcher
from evoharness.models.embedded.happenings import Happening, read_happening
from evoharness.models.embedded.vocabulary import COLORS, STOP_WORDS

_PRONOUN = re.compile(r"^(?:it|they|he|she)\b", re.IGNORECASE)
_DETERMINED = re.compile(r"\b(?:the|an?|this|that|these|those|all|both)\s+", re.IGNORECASE)
_TALK_WORDS = (
    "account description statement story sentence summary order sequence thing video recording clip scene "
    "fate course history behavior behaviour path report version option"
)
_TALK = frozenset(stem(word) for word in _TALK_WORDS.split())
"""What a question calls an option, or the whole: never the thing it speaks of."""
_LONGEST_NAME = 4
_ELSEWHEN = 0.4
"""Worth of a name at a time when the thing has another color."""
_ASIDE = 0.5
"""Worth of a statement that names the thing but is about another."""
_VAGUER = 0.7
"""Worth of a statement that names the thing with fewer words."""
_AT_ONCE = 0.25


@dataclass(frozen=True)
class Event:
    """One statement about the thing followed."""

    index: int
    start: float
    """Seconds."""
    weight: float
    """How surely it is about that thing, 0 to 1."""
    happening: Happening


@dataclass(frozen=True)
class _Name:
    terms: tuple[str, ...]
    since: float = float("-inf")
    until: float = float("inf")

    def worth(self, moment: float) -> float:
        return 1.0 if self.since - _AT_ONCE <= moment <= self.until + _AT_ONCE else _ELSEWHEN


def name_in(text: str, matcher: EvidenceMatcher) -> tuple[str, ...]:
    """Stems of the first thing that a text names and the evidence speaks of; empty when there is none.

    A thing of several words is preferred.
    """
    found: list[tuple[str, ...]] = []
    for mark in _DETERMINED.finditer(text):
        words: list[str] = []
        for word in tokens(text[mark.end() :])[:_LONGEST_NAME]:
            if word in STOP_WORDS or (words and read_happening(word).kinds):
                break
            words.append(word)
        name = _known_name(words, matcher)
        if name:
            found.append(name)
    return next((name for name in found if len(name) > 1), found[0] if found else ())


def _known_name(words: Sequence[str], matcher: EvidenceMatcher) -> tuple[str, ...]:
    """The longest beginning of the words that statements have.

    A last word that may be a verb is left off where statements name the thing more often without it.
    """
    longest, times = tuple[str, ...](), 0
    for length in range(len(words), 0, -1):
        terms = content_terms(" ".join(words[:length]))
        if not terms or terms[-1] in COLORS or _TALK & set(terms):
            continue
        number = sum(_place(terms, told.terms) is not None for told in matcher.words)
        if number > times:
            longest, times = terms, number
        if longest and not words[length - 1].endswith(("s", "ed", "ing")):
            break
    return longest


def _place(name: Sequence[str], terms: Sequence[str]) -> int | None:
    for position in range(len(terms) - len(name) + 1):
        if tuple(terms[position : position + len(name)]) == tuple(name):
            return position
    return None


def _about(name: Sequence[str], terms: Sequence[str]) -> tuple[float, frozenset[str]]:
    """How surely words speak of a name, and which of them are the name's."""
    position = _place(name, terms)
    if position is not None:
        return (1.0 if position <= 2 else _ASIDE), frozenset(name)
    alike = {name[-1], *(other for other, near in RELATED.get(name[-1], {}).items() if near >= _VAGUER)}
    for position, term in enumerate(terms[:3]):
        if term in alike:
            described = set(terms[:position])
            colors = described & COLORS
            if colors and colors - set(name):
                return 0.0, frozenset()
            return _VAGUER, frozenset({term, *name, *described & COLORS})
    return 0.0, frozenset()


def follow(matcher: EvidenceMatcher, name: tuple[str, ...]) -> list[Event]:
    """What the timed statements tell of a thing, in order of time."""
    names = _names(matcher, name)
    found: list[Event] = []
    before = 0.0
    for index, statement in enumerate(matcher.statements):
        if statement.start is None:
            continue
        start = statement.start
        if _PRONOUN.match(statement.text):
            weight, taken = before, frozenset[str]()
        else:
            told = matcher.words[index].terms
            weight, taken = 0.0, frozenset()
            for one in names:
                worth, words = _about(one.terms, told)
                if worth * one.worth(start) > weight:
                    weight, taken = worth * one.worth(start), words
            before = _VAGUER * weight if weight > _ASIDE else 0.0
        if weight > 0:
            found.append(Event(index, start, weight, read_happening(_without(statement.text, taken))))
    return found


def _without(text: str, taken: frozenset[str]) -> str:
    """A statement without the first naming of its subject."""
    left = set(taken)
    kept = []
    for word in text.split():
        term = stem(word.strip(".,;:\"'").lower())
        if term in left:
            left.discard(term)
        else:
            kept.append(word)
    return " ".join(kept)


def _names(matcher: EvidenceMatcher, name: tuple[str, ...]) -> list[_Name]:
    """The names that the thing has over time, as its color changes."""
    colors = [term for term in name if term in COLORS]
    if len(colors) != 1:
        return [_Name(name)]
    turns = []
    for index, statement in enumerate(matcher.statements):
        terms = matcher.words[index].terms
        own = [term for term in terms if term in COLORS]
        if statement.start is None or len(own) < 2:
            continue
        happening = read_happening(_without(statement.text, frozenset({own[0]})))
        if happening.color and happening.color != own[0]:
            turns.append((statement.start, statement.end or statement.start, own[0], happening.color, terms))
    current, names = _Name(name), list[_Name]()
    for start, end, old, new, terms in turns:
        if old in current.terms and start >= current.since and _about(current.terms, terms)[0] == 1.0:
            names.append(replace(current, until=end))
            current = _Name(_recolored(current.terms, new), since=start)
    names.append(current)
    earliest = names[0]
    for start, end, old, new, terms in reversed(turns):
        earlier = _Name(_recolored(earliest.terms, old), until=end)
        if new in earliest.terms and start <= earliest.until and _about(earlier.terms, terms)[0] == 1.0:
            names[0] = replace(earliest, since=start)
            names.insert(0, earlier)
            earliest = earlier
    return names


def _recolored(name: tuple[str, ...], color: str) -> tuple[str, ...]:
    return tuple(color if term in COLORS else term for term in name)
