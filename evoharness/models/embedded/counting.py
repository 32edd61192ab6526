"""How many, how often, how long: measures of a thing over the evidence."""

import re
from collections.abc import Sequence

import numpy as np

from evoharness.models.embedded.english import read_words, stem
from evoharness.models.embedded.evidence_matching import EvidenceMatcher, Scores
from evoharness.models.embedded.temporal import COMING, UNKNOWN_WORD, Episode, episodes

_FITTING = 0.8
_LEAST = 0.35
_OFTEN = re.compile(r"\bhow often\b|\btimes\b|\boccurrences?\b|\boccasions?\b|\binstances?\b", re.IGNORECASE)
_KINDS = re.compile(r"\b(?:different|distinct|unique|kinds?|types?|various)\b", re.IGNORECASE)
_ASKING = re.compile(
    r"\bhow (?:many|often|long)\b|\b(?:the )?(?:total )?number of\b|\bcount\b|\btimes\b|\bin total\b"
    r"|\baltogether\b|\b(?:different|distinct|unique|kinds?|types?) (?:of )?\b",
    re.IGNORECASE,
)


_REPEATEDLY = re.compile(
    r"\b(?:more than once|repeatedly|repeated|several times|multiple times|(?:a )?second time|again)\b",
    re.IGNORECASE,
)
_SAID_TIMES = re.compile(r"\b(?:(?P<once>once)|(?P<twice>twice)|(?P<number>\w+) times)\b", re.IGNORECASE)


def thing_asked(question: str) -> str:
    """What is to be counted or measured: the question without its asking words."""
    return " ".join(_ASKING.sub(" ", question).split()).strip(" ?.,")


def fitting_episodes(matcher: EvidenceMatcher, thing: str, allowed: Scores | None = None) -> list[Episode]:
    """Distinct stretches in which the thing is found."""
    if not len(matcher):
        return []
    fit = matcher.match(thing, unknown=UNKNOWN_WORD)
    if allowed is not None:
        fit = np.where(allowed > 0.25, fit, 0.0)
    timed = np.where(np.isnan(matcher.starts), 0.0, fit)
    best = float(timed.max())
    if best < _LEAST:
        return []
    return episodes(matcher, timed, _FITTING * best)


def estimate_count(
    matcher: EvidenceMatcher, question: str, thing: str, allowed: Scores | None
) -> float | None:
    """How many there are of the thing asked; None when the evidence does not speak of it."""
    found = fitting_episodes(matcher, thing, allowed)
    if not found:
        return None
    members = [index for episode in found for index in episode.members]
    if _OFTEN.search(question):
        return float(max(_times_told(matcher, members), _onsets(matcher, members), len(found)))
    said = [number for index in members for number in _counts_of(matcher, index, thing)]
    if said and not _KINDS.search(question):
        return float(max(said))
    if _KINDS.search(question):
        return float(len({matcher.words[index].quotes or matcher.words[index].terms for index in members}))
    return float(max(_times_told(matcher, members), _onsets(matcher, members), len(found)))


def _times_told(matcher: EvidenceMatcher, members: Sequence[int]) -> int:
    """How often by statements that say `… times`: those of separate stretches add up."""
    told: list[tuple[float, float, int]] = []
    for index in sorted(members, key=lambda index: matcher.starts[index]):
        match = _SAID_TIMES.search(matcher.statements[index].text)
        said = said_times(match) if match else None
        if said is None:
            continue
        start, end = float(matcher.starts[index]), float(matcher.ends[index])
        if told and start < told[-1][1]:
            told[-1] = (told[-1][0], max(end, told[-1][1]), max(said, told[-1][2]))
        else:
            told.append((start, end, said))
    return sum(said for _, _, said in told)


def _onsets(matcher: EvidenceMatcher, members: Sequence[int]) -> int:
    """How many separate moments the members tell of at which the thing comes."""
    moments = sorted(
        float(matcher.starts[index]) for index in members if COMING & set(matcher.words[index].terms)
    )
    return sum(
        1 for position, moment in enumerate(moments) if not position or moment > moments[position - 1] + 0.25
    )


def _counts_of(matcher: EvidenceMatcher, index: int, thing: str) -> list[int]:
    wanted = set(read_words(thing).terms)
    terms = matcher.words[index].terms
    found = []
    for position, term in enumerate(terms[:-1]):
        if term.isdigit() and wanted & set(terms[position + 1 : position + 4]):
            found.append(int(term))
    return found


def measure(matcher: EvidenceMatcher, phrase: str, superlative: str) -> float | None:
    """How far a thing goes in the sense of a superlative, the more the better; None when it is not found."""
    found = fitting_episodes(matcher, phrase)
    if not found:
        return None
    durations = [episode.end - episode.start for episode in found]
    if superlative in ("longest", "longer"):
        return max(durations)
    if superlative in ("shortest", "shorter", "briefest"):
        return -min(durations)
    if superlative in ("most", "more"):
        return float(len(found)) + 0.001 * sum(durations)
    if superlative in ("fewest", "fewer", "least"):
        return -float(len(found)) - 0.001 * sum(durations)
    if superlative in ("earliest", "earlier", "sooner"):
        return -found[0].start
    if superlative in ("latest", "later"):
        return found[-1].start
    size = stem("large") if superlative in ("largest", "larger", "bigger", "biggest") else stem("small")
    return float(
        np.mean([size in matcher.words[index].terms for episode in found for index in episode.members])
    )


def times_said(question: str) -> tuple[int, bool] | None:
    """How often a thing happens by the words of the question, and whether or more; None if unsaid."""
    if _REPEATEDLY.search(question):
        return 2, True
    for match in _SAID_TIMES.finditer(question):
        said = said_times(match)
        if said is not None:
            return said, False
    return None


def said_times(match: re.Match[str]) -> int | None:
    """The number of `once`, `twice` or `… times`."""
    if match["once"] or match["twice"]:
        return 1 if match["once"] else 2
    numbers = read_words(match["number"]).numbers
    return numbers[0] if numbers else None
