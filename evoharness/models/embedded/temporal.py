"""Where in time phrases lie, and how well statements stand in a relation of time to them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evoharness.models.embedded.clock import read_times
from evoharness.models.embedded.english import RELATED, Quotations, content_terms, stem
from evoharness.models.embedded.evidence_matching import EvidenceMatcher, Scores
from evoharness.models.embedded.question_reading import Relation, occurrence_named, place_named

LEAST_LOCATED = 0.3
"""Below this fit a phrase is not found in the evidence at all."""
SAME_EPISODE_GAP = 1.0
"""Fitting statements closer than this many seconds belong to one episode."""

UNKNOWN_WORD = 0.4
"""Weight, in finding a phrase, of its words that no statement has."""

_MOMENT_SECONDS = 2.0
"""What lasts this long at most, the time between two looks included, is there for a moment."""
_AS_GOOD = 0.88
_MUCH_AS_GOOD = 0.8
"""Share of the best fit that still counts as the same thing, where several are looked for."""
_NEARBY_SECONDS = 10.0
_LEAVING = frozenset({stem("leave"), *RELATED[stem("leave")], stem("end"), *RELATED[stem("end")]})
COMING = frozenset({stem("appear"), *RELATED[stem("appear")], stem("begin"), *RELATED[stem("begin")]})
"""Stems of verbs that say that something comes or begins."""


@dataclass(frozen=True)
class Episode:
    """A stretch of time in which something holds."""

    start: float
    end: float
    """Seconds."""
    members: tuple[int, ...]
    """Positions of the statements that say so."""
    fit: float = 1.0
    """The best fit among the members."""


def episodes(
    matcher: EvidenceMatcher, fit: Scores, least: float, gap: float = SAME_EPISODE_GAP
) -> list[Episode]:
    """Timed statements that fit at least `least`, those that overlap or nearly touch taken together."""
    starts, ends = matcher.starts, matcher.ends
    chosen = [int(index) for index in np.flatnonzero((fit >= least) & ~np.isnan(starts))]
    chosen.sort(key=lambda index: (starts[index], ends[index]))
    found: list[Episode] = []
    for index in chosen:
        start, end, value = float(starts[index]), float(ends[index]), float(fit[index])
        last = found[-1] if found else None
        if last is not None and start <= last.end + gap:
            found[-1] = Episode(last.start, max(last.end, end), (*last.members, index), max(last.fit, value))
        else:
            found.append(Episode(start, end, (index,), value))
    return found


def locate(matcher: EvidenceMatcher, phrase: str) -> Episode | None:
    """The moment that a phrase names: the first episode of the statements that fit it best.

    A time in the phrase is taken at its word. `The second time` chooses a later episode; a phrase of leaving
    or ending that only a lasting statement fits means the end of that statement, one of appearing or
    beginning its start.
    """
    times = read_times(phrase)
    if times:
        return Episode(times[0].start, times[0].end, ())
    if not len(matcher):
        return None
    wanted, plain = occurrence_named(phrase)
    place, plain = place_named(plain) if wanted is None else (None, plain)
    if place is not None and place != 1:
        return nth(matcher, plain, place)
    timed = timed_fit(matcher, plain)
    best = float(timed.max())
    if best < LEAST_LOCATED:
        return None
    found = episodes(matcher, timed, (_AS_GOOD if wanted is None else _MUCH_AS_GOOD) * best)
    place = 1 if wanted is None else wanted
    chosen = found[-1] if place < 0 else found[min(place, len(found)) - 1]
    return _moment(matcher, phrase, chosen)


def timed_fit(matcher: EvidenceMatcher, phrase: str) -> Scores:
    """Fit of the phrase to each statement; 0 for statements without a time."""
    return np.where(np.isnan(matcher.starts), 0.0, matcher.match(phrase, unknown=UNKNOWN_WORD))


def episodes_of(matcher: EvidenceMatcher, phrase: str) -> list[Episode]:
    """Every episode that a phrase names, in order of time."""
    timed = timed_fit(matcher, phrase)
    best = float(timed.max(initial=0.0))
    return episodes(matcher, timed, _MUCH_AS_GOOD * best) if best >= LEAST_LOCATED else []


def nth(matcher: EvidenceMatcher, phrase: str, place: int) -> Episode | None:
    """The `place`-th of the things in a row that a phrase names (-1: the last); a thing so numbered wins."""
    terms = content_terms(phrase)
    if place > 0 and terms:
        numbered = matcher.words_match((terms[0], str(place))) >= 0.99
        numbered &= ~np.isnan(matcher.starts)
        if numbered.any():
            return episodes(matcher, numbered.astype(np.float64), 0.5)[0]
    timed = timed_fit(matcher, phrase)
    best = float(timed.max(initial=0.0))
    if best < LEAST_LOCATED / 2:
        return None
    members: dict[str, int] = {}
    for index in np.flatnonzero(timed >= _MUCH_AS_GOOD * best):
        members.setdefault(matcher.statements[index].text, int(index))
    row = sorted(members.values(), key=lambda index: (matcher.starts[index], index))
    if place > len(row):
        return None
    chosen = row[-1] if place < 0 else row[place - 1]
    return Episode(
        float(matcher.starts[chosen]), float(matcher.ends[chosen]), (chosen,), float(timed[chosen])
    )


def fleeting(matcher: EvidenceMatcher, fit: Scores) -> Scores:
    """How shortly what a fit speaks of is there, at each statement: 1 for a moment, down to 0.3."""
    brevity = np.full(len(matcher), 0.3)
    best = float(fit.max(initial=0.0))
    if best <= 0:
        return brevity
    for episode in episodes(matcher, fit, _MUCH_AS_GOOD * best, gap=0.1):
        lasting = max(0.0, episode.end - episode.start - _MOMENT_SECONDS)
        brevity[list(episode.members)] = 0.3 + 0.7 * np.exp(-lasting / 1.5)
    return brevity


def next_alike(matcher: EvidenceMatcher, episode: Episode) -> Episode | None:
    """The next statement worded like those of an episode, quotations aside."""
    kinds = {_wording(matcher, index) for index in episode.members}
    later = [
        index
        for index in np.argsort(matcher.starts, kind="stable")
        if matcher.starts[index] >= episode.end - 0.5
        and int(index) not in episode.members
        and _wording(matcher, int(index)) in kinds
    ]
    if not later:
        return None
    chosen = int(later[0])
    return Episode(float(matcher.starts[chosen]), float(matcher.ends[chosen]), (chosen,))


def stretch(matcher: EvidenceMatcher, episode: Episode) -> Episode:
    """A part of the video that an episode heads: until the next thing so worded begins, or the end."""
    if not episode.members:
        return episode
    following = next_alike(matcher, episode)
    end = following.start if following is not None else float(np.nanmax(matcher.ends))
    return Episode(episode.start, max(end, episode.end), episode.members, episode.fit)


def _wording(matcher: EvidenceMatcher, index: int) -> tuple[str, ...]:
    return content_terms(Quotations(matcher.statements[index].text).text)


def _moment(matcher: EvidenceMatcher, phrase: str, episode: Episode) -> Episode:
    asked = set(content_terms(phrase))
    said = {term for index in episode.members for term in matcher.words[index].terms}
    if asked & _LEAVING and not said & _LEAVING:
        return Episode(episode.end, episode.end, episode.members, episode.fit)
    if asked & COMING and not said & COMING and episode.end - episode.start > 1.0:
        return Episode(episode.start, episode.start, episode.members, episode.fit)
    return episode


def standing(matcher: EvidenceMatcher, relation: Relation, anchors: Sequence[Episode]) -> Scores:
    """How well each statement stands in the relation to the anchors, 0 to 1; the nearest stands best."""
    starts, ends = matcher.starts, matcher.ends
    first = anchors[0]
    near = np.full(len(matcher), 0.05)
    if relation is Relation.AFTER:
        gap = starts - first.end
        near = np.where(gap >= -0.5, 1 / (1 + np.maximum(gap, 0.0) / _NEARBY_SECONDS), near)
        near = np.where((gap < -0.5) & (starts > first.start + 0.25), 0.5, near)
        near = np.where((starts <= first.start + 0.25) & (ends > first.end + 0.5), 0.12, near)
    elif relation is Relation.BEFORE:
        gap = first.start - ends
        near = np.where(gap >= -0.5, 1 / (1 + np.maximum(gap, 0.0) / _NEARBY_SECONDS), near)
        near = np.where((gap < -0.5) & (starts < first.start - 0.5), 0.4, near)
    elif relation is Relation.BETWEEN:
        early, late = sorted((first, anchors[-1]), key=lambda episode: episode.start)
        low, high = (early.end if early.end < late.start - 1.0 else early.start), late.start
        near = np.where((starts < high) & (ends > low), 0.3, near)
        near = np.where((starts >= low - 0.5) & (starts < high - 0.25), 1.0, near)
    elif relation is Relation.DURING:
        overlap = np.minimum(ends, first.end + 0.5) - np.maximum(starts, first.start - 0.5)
        distance = np.maximum(-overlap, 0.0)
        near = np.where(overlap >= 0, 1.0, 0.3 * np.exp(-distance / 3.0))
    near = np.where(np.isnan(starts), 0.2, near)
    if relation is not Relation.DURING:
        for anchor in anchors:
            near[list(anchor.members)] = 0.02
    return near


def first_time(matcher: EvidenceMatcher, phrase: str, least: float = LEAST_LOCATED) -> Episode | None:
    """When something that a phrase names is seen for the first time; None when it is not found."""
    episode = locate(matcher, phrase)
    return episode if episode is not None and episode.fit >= least else None


def concordance(times: Sequence[float | None]) -> float:
    """How far a sequence of moments is in order: 1 fully, 0 reversed; pairs that are not known count half."""
    good, pairs = 0.0, 0
    for position, early in enumerate(times):
        for late in times[position + 1 :]:
            pairs += 1
            if early is None or late is None or early == late:
                good += 0.5
            elif early < late:
                good += 1.0
    return good / pairs if pairs else 0.5
