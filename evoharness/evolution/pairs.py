"""Two harnesses on the same questions: what every decision about a candidate is computed from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evoharness.records.outcome import Outcome
from evoharness.records.question import Question
from evoharness.scoring import as_fraction


@dataclass(frozen=True)
class Pair:
    """One question that both answered; rewards as fractions from 0 to 1."""

    question: str
    video: str
    incumbent: float
    candidate: float

    @property
    def difference(self) -> float:
        """d = candidate − incumbent, in [−1, 1]."""
        return self.candidate - self.incumbent


@dataclass(frozen=True)
class Pairs:
    """The pairs of one candidate, in the order of the questions."""

    pairs: tuple[Pair, ...]
    dropped: int = 0
    """Questions lost to the apparatus on either side, and so for both."""
    graded: bool = False
    """Whether rewards come from a judge (1 to 5) rather than from options (0 or 1)."""
    tokens: float = 0.0
    """Tokens a question of the candidate."""
    frames: float = 0.0
    """Frames a question of the candidate."""
    frames_ratio: float | None = None
    """Frames of the candidate by frames of the initial harness, on the same questions."""
    tokens_ratio: float | None = None
    """Tokens likewise."""

    @cached_property
    def wins(self) -> int:
        """b: questions on which the candidate is better."""
        return sum(pair.difference > 0 for pair in self.pairs)

    @cached_property
    def losses(self) -> int:
        """c: questions on which the incumbent is better."""
        return sum(pair.difference < 0 for pair in self.pairs)

    @cached_property
    def net(self) -> float:
        """The summed difference."""
        return sum(pair.difference for pair in self.pairs)

    @property
    def strength(self) -> float:
        """How clear the gain is: Σd / √Σd², with options (b − c) / √(b + c); 0 without a difference."""
        squares = sum(pair.difference**2 for pair in self.pairs)
        return self.net / math.sqrt(squares) if squares else 0.0

    @property
    def delta(self) -> float:
        """The mean difference; 0 without pairs."""
        return self.net / len(self.pairs) if self.pairs else 0.0

    @property
    def incumbent(self) -> float | None:
        """Mean reward of the incumbent, as a fraction."""
        return sum(pair.incumbent for pair in self.pairs) / len(self.pairs) if self.pairs else None

    @property
    def candidate(self) -> float | None:
        """Mean reward of the candidate, as a fraction."""
        return sum(pair.candidate for pair in self.pairs) / len(self.pairs) if self.pairs else None

    @property
    def dropped_share(self) -> float:
        """Dropped questions as a share of all."""
        asked = len(self.pairs) + self.dropped
        return self.dropped / asked if asked else 0.0

    def by_video(self) -> list[float]:
        """D_v: the summed difference of each video."""
        sums: dict[str, float] = {}
        for pair in self.pairs:
            sums[pair.video] = sums.get(pair.video, 0.0) + pair.difference
        return list(sums.values())


def paired(
    questions: Sequence[Question],
    incumbent: Sequence[Outcome],
    candidate: Sequence[Outcome],
    initial: Sequence[Outcome] | None = None,
) -> Pairs:
    """Pair outcomes that are in the order of `questions`; `initial` (default: the incumbent's) is what
    observation is measured against."""
    pairs = []
    used = []
    for question, old, new, first in zip(questions, incumbent, candidate, initial or incumbent, strict=True):
        if old.reward is None or new.reward is None:
            continue
        pairs.append(
            Pair(
                question=question.id,
                video=question.video,
                incumbent=as_fraction(old.reward, question),
                candidate=as_fraction(new.reward, question),
            )
        )
        used.append((new.answered.spend, first.answered.spend))
    frames, tokens = (sum(new.frames for new, _ in used), sum(new.tokens for new, _ in used))
    return Pairs(
        pairs=tuple(pairs),
        dropped=len(questions) - len(pairs),
        graded=any(not question.options for question in questions),
        frames=frames / max(1, len(used)),
        tokens=tokens / max(1, len(used)),
        frames_ratio=_ratio(frames, sum(first.frames for _, first in used)),
        tokens_ratio=_ratio(tokens, sum(first.tokens for _, first in used)),
    )


def said_to(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> tuple[object, ...]:
    """What was answered, to compare: the choice where there are options, else the words and their reward."""
    return tuple(
        outcome.answered.choice if question.options else (outcome.answered.text, outcome.reward)
        for question, outcome in zip(questions, outcomes, strict=True)
    )


def _ratio(mine: int, theirs: int) -> float | None:
    return mine / max(1, theirs) if mine or theirs else None
