"""Questions, and the part of a question that a Solver may see."""

import hashlib
from enum import StrEnum
from typing import Literal, Self

from pydantic import model_validator

from evoharness.records.base import Record
from evoharness.records.interval import Interval


class QuestionKind(StrEnum):
    """The ten kinds of the paper's Table 7."""

    COUNTING = "counting"
    ENTITIES_ATTRIBUTES = "entities_attributes"
    ACTIONS_EVENTS = "actions_events"
    SPATIAL = "spatial"
    TEMPORAL_ORDER = "temporal_order"
    RETRIEVAL_LOCALIZATION = "retrieval_localization"
    CAUSAL = "causal"
    TOPIC = "topic"
    ANOMALY = "anomaly"
    SUMMARIZATION = "summarization"

    @property
    def group(self) -> str:
        """The reporting group of Table 7: perception, temporal or reasoning."""
        if self in _PERCEPTION:
            return "perception"
        return "temporal" if self in _TEMPORAL else "reasoning"


_PERCEPTION = frozenset(
    {
        QuestionKind.COUNTING,
        QuestionKind.ENTITIES_ATTRIBUTES,
        QuestionKind.ACTIONS_EVENTS,
        QuestionKind.SPATIAL,
    }
)
_TEMPORAL = frozenset({QuestionKind.TEMPORAL_ORDER, QuestionKind.RETRIEVAL_LOCALIZATION})


class FineType(StrEnum):
    """MedClaw's ten fine-grained types; the first four are temporal (VTR), the rest perceptual (VPR)."""

    TEMPORAL_AFTER = "temporal_after"
    TEMPORAL_BEFORE = "temporal_before"
    LONG_RANGE_TEMPORAL = "long_range_temporal"
    SEGMENT_CONTENT = "segment_content"
    INSTRUMENT = "instrument"
    ACTION = "action"
    COUNTING = "counting"
    FINDING = "finding"
    COMPARISON = "comparison"
    CASE_SPECIFIC = "case_specific"

    @property
    def reasoning_type(self) -> Literal["VTR", "VPR"]:
        """Visual temporal or visual perception reasoning."""
        return "VTR" if self in _VTR else "VPR"


_VTR = frozenset(
    {
        FineType.TEMPORAL_AFTER,
        FineType.TEMPORAL_BEFORE,
        FineType.LONG_RANGE_TEMPORAL,
        FineType.SEGMENT_CONTENT,
    }
)


class PublicQuestion(Record):
    """What a Solver may know of a question."""

    id: str
    """An opaque hash: says nothing about the source, the kind or the answer."""
    video: str
    """Which video it is about (the key of the video set, not a path)."""
    text: str
    """The question itself."""
    options: tuple[str, ...]
    """The answers to choose from, in order; empty for an open question."""


class Question(Record):
    """A question with everything that is known about it."""

    id: str
    """Unique within its question set."""
    video: str
    """Which video it is about (the key of the video set, not a path)."""
    kind: QuestionKind
    """One of the ten kinds."""
    fine_type: FineType | None = None
    """MedClaw's fine type, where it is known."""
    form: str = ""
    """Name of the form that made the question; empty for questions from elsewhere."""
    text: str
    """The question itself."""
    options: tuple[str, ...] = ()
    """K answers to choose from; empty for an open question."""
    answer: int | None = None
    """Index of the right option; None for an open question."""
    reference_text: str = ""
    """The reference answer in words."""
    source_segments: tuple[str, ...] = ()
    """Segments of the memory from which the question was made."""
    source_interval: Interval | None = None
    """Where in the video the reference can be seen."""
    support: tuple[str, ...] = ()
    """Ids of the records from which the reference was computed."""
    policy_version: str = ""
    """Fingerprint of the policy that made it."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.options:
            if len({option.strip().casefold() for option in self.options}) != len(self.options):
                raise ValueError(f"question {self.id}: two options are the same: {self.options}")
            if self.answer is None or not 0 <= self.answer < len(self.options):
                raise ValueError(f"question {self.id}: answer {self.answer} is none of its options")
        elif not self.reference_text:
            raise ValueError(f"question {self.id}: an open question needs a reference text")
        return self

    @property
    def reasoning_type(self) -> Literal["VTR", "VPR"] | None:
        """Visual temporal or visual perception reasoning, where the fine type is known."""
        return self.fine_type.reasoning_type if self.fine_type else None

    def public(self) -> PublicQuestion:
        """The part that crosses into the Solver."""
        content = "\x1f".join((self.id, self.video, self.text, *self.options))
        opaque = hashlib.sha256(content.encode()).hexdigest()[:16]
        return PublicQuestion(id=opaque, video=self.video, text=self.text, options=self.options)
