"""From a read question, its options and the evidence to a choice.

Each kind of thing that can be asked has one scorer; a scorer that cannot say anything gives None and the
options are then taken as phrases. Scores become confidences by a softmax; where nothing speaks for any
option, the choice is drawn from a hash of question and options and marked as guessed.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evoharness.models.embedded.accounts import score_accounts
from evoharness.models.embedded.claims import support
from evoharness.models.embedded.counting import (
    estimate_count,
    fitting_episodes,
    measure,
    thing_asked,
    times_said,
)
from evoharness.models.embedded.evidence_matching import EvidenceMatcher, Scores
from evoharness.models.embedded.option_reading import (
    is_none,
    numbers_in,
    parts_of_whole,
    plain_seconds,
    times_in,
    without_label,
)
from evoharness.models.embedded.ordering import option_sequences, permuted, score_sequences
from evoharness.models.embedded.phrase_scoring import bearing, located_anchors, score_phrases
from evoharness.models.embedded.place_reading import agreement, places_in, places_of, preposition_asked
from evoharness.models.embedded.question_reading import Asked, Reading
from evoharness.models.embedded.rows import score_positions
from evoharness.models.embedded.temporal import UNKNOWN_WORD, locate, standing, stretch

_SHARPNESS = 8.0
"""Softmax slope: a score 0.1 higher is 2.2 times as likely."""
_NOTHING = 0.08
"""When no option scores above this, nothing speaks for any of them."""
_OTHER_PREPOSITION = 0.75
"""Worth of a place that a statement names with another preposition (from, to, at) than is asked for."""
_SAMPLE_NOISE = 0.04
"""How far a repetition shifts scores, so that votes differ where the evidence hardly decides."""


@dataclass(frozen=True)
class Situation:
    """A read question before its evidence."""

    reading: Reading
    options: tuple[str, ...]
    matcher: EvidenceMatcher

    def allowed(self) -> Scores | None:
        """Where in time the relation of the question lets statements count; None: everywhere."""
        anchors = located_anchors(self.matcher, self.reading)
        if self.reading.relation is None or not anchors:
            return None
        return standing(self.matcher, self.reading.relation, anchors)


Scored = list[float] | None


def _by_closeness(values: Sequence[float], estimate: float, scale: float) -> list[float]:
    return [math.exp(-abs(value - estimate) / scale) for value in values]


def _count(situation: Situation) -> Scored:
    numbers = numbers_in(situation.options)
    if numbers is None:
        return None
    thing = thing_asked(situation.reading.focus)
    estimate = estimate_count(situation.matcher, situation.reading.text, thing, situation.allowed())
    if estimate is None:
        return None
    return _by_closeness(numbers, estimate, 1.0)


def _time(situation: Situation) -> Scored:
    matcher = situation.matcher
    episode = locate(matcher, thing_asked(situation.reading.text))
    if episode is None or not episode.members:
        return None
    times = times_in(situation.options) or plain_seconds(situation.options)
    if times is not None:
        centre = episode.start if all(time.start == time.end for time in times) else None
        distances = [
            abs(time.start - centre)
            if centre is not None
            else abs(time.middle - (episode.start + episode.end) / 2)
            for time in times
        ]
        return [1 / (1 + distance / 5.0) for distance in distances]
    parts = [parts_of_whole(option) for option in situation.options]
    if all(part is not None for part in parts):
        whole = float(np.nanmax(matcher.ends)) or 1.0
        return [1 - abs((part or 0.0) - episode.start / whole) for part in parts]
    return None


def _time_told(situation: Situation) -> Scored:
    """A time, where the options are nothing else, however it is asked for."""
    return _time(situation) if times_in(situation.options) else None


def _duration(situation: Situation) -> Scored:
    times = times_in(situation.options)
    if times is None:
        return None
    anchors = located_anchors(situation.matcher, situation.reading)
    if len(anchors) == 2:
        length = abs(anchors[1].start - anchors[0].end)
    else:
        found = fitting_episodes(situation.matcher, thing_asked(situation.reading.text))
        if not found:
            return None
        length = max(episode.end - episode.start for episode in found)
    return [math.exp(-abs(math.log((time.middle + 0.5) / (length + 0.5)))) for time in times]


def _order(situation: Situation) -> Scored:
    sequences = option_sequences(situation.reading.text, situation.options)
    return score_sequences(situation.matcher, sequences) if sequences else None


def _permutation(situation: Situation) -> Scored:
    sequences = option_sequences(situation.reading.text, situation.options)
    return score_sequences(situation.matcher, sequences) if sequences and permuted(sequences) else None


def _account(situation: Situation) -> Scored:
    """Which option tells rightly, part by part, what one thing does."""
    reading, options, matcher = situation.reading, situation.options, situation.matcher
    return score_accounts(reading, options, matcher, situation.allowed())


def _container(situation: Situation) -> Scored:
    """Which option heads the part of the video that holds the moment named."""
    matcher = situation.matcher
    anchors = located_anchors(matcher, situation.reading) if situation.reading.container else []
    if not anchors:
        return None
    moment = anchors[0]
    scores = []
    for option in situation.options:
        headed = locate(matcher, option)
        if headed is None:
            scores.append(0.0)
            continue
        part = stretch(matcher, headed)
        outside = max(part.start - moment.end, moment.start - part.end, 0.0)
        inside = min(part.end, moment.end) - max(part.start, moment.start)
        scores.append(headed.fit * (1.0 if inside > 0 else 0.4 * math.exp(-outside / 10.0)))
    return scores if max(scores) > _NOTHING else None


def _position(situation: Situation) -> Scored:
    """Which place in a row the odd one has."""
    reading, matcher = situation.reading, situation.matcher
    if not reading.odd_one:
        return None
    return score_positions(matcher, reading.text, situation.options, bearing(matcher, reading))


def _place(situation: Situation) -> Scored:
    places = places_of(situation.options)
    if places is None:
        return None
    matcher, reading = situation.matcher, situation.reading
    worth = bearing(matcher, reading)
    asked = preposition_asked(reading.text)
    scores = [0.0] * len(places)
    for index, statement in enumerate(matcher.statements):
        for said in places_in(statement.text) if worth[index] > 0 else ():
            fits = worth[index] * (1.0 if said.preposition in (asked, "") else _OTHER_PREPOSITION)
            scores = [
                max(score, fits * agreement(place, said)) for score, place in zip(scores, places, strict=True)
            ]
    return scores


def _truth(situation: Situation) -> Scored:
    supports = [support(situation.matcher, option) for option in situation.options]
    return [1 - value for value in supports] if situation.reading.negated else supports


def _topic(situation: Situation) -> Scored:
    matcher = situation.matcher
    if not len(matcher):
        return None
    told, spread = [], []
    for option in situation.options:
        fit = np.sort(matcher.match(option, unknown=UNKNOWN_WORD))[::-1]
        told.append(max(0.0, 2 * float(fit[0]) - 1))
        spread.append(float(fit[: max(3, len(fit) // 5)].mean() + fit.mean()))
    widest = max(spread) or 1.0
    return [0.35 * once + 0.65 * wide / widest for once, wide in zip(told, spread, strict=True)]


def _compared(situation: Situation) -> Scored:
    superlative = situation.reading.superlative
    if superlative is None or numbers_in(situation.options) or times_in(situation.options):
        return None
    measures = [measure(situation.matcher, option, superlative) for option in situation.options]
    known = [value for value in measures if value is not None]
    if len(known) < 2:
        return None
    best, worst = max(known), min(known)
    if best == worst:
        return None
    return [0.0 if value is None else 0.3 + 0.7 * (value - worst) / (best - worst) for value in measures]


def _so_often(situation: Situation) -> Scored:
    """Which option is the thing that happens as often as the question says."""
    reading = situation.reading
    said = times_said(reading.focus)
    if said is None or reading.anchors or numbers_in(situation.options) or times_in(situation.options):
        return None
    wanted, or_more = said
    counts = [len(fitting_episodes(situation.matcher, option)) for option in situation.options]
    if len(set(counts)) < 2:
        return None
    if or_more:
        return [0.0 if count == 0 else min(1.0, count / wanted) + 0.02 * count for count in counts]
    return [0.0 if count == 0 else math.exp(-abs(count - wanted)) for count in counts]


_SCORERS: dict[Asked, tuple[Callable[[Situation], Scored], ...]] = {
    Asked.COUNT: (_count,),
    Asked.TIME: (_time,),
    Asked.DURATION: (_duration, _time),
    Asked.ORDER: (_order,),
    Asked.TRUTH: (_truth,),
    Asked.TOPIC: (_topic,),
    Asked.REASON: (),
    Asked.PHRASE: (_position, _container, _place, _so_often, _compared),
}


def score_options(reading: Reading, options: Sequence[str], matcher: EvidenceMatcher) -> list[float]:
    """A score in [0, 1] for each option; all zero when the evidence says nothing."""
    plain = tuple(without_label(option) for option in options)
    situation = Situation(reading, plain, matcher)
    if not len(matcher):
        return [0.0] * len(options)
    for scorer in (_account, _permutation, *_SCORERS[reading.asked], _order, _time_told):
        scores = scorer(situation)
        if scores is not None:
            return scores
    scores = score_phrases(reading, plain, matcher)
    return _with_none(plain, scores)


def _with_none(options: Sequence[str], scores: list[float]) -> list[float]:
    refusing = [is_none(option) for option in options]
    if not any(refusing) or all(refusing):
        return scores
    rest = max(score for score, none in zip(scores, refusing, strict=True) if not none)
    return [0.3 * (1 - rest) if none else score for score, none in zip(scores, refusing, strict=True)]


def _drawn(text: str, options: Sequence[str], salt: str) -> list[float]:
    """One pseudo-random number in [0, 1) for each option, from what is asked alone."""
    drawn = []
    for position, option in enumerate(options):
        content = "\x1f".join((text, *options, option, str(position), salt))
        drawn.append(int.from_bytes(hashlib.sha256(content.encode()).digest()[:6], "big") / 2**48)
    return drawn


@dataclass(frozen=True)
class Choice:
    """The outcome of weighing the options."""

    index: int
    confidences: tuple[float, ...]
    guessed: bool


def choose(text: str, options: Sequence[str], scores: Sequence[float], sample: int = 0) -> Choice:
    """The best option; ties, and evidence that says nothing, are settled by a hash of the question.

    Another `sample` shifts the scores slightly.
    """
    ties = _drawn(text, options, "ties")
    if max(scores) < _NOTHING:
        if sample:
            ties = _drawn(text, options, f"sample {sample}")
        index = int(np.argmax(ties))
        return Choice(index, tuple(1 / len(options) for _ in options), guessed=True)
    values = np.array(scores, dtype=np.float64) + 1e-6 * np.array(ties)
    if sample:
        values += _SAMPLE_NOISE * (np.array(_drawn(text, options, f"sample {sample}")) - 0.5)
    weights = np.exp(_SHARPNESS * (values - values.max()))
    confidences = weights / weights.sum()
    level = max(scores) - min(scores) < 1e-9
    return Choice(int(np.argmax(values)), tuple(float(value) for value in confidences), guessed=level)
