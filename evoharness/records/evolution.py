"""What a run of evolution decides and why: proposals, diagnosis, screening, verdicts, summaries."""

from enum import StrEnum
from typing import Any

from evoharness.records.base import Record
from evoharness.records.spend import Spend

SUMMARY_SCHEMA = 1


class ChangeKind(StrEnum):
    """Which component of H = (P, C, λ, T) a proposal changes."""

    PARAMETERS = "parameters"
    """λ, with the routes and the tool policy."""
    STRATEGY = "strategy"
    SKILL = "skill"
    TOOL = "tool"
    COMBINATION = "combination"
    """Several changes that passed the gate of a round, put together by the round itself."""


class Proposal(Record):
    """A change to the incumbent, with its reason."""

    id: str = ""
    """Given by the round, such as `r1-07`; proposers leave it empty."""
    kind: ChangeKind
    """Which component changes."""
    title: str
    """The change in a line: `detail_padding_s 5 → 12`."""
    reason: str
    """Why it should help, from the diagnosis."""
    proposer: str
    """Who proposed it."""
    details: dict[str, Any] = {}
    """Whatever else the proposer wants to keep (JSON)."""


class CandidateRecord(Record):
    """A proposal on its way through a round."""

    proposal: Proposal
    harness: str
    """Fingerprint of the changed harness."""
    rejected: str = ""
    """Why verification turned it down; empty when it passed."""


class FailureCause(StrEnum):
    """What evidence conditions say about a wrong answer."""

    LOCALIZATION = "localization"
    """Right with the evidence of the source interval: the harness looked elsewhere."""
    QUESTION_EVIDENCE = "question_evidence"
    """Right only with wider coverage: the question's source was too narrow."""
    REASONING = "reasoning"
    """Wrong in both conditions."""
    UNDETERMINED = "undetermined"
    """The question has no source interval, or the apparatus failed."""


class DiagnosedFailure(Record):
    """One wrong answer, explained."""

    question: str
    """Id of the question."""
    kind: str
    """Its kind."""
    cause: FailureCause
    status: str
    """Status of the failed answer."""


class Diagnosis(Record):
    """Every failure of the incumbent on the evolution set."""

    answered: int
    """Questions that were answered, rightly or wrongly."""
    failures: tuple[DiagnosedFailure, ...]

    def count(self, cause: FailureCause) -> int:
        """How many failures have that cause."""
        return sum(failure.cause is cause for failure in self.failures)

    @property
    def counts(self) -> dict[str, int]:
        """Number of failures by cause."""
        return {cause.value: self.count(cause) for cause in FailureCause}


class Standing(Record):
    """Where a candidate stands after a stage of the race."""

    candidate: str
    """Id of the candidate."""
    wins: int
    """Questions that only the candidate answers rightly."""
    losses: int
    """Questions that only the incumbent answers rightly."""
    net: float
    """Summed difference of reward, as a fraction; wins minus losses for options."""
    frames_ratio: float | None
    """Frames a question, divided by those of the initial harness; None when that used none."""
    tokens_ratio: float | None
    """Tokens a question, divided likewise."""
    dropped: str = ""
    """Why it leaves the race here; empty when it stays."""


class ScreeningStage(Record):
    """One stage of the race."""

    questions: int
    """How many questions had been answered by then."""
    standings: tuple[Standing, ...]
    """Best first."""


class Screening(Record):
    """The whole race."""

    stages: tuple[ScreeningStage, ...]
    finalists: tuple[str, ...]
    """Ids, frozen before any validation question was answered."""


class Decision(StrEnum):
    """What the gate says about one finalist."""

    RETAINED = "retained"
    REJECTED = "rejected"
    FUTILE = "futile"
    """Rejected before all questions were answered, because the rest could not have changed it."""
    INDECISIVE = "indecisive"
    """The measurement cannot tell: nothing differed, or too much was lost to the apparatus."""


class Verdict(Record):
    """The gate's decision about one finalist, with its numbers."""

    candidate: str
    """Id of the candidate."""
    decision: Decision
    reason: str
    """In words, with the numbers that decided."""
    p_value: float | None = None
    """One-sided; None for gates without a test."""
    evidence: float | None = None
    """Largest anytime-valid evidence E; None for other gates."""
    threshold: float
    """What p or E had to reach, or the margin."""
    wins: int
    """b: questions that only the candidate answers rightly (or better)."""
    losses: int
    """c: questions that only the incumbent answers rightly (or better)."""
    pairs: int
    """Questions that both answered."""
    dropped: int
    """Pairs lost to the apparatus, for both."""
    delta: float
    """Mean difference of reward as a fraction; positive: the candidate is better."""
    incumbent: float | None
    """Mean reward of the incumbent on these pairs, as a fraction; None without pairs."""
    candidate_reward: float | None
    """Mean reward of the candidate on these pairs, as a fraction."""
    frames_ratio: float | None = None
    """Frames a question, divided by those of the initial harness on the same questions."""
    tokens_ratio: float | None = None
    """Tokens a question, divided likewise."""


class RoundStatus(StrEnum):
    """How a round ended."""

    RETAINED = "retained"
    """A candidate replaced the incumbent."""
    KEPT = "kept"
    """Finalists were tested, and none was shown to be better."""
    NO_FINALISTS = "no_finalists"
    """No candidate did better on the evolution questions."""
    NO_CANDIDATES = "no_candidates"
    """Nothing was proposed, or nothing passed verification."""
    NO_QUESTIONS = "no_questions"
    """The videos gave no usable questions."""
    UNDERPOWERED = "underpowered"
    """Too few questions for any result to pass the gate."""
    INDECISIVE = "indecisive"
    """Finalists were tested, but the measurement could not tell."""


class RunStatus(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    NO_QUESTIONS = "no_questions"
    UNDERPOWERED = "underpowered"
    INDECISIVE = "indecisive"


class QuestionCounts(Record):
    """How many questions a round had."""

    generated: int = 0
    retained: int = 0
    """After the filters."""
    evolution: int = 0
    validation: int = 0


class QualityNumbers(Record):
    """J_Q of a round and its terms; None where there was nothing to compute it from."""

    J: float | None = None
    blind: float | None = None
    """b: accuracy without evidence."""
    oracle: float | None = None
    """A_o: accuracy with the source evidence."""
    coverage: float | None = None
    """C: distance from the target proportions."""
    difficulty: float | None = None
    """D: share of questions of intermediate difficulty."""
    removed: float | None = None
    """R: excess share that the filters removed."""


class ValidationNumbers(Record):
    """Accuracy on the validation set of a round, in [0, 1]; None where nothing was measured."""

    incumbent: float | None = None
    candidate: float | None = None
    """Of the retained candidate, else of the finalist with the smallest p-value, on the pairs it answered."""
    p_value: float | None = None
    questions: int = 0
    """Questions that the incumbent answered."""
    pairs: int = 0
    """Questions that the candidate answered too."""
    wins: int = 0
    losses: int = 0
    initial: float | None = None
    """Of the harness that the run began with, on the same questions."""
    frames: dict[str, float] = {}
    """Frames a question of `incumbent` and `candidate`."""
    tokens: dict[str, float] = {}
    """Tokens a question of `incumbent` and `candidate`."""


class RoundSummary(Record):
    """One round in numbers."""

    round: int
    """1, 2, …"""
    status: RoundStatus
    message: str = ""
    """The status in words, with the way out where there is one."""
    videos: int
    questions: QuestionCounts = QuestionCounts()
    quality: QualityNumbers = QualityNumbers()
    failures: dict[str, int] = {}
    """Wrong answers of the incumbent on the evolution set, by cause."""
    candidates: int = 0
    """Proposed changes that passed verification."""
    finalists: int = 0
    """Candidates that went to the gate."""
    retained: str | None = None
    """Id of the candidate that was kept: of the combination, `r1-combined`, when several were."""
    change: str = ""
    """What it changed, in a line."""
    harness: str
    """Fingerprint of the harness in force after the round."""
    evolution_accuracy: float | None = None
    """Of the incumbent on the evolution set."""
    validation: ValidationNumbers = ValidationNumbers()


class BeforeAfter(Record):
    """One quantity of the initial and of the final harness."""

    initial: float
    final: float


class SealedNumbers(Record):
    """The sealed test set, answered once by the initial and once by the final harness."""

    questions: int
    """Pairs that both answered."""
    initial: float
    """Accuracy in [0, 1]."""
    final: float
    """Accuracy in [0, 1]."""
    p_value: float
    """Exact paired test, one-sided: the final harness is better."""
    wins: int
    losses: int
    frames: BeforeAfter
    """Frames a question."""
    tokens: BeforeAfter
    """Tokens a question."""
    dropped: int = 0
    """Pairs lost to the apparatus."""


class NoiseFloor(Record):
    """The incumbent compared with itself, and what that asks of a question set."""

    pairs: int
    discordance: float
    """Share of questions on which two trials of the same harness differ."""
    effect: float
    """The gain that `needed` is about."""
    needed: int
    """Validation questions that show such a gain with a power of 0.8."""


class Summary(Record):
    """A run in numbers: `summary.json`."""

    schema_version: int = SUMMARY_SCHEMA
    status: RunStatus
    message: str = ""
    """The status in words, with the way out where there is one."""
    seed: int
    gate: str
    """Name of the gate."""
    initial: str
    """Fingerprint of the harness that the run began with."""
    final: str
    """Fingerprint of the harness that it ended with."""
    rounds: tuple[RoundSummary, ...]
    test: SealedNumbers | None = None
    noise: NoiseFloor | None = None
    calls: int
    """Calls to backbones, those answered from the response cache included."""
    cost_usd: float | None
    """Money that was paid; None: the price of at least one call is unknown."""
    seconds: float
    """Working time, pauses before it was resumed not counted."""
    spend: Spend
    """What everything takes, answers from the response cache included."""
    paid: dict[str, Spend] = {}
    """Role → what was paid for calls that this run made."""
    cached: Spend = Spend()
    """What answers from the response cache took when they were paid for."""
    lost: Spend = Spend()
    """The part of what was paid that is not known: calls whose replies were lost, and that were never
    answered since, at the most that they may have taken."""


class Draw(Record):
    """Which videos a round uses, by key; a video keeps its role for the whole run."""

    evolution: tuple[str, ...]
    """Proposers may learn from questions about these."""
    validation: tuple[str, ...]
    """Only the gate may use questions about these."""

    @property
    def videos(self) -> tuple[str, ...]:
        """All of them."""
        return self.evolution + self.validation


class Candidates(Record):
    """What became of a round's proposals in verification."""

    candidates: tuple[CandidateRecord, ...]

    @property
    def sound(self) -> tuple[CandidateRecord, ...]:
        """Those that passed."""
        return tuple(candidate for candidate in self.candidates if not candidate.rejected)


class GateReport(Record):
    """The validation of a round."""

    gate: str
    level: float
    """α_r/K: what each finalist may spend of the run's error bound."""
    verdicts: tuple[Verdict, ...]
    retained: tuple[str, ...]
    """Id of what was kept, none or one; before what passed `margin` was put together, several."""
    numbers: ValidationNumbers
    discordance: float | None = None
    """Mean share of discordant pairs among the finalists; None without finalists."""
    combination: CandidateRecord | None = None
    """What several finalists that passed make together, a candidate too; only with `margin`."""
    outranked: tuple[str, ...] = ()
    """Ids of those that passed `margin`, each alone, and are not kept with the best of them."""
