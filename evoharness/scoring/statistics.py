"""The arithmetic of accepting a candidate; every function is exact unless its docstring says otherwise.

Pairs: incumbent and candidate answer the same question. b counts the questions only the candidate
answers rightly, c those only the incumbent does; questions on which both agree say nothing.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def paired_p(wins: int, losses: int) -> float:
    """P(Bin(b + c, 1/2) >= b): the exact one-sided test of McNemar; 1 when nothing is discordant."""
    n = wins + losses
    return _at_least(n, wins) / (1 << n)


def _at_least(n: int, k: int) -> int:
    """How many of the 2^n outcomes of n fair coins show at least k heads."""
    return sum(math.comb(n, i) for i in range(max(0, k), n + 1))


def sign_flip_p(differences: Sequence[float], flips: int, rng: "np.random.Generator") -> float:
    """p of "no video is better off on average" by random signs, one a video.

    `differences` holds D_v, the summed difference of reward of each video. With few videos all signs
    are tried, which is exact; else p = (1 + #{sum s_v D_v >= sum D_v}) / (M + 1) with M = `flips`.
    """
    import numpy as np

    values = np.array([d for d in differences if d != 0.0])
    if values.size == 0:
        return 1.0
    observed = float(values.sum()) - 1e-9 * float(np.abs(values).sum())
    if 2.0**values.size <= flips + 1:
        codes = np.arange(1 << values.size)[:, None]
        signs = 1.0 - 2.0 * ((codes >> np.arange(values.size)) & 1)
        return float(np.mean(signs @ values >= observed))
    reached = 0
    for begin in range(0, flips, 4096):
        signs = rng.choice([-1.0, 1.0], size=(min(4096, flips - begin), values.size))
        reached += int(np.count_nonzero(signs @ values >= observed))
    return (1 + reached) / (flips + 1)


def anytime_evidence(wins: int, losses: int) -> float:
    """E = 2^(b+c+1) B(b+1, c+1) [1 - I_1/2(b+1, c+1)], an e-value at every look.

    It is the likelihood ratio of "a discordant pair favours the candidate with a probability uniform
    over (1/2, 1)" against 1/2. Under the null its mean is at most 1 at any time that is chosen to
    stop, so P(E ever reaches 1/alpha) <= alpha. In integers: sum_{k<=b} C(n+1, k) / ((n+1) C(n, b)).
    """
    n = wins + losses
    below = (1 << (n + 1)) - _at_least(n + 1, wins + 1)
    try:
        return below / ((n + 1) * math.comb(n, wins))
    except OverflowError:
        return math.inf


def is_futile(wins: int, losses: int, left: int, threshold: float) -> bool:
    """Whether p would stay above the threshold even if the candidate won every question that is left."""
    return paired_p(wins + left, losses) > threshold


def round_alpha(alpha: float, round_number: int, planned_rounds: int | None) -> float:
    """The part of a run's error bound that a round (from 1) may spend.

    A/R when R rounds are planned, else 6A/(pi^2 r^2), whose sum over all rounds is A.
    """
    if planned_rounds is not None:
        return alpha / planned_rounds
    return 6 * alpha / (math.pi**2 * round_number**2)


def needed_questions(effect: float, discordance: float, alpha: float, power: float = 0.8) -> int:
    """How many paired questions show a gain of `effect` with that power (a normal approximation).

    n = (z_{1-alpha} + z_power)^2 (psi - effect^2) / effect^2, with psi the share of discordant pairs,
    which cannot be less than the effect; never fewer than it takes for the smallest p to be reached.
    """
    psi = max(discordance, effect)
    z = NormalDist().inv_cdf(1 - alpha) + NormalDist().inv_cdf(power)
    by_power = math.ceil(z * z * (psi - effect * effect) / (effect * effect))
    return max(by_power, needed_discordant(alpha))


def needed_discordant(alpha: float) -> int:
    """The fewest discordant pairs, all in favour of the candidate, whose p is at most alpha."""
    return max(1, math.ceil(-math.log2(alpha) - 1e-12))


def detectable_effect(questions: int, discordance: float, alpha: float, power: float = 0.8) -> float:
    """The gain that so many paired questions show with that power: `needed_questions` read backwards."""
    z = NormalDist().inv_cdf(1 - alpha) + NormalDist().inv_cdf(power)
    return z * math.sqrt(discordance / (questions + z * z)) if questions else 1.0
