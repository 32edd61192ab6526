"""Proposals without a model: a beam search over compositions of small moves.

Moves are steps of parameters and routes (`parameter_moves`) and edits of strategy code on its syntax
tree (`strategy_moves`). Each move is tried alone on a sample of evolution questions: first on failures,
and, if it mends some or saves frames, on as many questions that were answered rightly, to see what it
breaks. The best are composed with each other and tried again. What changes no answer and no look on the
failures is no candidate: parameters that do not matter for these videos cost nothing further. A composition
is worth its gain on the sample, in which losses count three times, less a price for looking more, and only
if it can be expected to stay within the gate's limits of observation; a move that merely saves frames may
still be half of a good composition.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from evoharness.evolution.diagnosis import right
from evoharness.evolution.proposers.moves import ROUTES, Move
from evoharness.evolution.proposers.parameter_moves import parameter_moves, used_parameters
from evoharness.evolution.proposers.strategy_moves import strategy_moves
from evoharness.evolution.proposing import Candidate, ProposalContext
from evoharness.evolution.sensitivity import seen_and_said
from evoharness.records.evolution import ChangeKind, FailureCause, Proposal
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question
from evoharness.scoring import as_fraction

if TYPE_CHECKING:
    from evoharness.harness import Harness


SAVING = 0.8
"""A move that mends nothing is worth composing when it uses less than this share of frames and tokens."""
PRICE = 0.1
"""Gain in accuracy that looking twice as much has to bring before it is worth as much as not doing so."""
ALLOWANCE = 0.9
"""Share of the gate's allowance of observation that a proposal may use: other videos will ask for more."""


@dataclass
class SearchSettings:
    """How much the search may try before it proposes."""

    sample: int = 56
    """Evolution questions in the sample, about half of them failures."""
    beam: int = 6
    """Compositions that are extended at each depth."""
    depth: int = 4
    """Most moves in one candidate."""
    tries: int = 56
    """Most harnesses tried on the sample in a round."""


@dataclass(frozen=True)
class Tried:
    """A composition of moves, and what it did on the sample."""

    moves: tuple[Move, ...]
    harness: "Harness"
    gain: float
    """Estimated change of accuracy over all evolution questions, from the sample."""
    broken: float
    """The part of it that was lost: right answers that are no longer right."""
    frames_ratio: float
    """Frames a question, divided by those of the initial harness on the sample."""
    tokens_ratio: float
    """Tokens a question, divided likewise."""
    frames_expected: float
    """The frames ratio that a further video may well come to (see `_expected`)."""
    tokens_expected: float
    """The tokens ratio likewise."""
    changed: bool
    """Whether any answer or any look differs from the incumbent's."""
    choices: tuple[int | None, ...] = ()
    """What was answered on the sample."""

    @property
    def observation(self) -> float:
        """The larger of the two ratios that are to be expected."""
        return max(self.frames_expected, self.tokens_expected)

    @property
    def worth(self) -> float:
        """The gain, less what was broken, less what looking more than the initial harness has to bring.

        What is broken counts three times: a change that mends one sort of question and breaks another is
        worth something only where the first sort is as frequent as here, and the best of many tries mends
        less elsewhere than where it was found.
        """
        return self.gain - 2 * self.broken - PRICE * max(0.0, self.observation - 1)


@dataclass
class SearchProposer:
    """Proposes what a beam search over moves found best; see the module for how."""

    settings: SearchSettings = field(default_factory=SearchSettings)
    name: str = "search"

    def propose(self, context: ProposalContext) -> list[Candidate]:
        """See `Proposer`."""
        sample = sampled(context.questions, context.outcomes, self.settings.sample, context.rng)
        if not sample.failures:
            return []
        search = _Search(context, sample, self.settings)
        best = search.run()
        return [
            Candidate(proposal=_proposal(tried, context, self.name), harness=tried.harness)
            for tried in _diverse(best, context.count)
        ]


@dataclass(frozen=True)
class Sample:
    """Evolution questions to try on: failures first, then questions that were answered rightly."""

    failures: tuple[Question, ...]
    successes: tuple[Question, ...]
    weights: tuple[float, ...]
    """Which share of all evolution questions each of them stands for, in the same order."""

    @property
    def all(self) -> tuple[Question, ...]:
        """Failures, then successes."""
        return (*self.failures, *self.successes)


def sampled(questions: Sequence[Question], outcomes: Sequence[Outcome], size: int, rng: Random) -> Sample:
    """At most `size` questions, half of them failures where there are enough of both."""
    known = [(q, o.reward) for q, o in zip(questions, outcomes, strict=True) if o.reward is not None]
    wrong = [question for question, reward in known if not right(question, reward)]
    passed = [question for question, reward in known if right(question, reward)]
    failures = min(len(wrong), max(size // 2, size - len(passed)))
    successes = min(len(passed), size - failures)
    shares = [
        (count, len(group) / count / len(questions))
        for group, count in ((wrong, failures), (passed, successes))
        if count
    ]
    return Sample(
        failures=tuple(rng.sample(wrong, failures)),
        successes=tuple(rng.sample(passed, successes)),
        weights=tuple(share for count, share in shares for _ in range(count)),
    )


class _Search:
    def __init__(self, context: ProposalContext, sample: "Sample", settings: SearchSettings) -> None:
        self._context = context
        self._sample = sample
        self._settings = settings
        self._limit = 1 + ALLOWANCE * (min(context.limits.values(), default=float("inf")) - 1)
        self._seen = {
            context.incumbent.fingerprint,
            *(r.harness for r in context.rejections if r.ground.bars),
        }
        self._before = self._answers([context.incumbent], sample.all)[context.incumbent.fingerprint]
        self._initial = self._answers([context.initial], sample.all)[context.initial.fingerprint]
        self._incumbent = self._spent()
        self._tries = 0

    def run(self) -> list[Tried]:
        """Everything worth proposing, best first."""
        moves = self._moves()
        singles = self._try([((move,), move.apply(self._context.incumbent)) for move in moves])
        found, beam = list(singles), self._best(singles)
        for _ in range(self._settings.depth - 1):
            extended = self._try(self._compositions(beam, singles))
            found += extended
            beam = self._best(extended)
        fitting = [t for t in found if t.gain > 0 and t.observation <= self._limit]
        return sorted(fitting, key=_rank)

    def _spent(self) -> tuple[float, float]:
        """Frames and tokens of the incumbent, divided by those of the initial harness on the sample."""
        pairs = [
            (old.answered.spend, first.answered.spend)
            for old, first in zip(self._before, self._initial, strict=True)
        ]
        weights = self._sample.weights
        return (
            _ratio([(old.frames, first.frames) for old, first in pairs], weights) or 1.0,
            _ratio([(old.tokens, first.tokens) for old, first in pairs], weights) or 1.0,
        )

    def _moves(self) -> list[Move]:
        """Moves that touch what these videos use, in a seeded order."""
        context = self._context
        harness = context.incumbent
        routed = {harness.route(seconds).strategy for seconds in context.durations.values()}
        # videos of other lengths than those drawn should profit too, short of those that need a memory
        routed |= {route.strategy for route in harness.routes if not route.memory}
        read = used_parameters(harness, routed)
        turns = [m for m in parameter_moves(harness) if m.subject == ROUTES or m.subject in read]
        edits = list(strategy_moves(sorted(routed)))
        context.rng.shuffle(turns)
        context.rng.shuffle(edits)
        return [*edits, *turns]

    def _compositions(
        self, beam: Iterable[Tried], singles: Sequence[Tried]
    ) -> "list[tuple[tuple[Move, ...], Harness | None]]":
        """Each composition of the beam with each single move; the most promising sums first."""
        pairs: list[tuple[bool, float, int, Tried, Tried]] = []
        for old in beam:
            for single in singles:
                if any(single.moves[0].excludes(move) for move in old.moves):
                    continue
                gain = old.gain + single.gain
                frames = old.frames_expected * single.frames_expected / self._incumbent[0]
                tokens = old.tokens_expected * single.tokens_expected / self._incumbent[1]
                pairs.append((max(frames, tokens) > self._limit, -gain, len(pairs), old, single))
        pairs.sort(key=lambda pair: pair[:3])
        room = (self._settings.tries - self._tries) // 2 or self._settings.tries - self._tries
        return [
            ((*old.moves, *single.moves), single.moves[0].apply(old.harness))
            for _, _, _, old, single in pairs[: max(0, room)]
        ]

    def _try(self, changes: "Iterable[tuple[tuple[Move, ...], Harness | None]]") -> list[Tried]:
        """What became of each change that is new, as far as it was worth finding out."""
        fresh: list[tuple[tuple[Move, ...], Harness]] = []
        for moves, harness in changes:
            if harness is None or harness.fingerprint in self._seen or self._tries >= self._settings.tries:
                continue
            self._seen.add(harness.fingerprint)
            self._tries += 1
            fresh.append((moves, harness))
        failed = len(self._sample.failures)
        mended = self._answers([harness for _, harness in fresh], self._sample.failures)
        first = [self._judged(moves, h, mended[h.fingerprint], failed) for moves, h in fresh]
        promising = [t for t in first if t.changed and (t.gain > 0 or t.observation < SAVING)]
        whole = self._answers([t.harness for t in promising], self._sample.all)
        return [self._judged(t.moves, t.harness, whole[t.harness.fingerprint], None) for t in promising]

    def _judged(
        self, moves: tuple[Move, ...], harness: "Harness", after: Sequence[Outcome], first: int | None
    ) -> Tried:
        """The account of one harness on the `first` questions of the sample (None: all)."""
        before, initial = self._before[:first], self._initial[:first]
        pairs = list(zip(after, before, strict=True))
        steps = [
            weight * (as_fraction(new.reward, question) - as_fraction(old.reward, question))
            for weight, question, (new, old) in zip(
                self._sample.weights[:first], self._sample.all[:first], pairs, strict=True
            )
            if new.reward is not None and old.reward is not None
        ]
        videos = [question.video for question in self._sample.all[:first]]
        weights = self._sample.weights[:first]
        different = [seen_and_said(new) != seen_and_said(old) for new, old in pairs]
        touched = {video for video, differs in zip(videos, different, strict=True) if differs}
        spent = [outcome.answered.spend for outcome in after]
        least = [outcome.answered.spend for outcome in initial]
        frames = [(s.frames, t.frames) for s, t in zip(spent, least, strict=True)]
        tokens = [(s.tokens, t.tokens) for s, t in zip(spent, least, strict=True)]
        return Tried(
            moves=moves,
            harness=harness,
            gain=sum(steps),
            broken=-sum(step for step in steps if step < 0),
            frames_ratio=_ratio(frames, weights),
            tokens_ratio=_ratio(tokens, weights),
            frames_expected=_expected(frames, weights, videos, touched),
            tokens_expected=_expected(tokens, weights, videos, touched),
            changed=any(different),
            choices=tuple(outcome.answered.choice for outcome in after),
        )

    def _answers(
        self, harnesses: "Sequence[Harness]", questions: Sequence[Question]
    ) -> dict[str, list[Outcome]]:
        return self._context.answer(harnesses, questions) if harnesses else {}

    def _best(self, tried: Sequence[Tried]) -> list[Tried]:
        """Half of the beam for what fits the limits, the rest for whatever gains most."""
        ranked = sorted(tried, key=_rank)
        fitting = [t for t in ranked if t.observation <= self._limit][: (self._settings.beam + 1) // 2]
        others = [t for t in ranked if t not in fitting]
        return [*fitting, *others][: self._settings.beam]


def _rank(tried: Tried) -> tuple[float, float, int, str]:
    return (-tried.worth, tried.observation, len(tried.moves), tried.harness.fingerprint)


def _ratio(used: Sequence[tuple[float, float]], weights: Sequence[float]) -> float:
    """(new, old) pairs as one ratio, of weighted sums."""
    new = sum(weight * more for weight, (more, _) in zip(weights, used, strict=True))
    old = sum(weight * less for weight, (_, less) in zip(weights, used, strict=True))
    return new / old if old else 1.0


def _expected(
    used: Sequence[tuple[float, float]], weights: Sequence[float], videos: Sequence[str], touched: set[str]
) -> float:
    """The ratio of all pairs, or if larger what a further video may well come to.

    That is the mean of the ratios of the `touched` videos and the standard error of predicting one more: a
    change may touch only some of the videos at hand, or some more than others, and all of the next.
    """
    each = []
    for video in sorted(touched):
        of_video = [at for at, name in enumerate(videos) if name == video]
        each.append(_ratio([used[at] for at in of_video], [weights[at] for at in of_video]))
    spread = stdev(each) * math.sqrt(1 + 1 / len(each)) if len(each) > 1 else 0.0
    overall = _ratio(used, weights)
    return max(overall, fmean(each) + spread) if each else overall


def _diverse(best: Sequence[Tried], count: int) -> list[Tried]:
    """The best first; of those that gave the same answers only the first, the others when room is left."""
    first: dict[tuple[int | None, ...], Tried] = {}
    for tried in best:
        first.setdefault(tried.choices, tried)
    chosen = list(first.values())
    taken = {tried.harness.fingerprint for tried in chosen}
    return [*chosen, *(tried for tried in best if tried.harness.fingerprint not in taken)][:count]


def _proposal(tried: Tried, context: ProposalContext, proposer: str) -> Proposal:
    kinds = {move.kind for move in tried.moves}
    causes = context.diagnosis
    located = causes.count(FailureCause.LOCALIZATION)
    return Proposal(
        kind=ChangeKind.STRATEGY if ChangeKind.STRATEGY in kinds else ChangeKind.PARAMETERS,
        title="; ".join(move.title for move in tried.moves),
        reason=(
            f"{located} of {len(causes.failures)} failures had the evidence elsewhere; on a sample of "
            f"evolution questions this changes accuracy by {tried.gain:+.3f}, "
            f"with {tried.frames_ratio:.2f} times the frames"
        ),
        proposer=proposer,
        details={"gain": tried.gain, "frames_ratio": tried.frames_ratio, "tokens_ratio": tried.tokens_ratio},
    )
