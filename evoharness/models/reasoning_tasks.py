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


class OpenAnswer(Record):
    """An answer in words."""

    text: str
    guessed: bool = False
    """There was nothing to go on."""


class AnswerOpen(Task[OpenAnswer]):
    """Answer a question without options from the evidence given, and from nothing else."""

    default_role: ClassVar[Role] = Role.SOLVER
    temperature: ClassVar[float] = 0.1
    max_output_tokens: ClassVar[int] = 2048
    output: ClassVar[type[Record]] = OpenAnswer

    text: str
    """The question."""
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
    max_output_tokens: ClassVar[int] = 4096
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


class PhrasedQuestion(Record):
    """A question in better words."""

    text: str
    options: tuple[str, ...]
    """In the order in which they were given."""


class PhraseQuestion(Task[PhrasedQuestion]):
    """Say a question that a form made in natural words, without changing what it asks.

    Which option is right is not told, so it cannot shine through.
    """

    default_role: ClassVar[Role] = Role.DESCRIBER
    temperature: ClassVar[float] = 0.4
    max_output_tokens: ClassVar[int] = 1024
    output: ClassVar[type[Record]] = PhrasedQuestion

    text: str
    options: tuple[str, ...] = ()
    sample: int = 0
    """Which repetition."""


class Judgement(Record):
    """The four dimensions of MedClaw's judge, each from 1 to 5."""

    correctness: int
    """CI: correctness of information."""
    detail: int
    """DO: detail orientation."""
    context: int
    """CU: contextual understanding."""
    temporal: int
    """TU: temporal understanding."""
    text: str = ""
    """What decided, in a sentence or two."""

    @property
    def mean(self) -> float:
        """R(a): the mean of the four."""
        return (self.correctness + self.detail + self.context + self.temporal) / 4


class JudgeAnswer(Task[Judgement]):
    """Rate an open answer against the reference (section V-A of MedClaw)."""

    default_role: ClassVar[Role] = Role.JUDGE
    max_output_tokens: ClassVar[int] = 1024
    output: ClassVar[type[Record]] = Judgement

    question: str
    reference: str
    answer: str


class Faithfulness(Record):
    """Whether a question and its reference say no more than the annotation."""

    faithful: bool
    unsupported: tuple[str, ...] = ()
    """Statements that the annotation does not bear out."""
    text: str = ""
    """Why, in a sentence."""


class CheckFaithfulness(Task[Faithfulness]):
    """Check a drafted question and its reference against the annotation they were drafted from (filter E)."""

    default_role: ClassVar[Role] = Role.JUDGE
    max_output_tokens: ClassVar[int] = 1024
    output: ClassVar[type[Record]] = Faithfulness

    question: str
    reference: str
    annotation: tuple[Evidence, ...]
    """What is known about the source interval."""
