"""How often a harness fails, and is unsure: from how closely it looks, and how long videos are."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from evoharness.evolution.estimating.expectations import Expectations
from evoharness.questioner.forms.base import FAVOUR

CROWDED_S = 120.0
"""Length of a video of which a usual share of the questions confuses."""
MOST_CROWDED = 1.3
"""Longer videos confuse at most so many times as much."""
FURTHER_S = 0.5
"""Seconds from one frame to the next of a further look."""
HARD = 0.25
"""Share of the things in a video that are brief or small."""
UNSURE_UNSEEN = 0.6
"""Share of the answers about what was not seen that are unsure."""


@dataclass(frozen=True)
class Failing:
    """How the incumbent does on the questions about some videos."""

    share: float
    """Of its answers that are wrong."""
    unexplained: float
    """Share of these that stay wrong with the source at hand, and are tried with more around it."""
    caught: float
    """Share of what was not seen that a further look sees: what is missed by dense frames is brief."""
    unsure_wrong: float
    """Share of the wrong answers that are unsure."""
    unsure_right: float
    """Share of the right ones."""
    unsure: float
    """Share of all answers."""


@dataclass(frozen=True)
class Sighting:
    """What an answer about a video sees of it."""

    gap_s: float
    """Seconds from one frame to the next."""
    seconds: float
    """Length of the video."""
    shrunk: float = 0.0
    """How much shorter the sides of a frame are than usual, as a share of these."""
    preferred: float = 1.0
    """How much more often what is brief or small is asked about than it occurs in the video."""


def preferred(brief: float, used: float) -> float:
    """How much more often the brief and the small are asked about than they occur.

    `brief`: how strongly questions prefer them. `used`: share of the possible questions that are made; the
    more, the less is left to choose from.
    """
    weight = 1 + FAVOUR * brief
    return 1 + (weight / (1 + HARD * (weight - 1)) - 1) * (1 - used)


def failing_on(videos: Sequence[Sighting], options: int, e: Expectations) -> Failing:
    """It fails on what falls between its frames, on what is too small in them, and on what confuses.

    `options`: of a question.
    """
    unseen = confused = further = 0.0
    for video in videos:
        blurred = min(1.0, e.blurred * video.preferred) * video.shrunk
        unseen += (1 - (1 - e.unseen(video.gap_s * video.preferred)) * (1 - blurred)) / len(videos)
        further += e.unseen(FURTHER_S * video.preferred) / len(videos)
        confused += min(0.9, e.confused * min(MOST_CROWDED, video.seconds / CROWDED_S)) / len(videos)
    brief = min(unseen, further)
    # what is easily guessed has been removed: guesses are right half as often
    missed = unseen * (1 - 0.5 / max(2, options))
    share = 1 - (1 - missed) * (1 - confused)
    unsure = min(1.0, e.unsure + UNSURE_UNSEEN * unseen)
    wrong = max(e.unsure_wrong, unsure)
    right = (unsure - share * wrong) / (1 - share) if share < 1 else unsure
    return Failing(
        share=share,
        unexplained=min(1.0, confused / share + 0.1) if share else 0.0,
        caught=1 - brief / unseen if unseen else 0.0,
        unsure_wrong=wrong,
        unsure_right=max(e.unsure / 2, right),
        unsure=unsure,
    )


def at_least(least: int, number: int, share: float) -> float:
    """Probability that so many of a number succeed, each with that chance."""
    return sum(
        comb(number, count) * share**count * (1.0 - share) ** (number - count)
        for count in range(least, number + 1)
    )
