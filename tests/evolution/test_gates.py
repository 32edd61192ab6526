"""Gates on worked examples, and what they promise under simulation."""

import numpy as np
import pytest

from evoharness.errors import UserError
from evoharness.evolution.gates import (
    ArgmaxGate,
    GateResult,
    MarginGate,
    PairedGate,
    SequentialGate,
    could_pass,
    level_of,
    make_gate,
)
from evoharness.evolution.pairs import Pair, Pairs
from evoharness.evolution.settings import EvolutionSettings, GateSettings, check_settings
from evoharness.records.evolution import Decision, Verdict
from evoharness.scoring.statistics import paired_p

SETTINGS = GateSettings()


def pairs(wins: int, losses: int, same: int = 50, dropped: int = 0, **fields: float) -> Pairs:
    """b wins, c losses and some agreements, spread over ten videos."""
    differences = [1] * wins + [-1] * losses + [0] * same
    return Pairs(
        pairs=tuple(
            Pair(question=f"q{i}", video=f"v{i % 10}", incumbent=0.5 - d / 2, candidate=0.5 + d / 2)
            for i, d in enumerate(differences)
        ),
        dropped=dropped,
        **fields,  # type: ignore[arg-type]
    )


def verdict(result: GateResult, name: str = "a") -> Verdict:
    return next(v for v in result.verdicts if v.candidate == name)


def test_paired_retains_exactly_up_to_its_level() -> None:
    assert paired_p(7, 0) == 0.0078125
    gate = PairedGate(SETTINGS, level=0.0078125)
    assert gate.decide({"a": pairs(7, 0)}, {}).retained == ("a",)
    assert gate.decide({"a": pairs(6, 0)}, {}).retained == ()
    decided = verdict(gate.decide({"a": pairs(14, 3)}, {}))
    assert decided.decision is Decision.RETAINED
    assert decided.p_value == pytest.approx(0.006363, abs=1e-6)
    assert (decided.wins, decided.losses, decided.pairs) == (14, 3, 67)
    assert decided.delta == pytest.approx(11 / 67)


def test_paired_retains_only_the_smallest_p() -> None:
    result = PairedGate(SETTINGS, 0.05).decide({"a": pairs(10, 1), "b": pairs(14, 1)}, {})
    assert result.retained == ("b",)
    assert verdict(result, "a").decision is Decision.REJECTED
    assert "b has the smaller p" in verdict(result, "a").reason


def test_of_equal_results_the_cheaper_one_is_kept_then_the_smaller_id() -> None:
    equal = {"b": pairs(9, 0, tokens=10.0), "a": pairs(9, 0, tokens=20.0)}
    assert PairedGate(SETTINGS, 0.05).decide(equal, {}).retained == ("b",)
    assert ArgmaxGate(SETTINGS).decide(equal, {}).retained == ("b",)
    same = {"b": pairs(9, 0), "a": pairs(9, 0)}
    assert PairedGate(SETTINGS, 0.05).decide(same, {}).retained == ("a",)


def test_nothing_answered_differently_is_indecisive() -> None:
    for gate in (PairedGate(SETTINGS, 0.05), SequentialGate(SETTINGS, 0.05), ArgmaxGate(SETTINGS)):
        decided = verdict(gate.decide({"a": pairs(0, 0)}, {}))
        assert decided.decision is Decision.INDECISIVE
        assert decided.p_value == 1.0


@pytest.mark.parametrize("name", ["paired", "sequential", "argmax", "margin"])
def test_more_than_two_percent_lost_to_the_apparatus_is_indecisive(name: str) -> None:
    gate = make_gate(GateSettings(name=name), 0.05)
    assert gate.decide({"a": pairs(48, 0, same=50, dropped=2)}, {}).retained == ("a",)
    lost = gate.decide({"a": pairs(47, 0, same=50, dropped=3)}, {})
    assert lost.retained == ()
    assert verdict(lost).decision is Decision.INDECISIVE
    assert "3 of 100 pairs were lost" in verdict(lost).reason


@pytest.mark.parametrize("name", ["paired", "sequential", "argmax", "margin"])
def test_looking_more_is_not_being_better(name: str) -> None:
    within = pairs(20, 0, frames_ratio=1.25, tokens_ratio=1.2)
    beyond = pairs(20, 0, frames_ratio=1.26, tokens_ratio=1.2)
    gate = make_gate(GateSettings(name=name), 0.05)
    assert gate.decide({"a": within}, {}).retained == ("a",)
    refused = gate.decide({"a": beyond}, {})
    assert refused.retained == ()
    assert verdict(refused).reason.startswith("uses 1.26 times the frames of the initial harness")
    free = make_gate(GateSettings(name=name, observation="free"), 0.05)
    assert free.decide({"a": beyond}, {}).retained == ("a",)


def test_a_futile_finalist_is_never_retained() -> None:
    gate = PairedGate(SETTINGS, 0.01)
    assert gate.settled(pairs(0, 4), left=9)
    assert not gate.settled(pairs(0, 4), left=40)
    decided = verdict(gate.decide({"a": pairs(9, 0)}, {"a": 5}))
    assert decided.decision is Decision.FUTILE


def test_graded_rewards_are_tested_by_video() -> None:
    def graded(gains: list[float]) -> Pairs:
        return Pairs(
            pairs=tuple(
                Pair(question=f"q{v}{i}", video=f"v{v}", incumbent=0.5, candidate=0.5 + gain)
                for v, gain in enumerate(gains)
                for i in range(3)
            ),
            graded=True,
        )

    gate = PairedGate(SETTINGS, level=0.02)
    assert gate.p_value(graded([0.25] * 6)) == 1 / 64
    assert gate.decide({"a": graded([0.25] * 6)}, {}).retained == ("a",)
    assert gate.decide({"a": graded([0.25] * 5)}, {}).retained == ()
    assert not gate.settled(graded([-0.25] * 5), left=1)


def test_by_video_a_gain_on_one_video_shows_nothing_about_others() -> None:
    one_video = Pairs(
        pairs=tuple(Pair(question=f"q{i}", video="v", incumbent=0.0, candidate=1.0) for i in range(40))
    )
    assert PairedGate(GateSettings(unit="video"), 0.05).decide({"a": one_video}, {}).retained == ()
    assert PairedGate(GateSettings(unit="question"), 0.05).decide({"a": one_video}, {}).retained == ("a",)


def test_sequential_may_stop_at_any_question() -> None:
    gate = SequentialGate(SETTINGS, level=0.05)
    early = pairs(12, 0, same=0)
    assert gate.evidence(early) == pytest.approx(2**13 / 13 * (1 - 2**-13), rel=1e-6)
    assert gate.settled(early, left=100)
    late_losses = Pairs(pairs=early.pairs + pairs(0, 12, same=0).pairs)
    assert gate.decide({"a": late_losses}, {}).retained == ("a",), "evidence once reached stands"
    assert gate.settled(pairs(0, 20), left=5), "hopeless"


def test_argmax_keeps_the_greatest_gain_however_small() -> None:
    result = ArgmaxGate(SETTINGS).decide({"a": pairs(3, 2), "b": pairs(4, 2), "c": pairs(1, 2)}, {})
    assert result.retained == ("b",)
    assert ArgmaxGate(SETTINGS).decide({"a": pairs(2, 2)}, {}).retained == ()


def test_margin_keeps_every_change_that_raises_the_mean_and_ruins_nothing() -> None:
    gate = MarginGate(SETTINGS)
    result = gate.decide({"a": pairs(1, 0, same=79), "b": pairs(5, 0), "c": pairs(9, 1)}, {})
    assert result.retained == ("b",), "a gains no more than the margin; c lets one question fall"
    assert gate.settled(pairs(9, 1), left=10)
    both = gate.decide({"a": pairs(2, 0), "b": pairs(5, 0)}, {})
    assert both.retained == ("b", "a"), "the larger gain first"
    small_falls = Pairs(
        pairs=tuple(
            Pair(question=f"q{i}", video="v", incumbent=0.5, candidate=0.5 + d)
            for i, d in enumerate([0.5, 0.5, -0.49])
        ),
        graded=True,
    )
    assert gate.decide({"a": small_falls}, {}).retained == ("a",)


def test_the_error_of_a_run_is_shared_by_rounds_and_finalists() -> None:
    assert level_of(SETTINGS, 1, rounds=2, finalists=3, reused=False) == pytest.approx(0.05 / 6)
    assert level_of(SETTINGS, 2, rounds=2, finalists=3, reused=False) == pytest.approx(0.05 / 6)
    total = sum(4 ** (r - 1) * 3 * level_of(SETTINGS, r, 3, 3, reused=True) for r in (1, 2, 3))
    assert total == pytest.approx(0.05), "over all that a reused set might have had to decide about"


def test_fewer_finalists_now_do_not_undo_the_branches_of_earlier_rounds() -> None:
    """Three finalists, then two, then one, on the same questions: 4 ways to go on, and then 3 each."""

    def level(number: int, finalists: int) -> float:
        return level_of(SETTINGS, number, 3, finalists, reused=True, planned=3)

    assert level(1, 3) == pytest.approx(0.05 / 3 / 3)
    assert level(2, 2) == pytest.approx(0.05 / 3 / 2 / 4)
    assert level(3, 1) == pytest.approx(0.05 / 3 / 1 / 16)
    assert 3 * level(1, 3) + 4 * 2 * level(2, 2) + 4 * 3 * 1 * level(3, 1) <= 0.05


def test_what_could_never_pass() -> None:
    assert not could_pass(SETTINGS, 0.01, questions=6, videos=6)
    assert could_pass(SETTINGS, 0.01, questions=7, videos=1)
    assert not could_pass(GateSettings(unit="video"), 0.01, questions=100, videos=6)
    assert not could_pass(GateSettings(name="sequential"), 0.01, questions=8, videos=8)
    assert could_pass(GateSettings(name="sequential"), 0.01, questions=12, videos=1)
    assert could_pass(GateSettings(name="argmax"), 0.01, questions=1, videos=1)


def test_a_run_of_useless_finalists_retains_one_no_more_often_than_alpha() -> None:
    """Three finalists that are copies in part, two rounds, no true difference anywhere."""
    rng = np.random.default_rng(11)
    level = level_of(SETTINGS, 1, rounds=2, finalists=3, reused=False)
    table = [[paired_p(b, n - b) <= level for b in range(n + 1)] for n in range(121)]
    runs, retained = 4000, 0
    for _ in range(runs):
        kept = False
        for _round in range(2):
            shared = rng.choice([-1, 0, 1], size=120, p=[0.1, 0.8, 0.1])
            for _finalist in range(3):
                own = rng.choice([-1, 0, 1], size=120, p=[0.1, 0.8, 0.1])
                d = np.where(rng.random(120) < 0.5, shared, own)
                b, c = int((d > 0).sum()), int((d < 0).sum())
                kept |= table[b + c][b]
        retained += kept
    assert retained / runs <= 0.05


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(UserError, match=r"gate\.name=best is not known: use paired"):
        make_gate(GateSettings(name="best"), 0.05)
    with pytest.raises(UserError, match=r"gate\.observation=half"):
        make_gate(GateSettings(observation="half"), 0.05)
    with pytest.raises(UserError, match=r"gate\.alpha=2"):
        make_gate(GateSettings(alpha=2.0), 0.05)
    with pytest.raises(UserError, match=r"gate\.unit=frame"):
        make_gate(GateSettings(unit="frame"), 0.05)
    with pytest.raises(UserError, match=r"evolution\.race=\[\]"):
        check_settings(EvolutionSettings(race=[]))
    with pytest.raises(UserError, match=r"evolution\.finalists=0"):
        check_settings(EvolutionSettings(finalists=0))
    check_settings(EvolutionSettings())
