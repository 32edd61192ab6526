"""Who decides whether a finalist replaces the incumbent.

A gate receives pairs of rewards on validation questions that no proposer has seen, of finalists that
were frozen before any of them was answered. Pairs that the apparatus lost are missing for both sides.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from evoharness.errors import UserError
from evoharness.evolution.observation import excess_observation
from evoharness.evolution.pairs import Pairs
from evoharness.evolution.settings import GateSettings, check_gate
from evoharness.records.evolution import Decision, Verdict
from evoharness.scoring import statistics

SIGN_FLIPS_A_LEVEL = 20
"""M = 20 / level random signs: the smallest p that can come out is then well below the level."""
MOST_EVIDENCE = 1e300
"""E beyond which it is not told apart; JSON knows no infinity."""


@dataclass(frozen=True)
class GateResult:
    """The decision about a round's finalists."""

    verdicts: tuple[Verdict, ...]
    retained: tuple[str, ...]
    """Ids; none, one, or with `margin` several, the largest gain first."""


class Gate(Protocol):
    """Decides about finalists."""

    name: str
    screens: bool
    """Whether candidates are screened first; else all of them are finalists."""
    stops_at_success: bool
    """Whether a finalist may be retained before all questions were answered."""

    def settled(self, pairs: Pairs, left: int) -> bool:
        """Whether `left` more questions could not change the decision about this finalist."""
        ...

    def decide(self, finalists: Mapping[str, Pairs], left: Mapping[str, int]) -> GateResult:
        """Judge every finalist; `left`: how many questions it was spared because it was settled."""
        ...


class PairedGate:
    """Screened; the exact paired test at the level α_r/K: P(any false retain in the run) ≤ α.

    0/1 rewards: p = P(Bin(b + c, ½) ≥ b). Rewards from 1 to 5, or `unit=video`: random signs of the
    summed differences D_v of the videos. The smallest p is kept, if it is at most the level. The bound
    holds whatever the dependence between candidates, and stopping hopeless ones early costs nothing.
    """

    name = "paired"
    screens = True
    stops_at_success = False

    def __init__(self, settings: GateSettings, level: float, seed: int = 0) -> None:
        """`level`: the largest p that retains; `seed`: of the random signs."""
        self.settings = settings
        self.level = level
        self.seed = seed

    def p_value(self, pairs: Pairs) -> float:
        """One-sided: the candidate is no better."""
        if pairs.graded or self.settings.unit == "video":
            import numpy as np

            flips = math.ceil(SIGN_FLIPS_A_LEVEL / self.level)
            return statistics.sign_flip_p(pairs.by_video(), flips, np.random.default_rng(self.seed))
        return statistics.paired_p(pairs.wins, pairs.losses)

    def settled(self, pairs: Pairs, left: int) -> bool:
        """Futile: p would stay above the level even if every question left were won."""
        if pairs.graded or self.settings.unit == "video":
            return False
        return statistics.is_futile(pairs.wins, pairs.losses, left, self.level)

    def decide(self, finalists: Mapping[str, Pairs], left: Mapping[str, int]) -> GateResult:
        """See `Gate`."""
        p_values = {name: self.p_value(pairs) for name, pairs in finalists.items()}
        passing = [
            name
            for name, pairs in finalists.items()
            if p_values[name] <= self.level and not left.get(name) and not _unfit(pairs, self.settings)
        ]
        kept = min(passing, key=lambda name: (p_values[name], *_preference(name, finalists)), default=None)
        verdicts = []
        for name, pairs in finalists.items():
            p = p_values[name]
            said = f"p = {p:.4g} with {pairs.wins} won and {pairs.losses} lost; {self.level:.4g} is asked for"
            decision = _decision(name, kept, pairs, left, self.settings)
            if name in passing and name != kept:
                said += f"; {kept} has the smaller p"
            verdicts.append(
                _verdict(name, pairs, *_reasoned(decision, said, pairs, self.settings), self.level, p=p)
            )
        return GateResult(tuple(verdicts), (kept,) if kept else ())


class SequentialGate:
    """Screened; retained when the anytime-valid E reaches K/α_r after any question.

    E = 2^(b+c+1) B(b+1, c+1) [1 − I_½(b+1, c+1)]. By Ville's inequality P(E ever ≥ 1/level) ≤ level for a
    candidate that is no better, so looking after every question costs nothing, and a clear winner stops
    the round early. It needs more questions than `paired` to show the same gain. Options only.
    """

    name = "sequential"
    screens = True
    stops_at_success = True

    def __init__(self, settings: GateSettings, level: float) -> None:
        """`level`: α_r/K; E has to reach its inverse."""
        self.settings = settings
        self.needed = 1 / level

    def evidence(self, pairs: Pairs) -> float:
        """The largest E after any question; UserError for rewards from a judge."""
        if pairs.graded:
            raise UserError("gate=sequential works on questions with options; use gate=paired for open ones")
        largest, wins, losses = 1.0, 0, 0
        for pair in pairs.pairs:
            if pair.difference:
                wins, losses = wins + (pair.difference > 0), losses + (pair.difference < 0)
                largest = max(largest, statistics.anytime_evidence(wins, losses))
        return min(largest, MOST_EVIDENCE)

    def settled(self, pairs: Pairs, left: int) -> bool:
        """E has been reached, or could not be even if every question left were won."""
        if self.evidence(pairs) >= self.needed:
            return True
        return statistics.anytime_evidence(pairs.wins + left, pairs.losses) < self.needed

    def decide(self, finalists: Mapping[str, Pairs], left: Mapping[str, int]) -> GateResult:
        """See `Gate`."""
        evidence = {name: self.evidence(pairs) for name, pairs in finalists.items()}
        passing = [
            name
            for name, pairs in finalists.items()
            if evidence[name] >= self.needed and not _unfit(pairs, self.settings)
        ]
        kept = min(passing, key=lambda name: (-evidence[name], *_preference(name, finalists)), default=None)
        verdicts = []
        for name, pairs in finalists.items():
            said = f"E reached {evidence[name]:.4g}; {self.needed:.4g} is asked for"
            reached = {**left, name: 0} if evidence[name] >= self.needed else left
            decision = _decision(name, kept, pairs, reached, self.settings)
            verdicts.append(
                _verdict(
                    name,
                    pairs,
                    *_reasoned(decision, said, pairs, self.settings),
                    self.needed,
                    p=statistics.paired_p(pairs.wins, pairs.losses),
                    evidence=evidence[name],
                )
            )
        return GateResult(tuple(verdicts), (kept,) if kept else ())


class ArgmaxGate:
    """The rule of VideoEvoHarness (appendix A.3): the greatest Δ̂ = mean(d_i) > 0; ties: cheaper, then id.

    No guarantee: the best of N candidates that change nothing nearly always shows a gain.
    """

    name = "argmax"
    screens = False
    stops_at_success = False

    def __init__(self, settings: GateSettings) -> None:
        self.settings = settings

    def settled(self, pairs: Pairs, left: int) -> bool:  # noqa: ARG002
        """Never: every question counts."""
        return False

    def decide(self, finalists: Mapping[str, Pairs], left: Mapping[str, int]) -> GateResult:
        """See `Gate`."""
        passing = [
            n for n, pairs in finalists.items() if pairs.delta > 0 and not _unfit(pairs, self.settings)
        ]
        kept = min(passing, key=lambda name: _preference(name, finalists), default=None)
        verdicts = []
        for name, pairs in finalists.items():
            said = f"mean difference {pairs.delta:+.4f}" + (
                "" if name == kept else "; not the greatest above 0"
            )
            decision = _decision(name, kept, pairs, left, self.settings)
            p = None if pairs.graded else statistics.paired_p(pairs.wins, pairs.losses)
            verdicts.append(_verdict(name, pairs, *_reasoned(decision, said, pairs, self.settings), 0.0, p=p))
        return GateResult(tuple(verdicts), (kept,) if kept else ())


class MarginGate:
    """The rule of MedClaw (section III-F): R_s > R_0 + δ, and no question down two points or more.

    Each change is tested alone against the harness that the round began with, and all that pass are
    retained. The round puts them together, and has the gate judge the combination in the same way. R is the
    mean reward from 1 to 5; rewards of 0/1 count as 1 + 4r. No guarantee: with 40 questions and δ = 0.05 a
    change that does nothing passes the first condition 21–35 % of the time.
    """

    name = "margin"
    screens = False
    stops_at_success = False

    def __init__(self, settings: GateSettings) -> None:
        self.settings = settings

    def settled(self, pairs: Pairs, left: int) -> bool:  # noqa: ARG002
        """Vetoed by a question."""
        return self._vetoed(pairs)

    def _vetoed(self, pairs: Pairs) -> bool:
        return any(4 * pair.difference <= -self.settings.veto for pair in pairs.pairs)

    def decide(self, finalists: Mapping[str, Pairs], left: Mapping[str, int]) -> GateResult:
        """See `Gate`."""
        kept = [
            name
            for name, pairs in finalists.items()
            if 4 * pairs.delta > self.settings.margin
            and not self._vetoed(pairs)
            and not _unfit(pairs, self.settings)
        ]
        verdicts = []
        for name, pairs in finalists.items():
            said = f"mean reward {4 * pairs.delta:+.3f} on the scale from 1 to 5"
            if self._vetoed(pairs):
                said += f"; a question falls by {self.settings.veto:g} points or more"
            decision = _decision(name, name if name in kept else None, pairs, left, self.settings)
            verdicts.append(
                _verdict(name, pairs, *_reasoned(decision, said, pairs, self.settings), self.settings.margin)
            )
        return GateResult(tuple(verdicts), tuple(sorted(kept, key=lambda name: _preference(name, finalists))))


def make_gate(settings: GateSettings, level: float, seed: int = 0) -> Gate:
    """The gate of that name, for one round's finalists, at α_r/K."""
    check_gate(settings)
    if settings.name == "paired":
        return PairedGate(settings, level, seed)
    if settings.name == "sequential":
        return SequentialGate(settings, level)
    return ArgmaxGate(settings) if settings.name == "argmax" else MarginGate(settings)


def could_pass(settings: GateSettings, level: float, questions: int, videos: int) -> bool:
    """Whether any result on so many questions about so many videos could make the gate retain something."""
    if settings.name == "paired":
        independent = videos if settings.unit == "video" else questions
        return independent > 0 and statistics.paired_p(independent, 0) <= level
    if settings.name == "sequential":
        return statistics.anytime_evidence(questions, 0) >= 1 / level
    return questions > 0


def level_of(
    settings: GateSettings,
    round_number: int,
    rounds: int,
    finalists: int,
    reused: bool,
    planned: int | None = None,
) -> float:
    """α_r/k: what each of a round's k frozen finalists may spend of the run's error bound.

    When every round uses the same validation questions (`reused`), what was retained before has been
    chosen by them, and a round's finalists may depend on it in K + 1 ways for each earlier round, K being
    the most finalists that a round may have (`planned`; None: as many as this one). The bound is shared by
    the finalists of all these branches, however few of them this round has.
    """
    k = max(1, finalists)
    branches = (max(k, planned or 0) + 1) ** (round_number - 1) if reused else 1
    return statistics.round_alpha(settings.alpha, round_number, rounds) / (k * branches)


def _preference(name: str, finalists: Mapping[str, Pairs]) -> tuple[float, float, str]:
    return (-finalists[name].delta, finalists[name].tokens, name)


def _unfit(pairs: Pairs, settings: GateSettings) -> bool:
    return pairs.dropped_share > settings.max_dropped or bool(excess_observation(pairs, settings))


def _decision(
    name: str, kept: str | None, pairs: Pairs, left: Mapping[str, int], settings: GateSettings
) -> Decision:
    if name == kept:
        return Decision.RETAINED
    if pairs.dropped_share > settings.max_dropped or pairs.wins + pairs.losses == 0:
        return Decision.INDECISIVE
    return Decision.FUTILE if left.get(name) else Decision.REJECTED


def _reasoned(decision: Decision, said: str, pairs: Pairs, settings: GateSettings) -> tuple[Decision, str]:
    if pairs.dropped_share > settings.max_dropped:
        lost = f"{pairs.dropped} of {pairs.dropped + len(pairs.pairs)} pairs were lost to the apparatus"
        return decision, f"{lost}; {said}"
    if decision is Decision.INDECISIVE:
        return decision, "no question was answered differently"
    excess = excess_observation(pairs, settings)
    return decision, f"{excess}; {said}" if excess else said


def _verdict(
    name: str,
    pairs: Pairs,
    decision: Decision,
    reason: str,
    threshold: float,
    p: float | None = None,
    evidence: float | None = None,
) -> Verdict:
    return Verdict(
        candidate=name,
        decision=decision,
        reason=reason,
        p_value=p,
        evidence=evidence,
        threshold=threshold,
        wins=pairs.wins,
        losses=pairs.losses,
        pairs=len(pairs.pairs),
        dropped=pairs.dropped,
        delta=pairs.delta,
        incumbent=pairs.incumbent,
        candidate_reward=pairs.candidate,
        frames_ratio=pairs.frames_ratio,
        tokens_ratio=pairs.tokens_ratio,
    )
