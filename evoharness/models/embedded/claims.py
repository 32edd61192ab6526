"""How far the evidence bears out a statement, with the order, number and time that it claims."""

import math

import numpy as np

from evoharness.models.embedded.clock import read_times
from evoharness.models.embedded.counting import fitting_episodes
from evoharness.models.embedded.english import content_terms, read_words, tokens
from evoharness.models.embedded.evidence_matching import EvidenceMatcher
from evoharness.models.embedded.question_reading import Relation, read_question
from evoharness.models.embedded.temporal import locate, standing

_DENYING = frozenset({"not", "never", "no", "without", "nothing", "none", "neither", "nor", "cannot"})
_AS_GOOD = 0.85
_STANDS = 0.08
_AGAINST = 0.15
_HOW_OFTEN = {"once": 1, "twice": 2, "thrice": 3}


def support(matcher: EvidenceMatcher, claim: str) -> float:
    """Support of a claim, 0 (none, or against it) to 1."""
    if not len(matcher) or not content_terms(claim):
        return 0.0
    words = tokens(claim)
    if _DENYING & set(words) or any(word.endswith("n't") for word in words):
        plain = " ".join(word for word in words if word not in _DENYING and not word.endswith("n't"))
        return 1.0 - support(matcher, plain)
    often = _said_how_often(claim)
    if often is not None:
        number, thing = often
        found = len(fitting_episodes(matcher, thing))
        return float(matcher.match(thing).max()) * math.exp(-abs(found - number))
    reading = read_question(claim)
    if reading.relation in (Relation.AFTER, Relation.BEFORE, Relation.DURING, Relation.BETWEEN):
        return _in_relation(matcher, reading.focus, reading.relation, reading.anchors)
    times = read_times(claim)
    fit = matcher.match(claim)
    if times:
        thing = claim[: times[0].position[0]] + claim[times[0].position[1] :]
        fit = matcher.match(thing)
        distance = np.maximum(np.maximum(matcher.starts - times[0].end, times[0].start - matcher.ends), 0.0)
        fit = fit * np.where(np.isnan(distance), 0.3, np.exp(-distance / 5.0))
    return float(fit.max())


def _said_how_often(claim: str) -> tuple[int, str] | None:
    words = tokens(claim)
    for position, word in enumerate(words):
        if word in _HOW_OFTEN:
            return _HOW_OFTEN[word], " ".join(words[:position] + words[position + 1 :])
        if word in ("times", "time") and position:
            numbers = read_words(words[position - 1]).numbers
            if numbers:
                return numbers[0], " ".join(words[: position - 1] + words[position + 1 :])
    return None


def _in_relation(matcher: EvidenceMatcher, thing: str, relation: Relation, anchors: tuple[str, ...]) -> float:
    found = [locate(matcher, anchor) for anchor in anchors]
    located = [episode for episode in found if episode is not None]
    fit = matcher.match(thing)
    if not located or len(located) < len(anchors):
        return 0.3 * float(fit.max(initial=0.0))
    saying = np.where(fit >= _AS_GOOD * fit.max(), fit, 0.0)
    stands = np.where(standing(matcher, relation, located) >= _STANDS, 1.0, _AGAINST)
    certain = min(1.0, min(episode.fit for episode in located) + 0.2)
    return float((saying * stands).max()) * certain
