"""Tasks that think: text (and at most a few frames) in, a decision or a text out."""

from typing import Any, ClassVar

from evoharness.models.task import Role, Task
from evoharness.records.base import Record
from evoharness.records.evidence import Evidence
from evoharness.records.frame import Frame


class ChosenAnswer(Record):
    """An answer to a question with options."""

    choice: int | None
    """Index of the option; None when the model would not choose."""
    text: str = ""
    """Why, in a sentence."""
    scores: tuple[float, ...] = ()
    """Confidence in each option, summing to 1; empty when the model gives none."""
    guessed: bool = False
    """There was nothing to go on."""


class AnswerQuestion(Task[ChosenAnswer]):
    """Choose an option from the evidence given, and from nothing else."""

    default_role: ClassVar[Role] = Role.SOLVER
    temperature: ClassVar[float] = 0.1
    max_output_tokens: ClassVar[int] = 2048
    output: ClassVar[type[Record]] = ChosenAnswer

    text: str
    """The question."""
    options: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    frames: tuple[Frame, ...] = ()
    guidance: str = ""
    """Text of the skills that fired."""
    sample: int = 0
    """Which repetition; another sample may answer otherwise."""
    answered_by: Role = Role.SOLVER
    """The filter without evidence asks the `blind_answerer`."""

    @property
    def role(self) -> Role:
        """Who does this task."""
        return self.answered_by


class ClaimVerdict(Record):
    """Whether the evidence bears a claim out."""

    supported: bool
    confidence: float
    """From 0 (surely not) to 1 (surely)."""
    text: str = ""


class VerifyClaim(Task[ClaimVerdict]):
    """Check one statement against evidence."""

    default_role: ClassVar[Role] = Role.SOLVER
    output: ClassVar[type[Record]] = ClaimVerdict

    claim: str
    evidence: tuple[Evidence, ...] = ()
    frames: tuple[Frame, ...] = ()


class Reasoning(Record):
    """A free text."""

    text: str


class Reason(Task[Reasoning]):
    """Follow an instruction over evidence."""

    default_role: ClassVar[Role] = Role.SOLVER
    temperature: ClassVar[float] = 0.1
    output: ClassVar[type[Record]] = Reasoning

    prompt: str
    evidence: tuple[Evidence, ...] = ()


class ChosenAction(Record):
    """The next tool call, or the decision to stop."""

    stop: bool = False
    tool: str = ""
    arguments: dict[str, Any] = {}


class ToolChoice(Record):
    """A tool that may be chosen."""

    name: str
    purpose: str
    arguments: dict[str, str]
    """Argument name to type, as text."""


class ChooseAction(Task[ChosenAction]):
    """Decide what to do next (equation 1 of MedClaw; the memory-tool decision of Table 6)."""

    default_role: ClassVar[Role] = Role.ORCHESTRATOR
    temperature: ClassVar[float] = 0.0
    max_output_tokens: ClassVar[int] = 3000
    output: ClassVar[type[Record]] = ChosenAction

    question: str
    options: tuple[str, ...]
    duration: float
    """Of the video, in seconds."""
    evidence: tuple[Evidence, ...] = ()
    tools: tuple[ToolChoice, ...]
    history: tuple[str, ...] = ()
    """The calls made so far, one line each, the oldest first."""
    guidance: str = ""
    """Text of the skills that fired."""


class SegmentGroup(Record):
    """Neighbouring segments that belong together."""

    label: str
    description: str
    first: int
    """Index of the first segment."""
    last: int
    """Index of the last segment, included."""


class SegmentGroups(Record):
    """The segments of a video as super events."""

    groups: tuple[SegmentGroup, ...]


class SummarizeSegments(Task[SegmentGroups]):
    """Group segment summaries into super events (appendix A.1)."""

    default_role: ClassVar[Role] = Role.DESCRIBER
    output: ClassVar[type[Record]] = SegmentGroups

    summaries: tuple[str, ...]


class VideoSummary(Record):
    """What the whole video is about."""

    text: str


class SummarizeVideo(Task[VideoSummary]):
    """Describe the video from its super events."""

    default_role: ClassVar[Role] = Role.DESCRIBER
    output: ClassVar[type[Record]] = VideoSummary

    super_events: tuple[str, ...]
