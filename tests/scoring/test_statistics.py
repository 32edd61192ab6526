"""The tests behind the gates, against closed forms, scipy and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from evoharness.scoring import statistics

COUNTS = st.integers(min_value=0, max_value=120)


def test_paired_p_by_hand() -> None:
    assert statistics.paired_p(0, 0) == 1.0
    assert statistics.paired_p(5, 0) == 1 / 32
    assert statistics.paired_p(3, 1) == (4 + 1) / 16
    assert statistics.paired_p(0, 4) == 1.0


@given(COUNTS, COUNTS)
def test_paired_p_is_the_binomial_test(wins: int, losses: int) -> None:
    n = wins + losses
    expected = stats.binomtest(wins, n, 0.5, alternative="greater").pvalue if n else 1.0
    assert statistics.paired_p(wins, losses) == pytest.approx(expected, rel=1e-9)


@given(COUNTS, COUNTS)
def test_anytime_evidence_is_its_integral(wins: int, losses: int) -> None:
    upper = special.betaincc(wins + 1, losses + 1, 0.5)
    logarithm = (wins + losses + 1) * math.log(2) + special.betaln(wins + 1, losses + 1)
    assert statistics.anytime_evidence(wins, losses) == pytest.approx(math.exp(logarithm) * upper, rel=1e-6)


def test_anytime_evidence_has_mean_one_under_the_null() -> None:
    n = 30
    mean = sum(math.comb(n, b) * statistics.anytime_evidence(b, n - b) for b in range(n + 1)) / 2**n
    assert mean == pytest.approx(1.0)


def test_anytime_evidence_may_be_looked_at_after_every_question() -> None:
    rng = np.random.default_rng(5)
    table = [[statistics.anytime_evidence(b, n - b) for b in range(n + 1)] for n in range(121)]
    crossed = 0
    for _ in range(2000):
        wins = np.cumsum(rng.integers(0, 2, 120))
        crossed += any(table[n][wins[n - 1]] >= 20 for n in range(1, 121))
    assert crossed / 2000 <= 0.05


def test_huge_evidence_is_infinite_rather_than_an_error() -> None:
    assert statistics.anytime_evidence(3000, 0) == math.inf
    assert statistics.anytime_evidence(0, 3000) == pytest.approx(0.0, abs=1e-3)


def test_the_paired_test_retains_a_null_candidate_no_more_often_than_promised() -> None:
    rng = np.random.default_rng(2)
    discordant = rng.binomial(200, 0.12, size=20_000)
    wins = rng.binomial(discordant, 0.5)
    pairs = list(zip(wins.tolist(), discordant.tolist(), strict=True))
    passes = {(b, n): statistics.paired_p(b, n - b) <= 0.05 for b, n in set(pairs)}
    retained = np.mean([passes[pair] for pair in pairs])
    assert 0.01 < retained <= 0.05


def test_sign_flips_with_few_videos_are_exact() -> None:
    rng = np.random.default_rng(0)
    assert statistics.sign_flip_p([1.0, 2.0, 0.5], 10_000, rng) == 1 / 8
    assert statistics.sign_flip_p([1.0, -1.0], 10_000, rng) == 3 / 4
    assert statistics.sign_flip_p([0.0, 0.0], 10_000, rng) == 1.0
    assert statistics.sign_flip_p([-1.0, -2.0], 10_000, rng) == 1.0


def test_sign_flips_agree_with_scipy_on_many_videos() -> None:
    rng = np.random.default_rng(1)
    differences = rng.normal(0.3, 1.0, 40)
    ours = statistics.sign_flip_p(differences.tolist(), 20_000, np.random.default_rng(2))
    theirs = stats.permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        alternative="greater",
        n_resamples=20_000,
        rng=np.random.default_rng(3),
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.01)


def test_sign_flips_hold_their_level_when_questions_cluster() -> None:
    rng = np.random.default_rng(4)
    flips = np.random.default_rng(5)
    videos = rng.normal(0, 1, size=(400, 12)) * rng.gamma(1.0, 2.0, size=(400, 12))
    rejected = np.mean([statistics.sign_flip_p(row.tolist(), 400, flips) <= 0.05 for row in videos])
    assert rejected <= 0.08, "0.05, and the noise of 400 repetitions"


@given(COUNTS, COUNTS, st.integers(min_value=0, max_value=50), st.floats(min_value=0.001, max_value=0.2))
def test_futility_never_drops_a_candidate_that_could_still_pass(
    b: int, c: int, left: int, level: float
) -> None:
    best = min(statistics.paired_p(b + won, c + left - won) for won in range(left + 1))
    assert statistics.is_futile(b, c, left, level) == (best > level)


def test_rounds_share_the_error_of_the_run() -> None:
    assert sum(statistics.round_alpha(0.05, r, 3) for r in (1, 2, 3)) == pytest.approx(0.05)
    assert sum(statistics.round_alpha(0.05, r, None) for r in range(1, 100_000)) <= 0.05


def test_needed_questions() -> None:
    z = stats.norm.ppf(1 - 0.0125) + stats.norm.ppf(0.8)
    expected = math.ceil(z**2 * (0.12 - 0.05**2) / 0.05**2)
    assert statistics.needed_questions(0.05, 0.12, 0.0125) == expected
    assert statistics.needed_questions(0.05, 0.0, 0.0125) > 0, "an effect is itself discordance"
    effect = statistics.detectable_effect(expected, 0.12, 0.0125)
    assert effect == pytest.approx(0.05, abs=0.001)


@given(st.floats(min_value=1e-6, max_value=0.5))
def test_needed_discordant(alpha: float) -> None:
    n = statistics.needed_discordant(alpha)
    assert statistics.paired_p(n, 0) <= alpha * (1 + 1e-9)
    assert n == 1 or statistics.paired_p(n - 1, 0) > alpha
