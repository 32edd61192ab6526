"""Options that are phrases: which of them the evidence puts at the time and beside the things in question."""

import re
from collections.abc import Sequence

import numpy as np

from evoharness.models.embedded.clock import read_times
from evoharness.models.embedded.english import Quotations, content_terms, tokens
from evoharness.models.embedded.evidence_matching import EvidenceMatcher, Scores
from evoharness.models.embedded.question_patterns import CONTAINER, NEXT_ONE
from evoharness.models.embedded.question_reading import Asked, Reading, Relation
from evoharness.models.embedded.temporal import (
    UNKNOWN_WORD,
    Episode,
    episodes_of,
    fleeting,
    locate,
    next_alike,
    nth,
    standing,
    stretch,
)

_SHARED_WORD = 0.3
"""Weight of a word that the question, or every option, has too: it does not tell options apart."""
_IT = re.compile(r"^(?:it|they|he|she)\b", re.IGNORECASE)
_UNKNOWN_IN_OPTION = 0.6
_BESIDE = 0.35
"""Weight of evidence that says nothing of what the question is about."""


def located_anchors(matcher: EvidenceMatcher, reading: Reading) -> list[Episode]:
    """The moments that the question names, as far as they are found."""
    found: list[Episode] = []
    for anchor in reading.anchors:
        if found and NEXT_ONE.search(anchor):
            episode = next_alike(matcher, found[0])
        else:
            episode = locate(matcher, anchor)
            if episode is not None and reading.relation is Relation.DURING and _heads(anchor):
                episode = stretch(matcher, episode)
        if episode is not None:
            found.append(episode)
    return found


def _heads(anchor: str) -> bool:
    """Whether an anchor names a part of the video by its heading."""
    held = Quotations(anchor)
    return bool(held.strings) and CONTAINER.search(held.text) is not None


def _weights(reading: Reading, options: Sequence[str]) -> list[dict[str, float]]:
    asked = set(content_terms(reading.text))
    sets = [set(content_terms(option)) for option in options]
    everywhere = set.intersection(*sets) if sets else set()
    common = asked | everywhere
    telling = [terms - common for terms in sets]
    if not any(telling):
        return [{} for _ in options]
    return [dict.fromkeys(terms & common, _SHARED_WORD) for terms in sets]


def context(matcher: EvidenceMatcher, reading: Reading) -> Scores:
    """How far each statement speaks of what the question is about; one of the same moment does so in part.

    A question of what is *not* so needs the statement itself to say it.
    """
    if not content_terms(reading.focus):
        return np.ones(len(matcher))
    fit = matcher.match(reading.focus, unknown=UNKNOWN_WORD)
    best = float(fit.max())
    if best < 0.2 or not any(matcher.known(term) for term in content_terms(reading.focus)):
        return np.ones(len(matcher))
    about = fit / best
    strongest = np.flatnonzero(about >= 0.9)
    beside = np.zeros(len(matcher))
    for index in () if reading.negated else strongest[:20]:
        overlap = np.minimum(matcher.ends, matcher.ends[index]) - np.maximum(
            matcher.starts, matcher.starts[index]
        )
        beside = np.maximum(beside, np.where(overlap >= -0.25, 0.6, 0.0))
    return _BESIDE + (1 - _BESIDE) * np.maximum(about**1.5, beside)


def _in_time(matcher: EvidenceMatcher, reading: Reading) -> Scores:
    """How well each statement stands where the question asks."""
    anchors = located_anchors(matcher, reading)
    if reading.relation is not None and reading.anchors and anchors:
        if reading.relation is Relation.BETWEEN and len(anchors) < 2:
            return standing(matcher, Relation.AFTER, anchors)
        return standing(matcher, reading.relation, anchors)
    if reading.odd_one:
        row = locate(matcher, reading.focus)
        return np.ones(len(matcher)) if row is None else standing(matcher, Relation.DURING, [row])
    times = read_times(reading.text)
    if times and not reading.anchors:
        moment = Episode(times[0].start, times[0].end, ())
        return standing(matcher, Relation.DURING, [moment])
    if reading.asked is Asked.REASON:
        moment_named = locate(matcher, reading.focus)
        if moment_named is not None:
            return np.maximum(
                standing(matcher, Relation.BEFORE, [moment_named]),
                0.7 * standing(matcher, Relation.DURING, [moment_named]),
            )
    return np.ones(len(matcher))


def _in_row(matcher: EvidenceMatcher, reading: Reading) -> Scores:
    """How well each statement speaks of the one occurrence, or thing in a row, that is asked for."""
    episode = None
    if reading.occurrence is not None:
        found = episodes_of(matcher, reading.focus)
        if found:
            place = reading.occurrence
            episode = found[-1] if place < 0 else found[min(place, len(found)) - 1]
    elif reading.ordinal is not None and not reading.anchors:
        episode = nth(matcher, reading.focus, reading.ordinal)
    if episode is None:
        return np.ones(len(matcher))
    return standing(matcher, Relation.DURING, [episode])


def spelt_out(options: Sequence[str], focus: str, matcher: EvidenceMatcher) -> tuple[str, ...]:
    """Options that say `it` or `they`, with what the question is about in their place."""
    if not any(_IT.match(option) for option in options):
        return tuple(options)
    thing = " ".join(
        word for word in tokens(focus) if any(matcher.known(term) for term in content_terms(word))
    )
    return tuple(_IT.sub(f"the {thing} ", option) if thing else option for option in options)


def _ranked_in_time(matcher: EvidenceMatcher, values: list[Scores], last: bool) -> list[float]:
    """Strength of each option, halved for each option that comes sooner (or later)."""
    moments: list[float | None] = []
    strengths: list[float] = []
    for fit in values:
        timed = np.where(np.isnan(matcher.starts), 0.0, fit)
        best = float(timed.max(initial=0.0))
        strengths.append(best)
        fitting = np.flatnonzero(timed >= 0.85 * best) if best >= 0.15 else np.zeros(0, dtype=np.intp)
        if not len(fitting):
            moments.append(None)
        else:
            moments.append(
                float(matcher.starts[fitting].max()) if last else float(matcher.starts[fitting].min())
            )
    known = sorted({moment for moment in moments if moment is not None}, reverse=last)
    return [
        0.0 if moment is None else strength * 0.6 ** known.index(moment)
        for moment, strength in zip(moments, strengths, strict=True)
    ]


def bearing(matcher: EvidenceMatcher, reading: Reading) -> Scores:
    """How much each statement bears on the question: what it speaks of, and when."""
    return context(matcher, reading) * _in_time(matcher, reading) * _in_row(matcher, reading)


def score_phrases(reading: Reading, options: Sequence[str], matcher: EvidenceMatcher) -> list[float]:
    """A score in [0, 1] for each option."""
    options = spelt_out(options, reading.focus, matcher)
    about = context(matcher, reading)
    fits = [
        matcher.match(option, weights, unknown=_UNKNOWN_IN_OPTION)
        for option, weights in zip(options, _weights(reading, options), strict=True)
    ]
    if reading.brief:
        fits = [fit * fleeting(matcher, fit * about) for fit in fits]
    if reading.negated and not reading.anchors:
        said = about if content_terms(reading.focus) else np.ones(len(matcher))
        return [1 - float((fit * said).max(initial=0.0)) for fit in fits]
    if reading.relation in (Relation.FIRST, Relation.LAST) and not reading.occurrence:
        return _ranked_in_time(matcher, [fit * about for fit in fits], reading.relation is Relation.LAST)
    where = bearing(matcher, reading)
    scores = [float((fit**1.5 * where).max(initial=0.0)) for fit in fits]
    if reading.negated:
        return [1 - score for score in scores]
    return scores
