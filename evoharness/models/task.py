"""A task: one typed job for a backbone, whatever model does it."""

from enum import StrEnum
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from evoharness.records.base import Record


class Role(StrEnum):
    """What a backbone does; each role may be filled by another model."""

    DESCRIBER = "describer"
    VIDEO_EXPERT = "video_expert"
    FRAME_VERIFIER = "frame_verifier"
    SOLVER = "solver"
    ORCHESTRATOR = "orchestrator"
    PROPOSER = "proposer"
    JUDGE = "judge"
    BLIND_ANSWERER = "blind_answerer"
    TRANSCRIBER = "transcriber"


Output = TypeVar("Output", bound=Record)


class Task(BaseModel, Generic[Output]):
    """Typed inputs for one call of a model; subclasses name the role, the output and the sampling."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    default_role: ClassVar[Role]
    """Who does it, unless the task says otherwise."""
    temperature: ClassVar[float] = 0.0
    """Sampling temperature (Table 6 where the paper gives one)."""
    max_output_tokens: ClassVar[int] = 2048
    """Limit of one call (Table 6 where the paper gives one)."""
    output: ClassVar[type[Record]]
    """The record that an answer is parsed into."""

    @property
    def role(self) -> Role:
        """Who does this task."""
        return self.default_role
