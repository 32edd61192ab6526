"""What a proposer is told, and what it gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Protocol

from evoharness.records.evolution import Diagnosis, Proposal
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.evaluation import Executor
    from evoharness.harness import Harness


class Answer(Protocol):
    """Lets harnesses answer questions; what was answered before is not asked again."""

    def __call__(
        self, harnesses: "Sequence[Harness]", questions: Sequence[Question], trial: int = 0, /
    ) -> dict[str, list[Outcome]]:
        """Fingerprint → outcomes in the order of the questions."""
        ...


@dataclass(frozen=True)
class Candidate:
    """A changed harness, and the change with its reason."""

    proposal: Proposal
    harness: "Harness"

    @property
    def id(self) -> str:
        """Id of the proposal."""
        return self.proposal.id


class Ground(StrEnum):
    """Why a change was not kept, and by that whether it may be proposed again."""

    UNSOUND = "unsound"
    """It failed verification."""
    REPEATED = "repeated"
    """It was proposed twice in its round; what became of the first one counts."""
    LOOKS_TOO_MUCH = "looks too much"
    NO_GAIN = "no gain"
    """It answered no more of the evolution questions than the incumbent."""
    OUTRANKED = "outranked"
    """It gained, but others gained more, or the same for less."""
    NOT_SHOWN = "not shown to be better"
    """The gate did not let it pass."""
    INDECISIVE = "the measurement could not tell"

    @property
    def bars(self) -> bool:
        """Whether other questions could hardly change it: the same harness is not to be tried again."""
        return self in (Ground.UNSOUND, Ground.LOOKS_TOO_MUCH, Ground.NO_GAIN)


@dataclass(frozen=True)
class Rejection:
    """A change of an earlier round, or of this one, that was not kept."""

    proposal: Proposal
    harness: str
    """Fingerprint of the changed harness."""
    stage: str
    """Where it ended: `verification`, `screening` or `gate`."""
    reason: str
    """Why, in words; of the gate's decision no numbers are told."""
    ground: Ground


@dataclass(frozen=True)
class ProposalContext:
    """Everything a proposer may learn from. Of validation and test questions it learns nothing."""

    round: int
    incumbent: "Harness"
    """What a proposal changes."""
    initial: "Harness"
    """What the run began with."""
    questions: Sequence[Question]
    """The evolution questions, with their references."""
    outcomes: Sequence[Outcome]
    """The incumbent's outcomes, in the same order, with traces."""
    diagnosis: Diagnosis
    durations: Mapping[str, float]
    """Seconds of each video of the evolution questions, by key."""
    videos: Mapping[str, Path]
    """Files of those videos, by key."""
    rejections: Sequence[Rejection]
    """What was tried before and not kept, the oldest first."""
    answer: Answer
    """Lets harnesses answer evolution questions, for proposers that try before they propose."""
    executor: "Executor"
    """For proposers that ask a model."""
    rng: Random
    """The only source of chance."""
    count: int
    """How many candidates are wanted; fewer are welcome, more are cut."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Most `frames_ratio` and `tokens_ratio` to the initial harness that the gate lets pass; may be empty."""


class Proposer(Protocol):
    """Makes candidates out of what a round has learned."""

    def propose(self, context: ProposalContext) -> list[Candidate]:
        """At most `context.count` changes to the incumbent, the most promising first; their ids are empty."""
        ...
