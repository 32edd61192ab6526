"""The policy φ: how the Questioner makes questions, as data that can be revised and compared."""

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from pydantic import Field, ValidationError, model_validator

from evoharness.errors import UserError
from evoharness.records.base import Record
from evoharness.records.mistakes import in_words
from evoharness.records.question import QuestionKind


class DistractorMode(StrEnum):
    """Where in the video the wrong options are taken from; harder from first to last."""

    FAR = "far"
    """From anywhere, the distant half first."""
    SAME_SEGMENT = "same_segment"
    """From the source segments first, then the nearest."""
    NEIGHBOURING = "neighbouring"
    """The nearest in time first."""

    @property
    def harder(self) -> "DistractorMode":
        """The next harder mode, or itself when there is none."""
        ladder = list(DistractorMode)
        return ladder[min(ladder.index(self) + 1, len(ladder) - 1)]


class Policy(Record):
    """φ of one round. What is not said of a kind or a form takes the default."""

    proportions: dict[QuestionKind, float]
    """Share of each kind among the questions to make; sums to 1."""
    form_weights: dict[str, float] = {}
    """Weight of a form among the forms of its kind; 1 when not named."""
    options: int = Field(default=4, ge=2, le=8)
    """K, the number of answer options (Table 6)."""
    distractors: DistractorMode = DistractorMode.SAME_SEGMENT
    """Where wrong options come from."""
    distractors_by_kind: dict[QuestionKind, DistractorMode] = {}
    """Exceptions from `distractors`."""
    relate: float = Field(default=0.15, ge=0, le=1)
    """Share of anchors named by their relation to another observation instead of by description."""
    relate_by_kind: dict[QuestionKind, float] = {}
    """Exceptions from `relate`."""
    brief: float = Field(default=0.5, ge=0, le=1)
    """How strongly short intervals and small labels are preferred as sources: 0 not at all."""

    @model_validator(mode="after")
    def _distribution(self) -> Self:
        shares = self.proportions.values()
        if not shares or min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
            raise ValueError(f"proportions of kinds must be ≥ 0 and sum to 1, not {self.proportions}")
        if any(weight < 0 for weight in self.form_weights.values()):
            raise ValueError(f"weights of forms must be ≥ 0, not {self.form_weights}")
        if any(not 0 <= share <= 1 for share in self.relate_by_kind.values()):
            raise ValueError(f"shares of relational anchors must lie in [0, 1], not {self.relate_by_kind}")
        return self

    @property
    def fingerprint(self) -> str:
        """Identity of the policy: 16 hexadecimal digits of the sha256 of its canonical JSON."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def mode(self, kind: QuestionKind) -> DistractorMode:
        """Where the wrong options of that kind come from."""
        return self.distractors_by_kind.get(kind, self.distractors)

    def relating(self, kind: QuestionKind) -> float:
        """The share of relational anchors in questions of that kind."""
        return self.relate_by_kind.get(kind, self.relate)

    def weight(self, form: str) -> float:
        """The weight of a form among those of its kind."""
        return self.form_weights.get(form, 1.0)


def default_targets() -> dict[str, float]:
    """Target shares of the kinds: perception and time lead, what records rarely support is small.

    They are a choice of this project, not the composition of any benchmark.
    """
    return {
        "counting": 0.12,
        "entities_attributes": 0.18,
        "actions_events": 0.14,
        "spatial": 0.12,
        "temporal_order": 0.18,
        "retrieval_localization": 0.12,
        "causal": 0.04,
        "topic": 0.03,
        "anomaly": 0.04,
        "summarization": 0.03,
    }


@dataclass
class QualityWeights:
    """Weights of J_Q (Table 6: 2, 1, 1, 1, 0.5)."""

    blind: float = 2.0
    oracle: float = 1.0
    coverage: float = 1.0
    difficulty: float = 1.0
    removal: float = 0.5


@dataclass
class QuestionerSettings:
    """Everything about the Questioner that a config may set; the initial policy is made from it."""

    targets: dict[str, float] = field(default_factory=default_targets)
    """Target share of each kind; scaled to sum to 1. Also what coverage is measured against."""
    options: int = 4
    """K, the number of answer options."""
    distractors: str = DistractorMode.SAME_SEGMENT.value
    """far | same_segment | neighbouring."""
    relate: float = 0.15
    """Share of anchors named by relation."""
    brief: float = 0.5
    """Preference for short intervals and small labels, 0 to 1."""
    per_video: int = 60
    """Questions to generate for each video, before the filters."""
    duplicate_similarity: float = 0.97
    """Cosine of question and answer from which two questions of one video count as the same."""
    oracle_fps: float = 2.0
    """Frames a second of the fresh look."""
    oracle_padding_s: float = 1.5
    """Seconds added on each side of the source interval for the fresh look."""
    oracle_frame_cap: int = 192
    """Most frames of one fresh look."""
    questions_per_job: int = 8
    """Questions of one video that a worker checks in one job."""
    accuracy_low: float = 0.3
    """Lower bound of the intermediate accuracy interval, inclusive (Table 6)."""
    accuracy_high: float = 0.7
    """Upper bound of the intermediate accuracy interval, inclusive (Table 6)."""
    weights: QualityWeights = field(default_factory=QualityWeights)
    """Weights of J_Q."""
    evolution_share: float = 1 / 3
    """Share of the videos whose questions go to the evolution set."""


def target_proportions(settings: QuestionerSettings) -> dict[QuestionKind, float]:
    """The configured target shares as a distribution over kinds; UserError when they are none."""
    known = {kind.value for kind in QuestionKind}
    unknown = sorted(set(settings.targets) - known)
    if unknown:
        raise UserError(
            f"questioner.targets: unknown kind {unknown[0]!r}; kinds are {', '.join(sorted(known))}"
        )
    total = sum(settings.targets.values())
    if total <= 0 or min(settings.targets.values()) < 0:
        raise UserError(f"questioner.targets: shares must be ≥ 0 and not all 0, not {dict(settings.targets)}")
    return {kind: settings.targets.get(kind.value, 0.0) / total for kind in QuestionKind}


def initial_policy(settings: QuestionerSettings) -> Policy:
    """The policy of the first round; UserError when the settings, all of them, make no sense."""
    sensible = {
        "per_video": settings.per_video >= 1,
        "oracle_fps": settings.oracle_fps > 0,
        "oracle_padding_s": settings.oracle_padding_s >= 0,
        "oracle_frame_cap": settings.oracle_frame_cap >= 1,
        "questions_per_job": settings.questions_per_job >= 1,
        "accuracy_low": 0 <= settings.accuracy_low <= settings.accuracy_high <= 1,
        "evolution_share": 0 < settings.evolution_share < 1,
    }
    for name, good in sensible.items():
        if not good:
            raise UserError(f"questioner.{name}: {getattr(settings, name)} makes no sense")
    try:
        mode = DistractorMode(settings.distractors)
    except ValueError:
        modes = " | ".join(DistractorMode)
        raise UserError(f"questioner.distractors: {settings.distractors!r} is none of {modes}") from None
    try:
        return Policy(
            proportions=target_proportions(settings),
            options=settings.options,
            distractors=mode,
            relate=settings.relate,
            brief=settings.brief,
        )
    except ValidationError as error:
        (first, *_) = error.errors()
        where = ".".join(("questioner", *map(str, first["loc"])))
        raise UserError(f"{where}: {in_words(first)}, not {first['input']!r}") from error
