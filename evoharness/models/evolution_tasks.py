"""Tasks that improve the harness and the questions: failures in, lessons and typed changes out.

An output says everything that is needed to make a candidate of it; where a task finds nothing worth
changing, its output is `empty`. What proposers see are evolution questions only.
"""

from typing import ClassVar, Generic, Literal

from evoharness.models.reasoning_tasks import ToolChoice
from evoharness.models.task import Output, Role, Task
from evoharness.records.base import Record
from evoharness.records.evolution import ChangeKind, FailureCause, QualityNumbers
from evoharness.records.interval import Interval
from evoharness.records.question import QuestionKind


class MadeCall(Record):
    """One call of a trace, in words."""

    call: str
    arguments: str
    """JSON."""
    result: str
    """What it found, one piece a line: `[12-15] text`."""
    frames: int = 0


class FailureCase(Record):
    """One wrong answer with all that is known about it."""

    kind: str
    """Kind of the question."""
    text: str
    options: tuple[str, ...] = ()
    reference: str
    """The right answer, in words."""
    answer: str
    """What was answered; empty when nothing was."""
    status: str
    """How the answer ended; see `records.outcome`."""
    reason: str = ""
    """What the answer gave as its reason, or the message of its failure."""
    cause: FailureCause = FailureCause.UNDETERMINED
    """What evidence conditions say."""
    source: Interval | None = None
    """Where the reference can be seen."""
    duration: float
    """Of the video, in seconds."""
    strategy: str
    skills: tuple[str, ...] = ()
    """Skills that fired."""
    calls: tuple[MadeCall, ...] = ()
    lesson: str = ""
    """From DiagnoseFailure, where it was asked."""


class ExplainedFailure(Record):
    """What went wrong, after the answer was compared with the reference (MedClaw, III-F)."""

    gap: Literal["operational", "unreachable", "already_right"]
    """A: another way of looking would have shown it; B: no looking could; C: the answer was right."""
    missed: str
    """What evidence was missing, or how it was misused."""
    lesson: str = ""
    """What to do differently with every such question; only when the gap is operational."""
    component: ChangeKind | None = None
    """What should change for it; None when nothing should."""


class DiagnoseFailure(Task[ExplainedFailure]):
    """Show the solver's failure with the reference, and find what can be learned from it."""

    default_role: ClassVar[Role] = Role.PROPOSER
    max_output_tokens: ClassVar[int] = 1600
    output: ClassVar[type[Record]] = ExplainedFailure

    case: FailureCase


class ObservationRatio(Record):
    """How much a harness looks, as a multiple of the initial harness."""

    frames_ratio: float
    tokens_ratio: float
    limit: float
    """A candidate that exceeds it in either is turned down."""


class Proposing(Task[Output], Generic[Output]):
    """What every proposal starts from."""

    default_role: ClassVar[Role] = Role.PROPOSER

    cases: tuple[FailureCase, ...]
    """Failures of the incumbent on evolution questions."""
    accuracy: dict[str, tuple[int, int]] = {}
    """Kind of question → how many were answered rightly, and how many were asked."""
    rejections: tuple[str, ...] = ()
    """Changes that were tried and not kept, each with its reason, the oldest first."""
    observation: ObservationRatio | None = None
    """None: looking more is not limited."""
    sample: int = 0
    """Which repetition; another sample may propose something else."""


class Proposed(Record):
    """What every proposal says about itself."""

    title: str = ""
    """The change in a line."""
    reason: str = ""
    """Why it should help, from the failures."""


class SkillStep(Record):
    """A look that the host takes by itself when the skill fires, beside the event of the question."""

    look: Literal["after", "before", "inside"]
    seconds: float = 60.0
    """Above 0 and at most 300."""


class ProposedSkill(Proposed):
    """A skill to add, or the new text of one that exists."""

    name: str = ""
    description: str = ""
    trigger: str = ""
    """Words or phrases separated by `|`; empty: always fires."""
    plan: tuple[SkillStep, ...] = ()
    text: str = ""
    updates: bool = False
    """Whether a skill of that name exists and is replaced."""

    @property
    def empty(self) -> bool:
        """Whether nothing is proposed."""
        return not self.name


class ProposeSkill(Proposing[ProposedSkill]):
    """Distil a reusable rule of looking or reasoning from failures (MedClaw, III-F)."""

    temperature: ClassVar[float] = 0.4
    max_output_tokens: ClassVar[int] = 1600
    output: ClassVar[type[Record]] = ProposedSkill

    skills: dict[str, str] = {}
    """Name → SKILL.md of the library."""
    most: int = 5
    """Skills that the library may have; when it is full, one can only be updated."""


class ProposedStrategy(Proposed):
    """New source for a strategy."""

    name: str = ""
    """The strategy that it replaces."""
    source: str = ""
    """`def strategy(ctx, question)` in the restricted dialect."""

    @property
    def empty(self) -> bool:
        """Whether nothing is proposed."""
        return not self.source


class ProposeStrategy(Proposing[ProposedStrategy]):
    """Rewrite a strategy (Table 6: memory-strategy code generation)."""

    temperature: ClassVar[float] = 0.4
    max_output_tokens: ClassVar[int] = 2600
    output: ClassVar[type[Record]] = ProposedStrategy

    strategy: str
    """Name of the strategy."""
    source: str
    """Its source now."""
    memory: bool = False
    """Whether it may read the memory of the video."""
    shortest_s: float = 0.0
    """Videos that it answers about are at least so long."""
    longest_s: float | None = None
    """And at most so long; None: of any length."""
    parameters: dict[str, float | int | str] = {}
    """Values of `ctx.params`."""
    tools: tuple[ToolChoice, ...] = ()
    """Generated tools that `ctx.tool` can run."""
    draft: str = ""
    """A version that was turned down."""
    problems: tuple[str, ...] = ()
    """What was wrong with the draft."""


class ParameterOffer(Record):
    """One parameter that may be changed."""

    name: str
    kind: Literal["integer", "number", "choice"]
    unit: str
    doc: str
    value: float | int | str
    """What it is now."""
    initial: float | int | str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


class RouteRow(Record):
    """One row of the routing table, as `harness.Route` has it."""

    until_s: float | None = None
    including: bool = True
    strategy: str
    memory: bool = False


class ProposedParameters(Proposed):
    """Other values, and perhaps another routing table."""

    values: dict[str, float | int | str] = {}
    """Within their bounds, and different from what they are now."""
    routes: tuple[RouteRow, ...] = ()
    """The whole table; empty: unchanged."""

    @property
    def empty(self) -> bool:
        """Whether nothing is proposed."""
        return not self.values and not self.routes


class ProposeParameters(Proposing[ProposedParameters]):
    """Change λ (Table 6: hyperparameter proposals)."""

    temperature: ClassVar[float] = 0.3
    max_output_tokens: ClassVar[int] = 1200
    output: ClassVar[type[Record]] = ProposedParameters

    parameters: tuple[ParameterOffer, ...]
    routes: tuple[RouteRow, ...] = ()
    """The table as it is; empty: it may not be changed."""
    strategies: tuple[str, ...] = ()
    """Names that a route may lead to."""


class ProposedTool(Proposed):
    """A tool with its manifest."""

    name: str = ""
    source: str = ""
    """`def tool(memory, …)` in the restricted dialect."""
    manifest: str = ""
    """JSON that `records.tool.read_manifest` accepts."""

    @property
    def empty(self) -> bool:
        """Whether nothing is proposed."""
        return not self.name


class ProposeTool(Proposing[ProposedTool]):
    """Write a tool over the memory of a video (A.4; Table 6: memory-tool code generation)."""

    temperature: ClassVar[float] = 0.3
    max_output_tokens: ClassVar[int] = 2000
    output: ClassVar[type[Record]] = ProposedTool

    tools: dict[str, str] = {}
    """Name → manifest (JSON) of the tools that exist."""
    draft: ProposedTool | None = None
    """A version that did not pass; its name stays."""
    problems: tuple[str, ...] = ()
    """What was wrong with the draft."""


class ProposedToolPolicy(Proposed):
    """Which tools a decision may choose for which questions."""

    policy: dict[str, tuple[str, ...]] = {}
    """Trigger, or `default` → names of tools; the first trigger that fires counts."""

    @property
    def empty(self) -> bool:
        """Whether nothing is proposed."""
        return not self.policy


class ProposeToolPolicy(Proposing[ProposedToolPolicy]):
    """Change the tool policy (Table 6: tool-routing policy proposals)."""

    temperature: ClassVar[float] = 0.4
    max_output_tokens: ClassVar[int] = 1600
    output: ClassVar[type[Record]] = ProposedToolPolicy

    tools: tuple[ToolChoice, ...]
    policy: dict[str, tuple[str, ...]] = {}
    """As it is now; without `default` and triggers, every tool is allowed."""


class QuestionRates(Record):
    """How the questions of one kind, or of one form, fared in a round."""

    name: str
    """Kind, or form."""
    kind: str = ""
    """Kind of a form; empty for a kind."""
    generated: int = 0
    retained: int = 0
    without_evidence: float | None = None
    """Share answered rightly with nothing to go on."""
    contradicted: float | None = None
    """Share that a fresh look at the source contradicts."""
    asked: int = 0
    """Retained ones that the solver answered."""
    accuracy: float | None = None
    """Of the solver."""
    too_narrow: int = 0
    """Failures that were put down to too narrow a source."""


class RevisedPolicy(Record):
    """φ of the next round; K and the targets stay."""

    proportions: dict[QuestionKind, float]
    """Share of each kind; sums to 1."""
    form_weights: dict[str, float]
    """Weight of every form that has another one than 1."""
    distractors_by_kind: dict[QuestionKind, str]
    """Exceptions from the default mode."""
    relate_by_kind: dict[QuestionKind, float]
    """Exceptions from the default share."""
    brief: float
    reasons: tuple[str, ...]
    """One line for each change; empty when nothing was changed."""


class RevisePolicy(Task[RevisedPolicy]):
    """Revise the question generation policy φ (section 3.2, generation policy refinement)."""

    default_role: ClassVar[Role] = Role.PROPOSER
    temperature: ClassVar[float] = 0.3
    max_output_tokens: ClassVar[int] = 2400
    output: ClassVar[type[Record]] = RevisedPolicy

    proportions: dict[QuestionKind, float]
    targets: dict[QuestionKind, float]
    """Proportions that coverage is measured against."""
    form_weights: dict[str, float]
    """Weight of every form that exists."""
    modes: tuple[str, ...]
    """Where distractors may come from, from the easiest to the hardest."""
    distractors: str
    """The default mode."""
    distractors_by_kind: dict[QuestionKind, str] = {}
    relate: float
    """Default share of anchors that are named by relation."""
    relate_by_kind: dict[QuestionKind, float] = {}
    brief: float
    """How strongly short intervals and small labels are preferred, 0 to 1."""
    options: int = 4
    """K."""
    quality: QualityNumbers = QualityNumbers()
    rates: tuple[QuestionRates, ...] = ()
    """By kind and by form."""
    cases: tuple[FailureCase, ...] = ()
    """Failures of the solver, as examples of what is hard."""
    interval: tuple[float, float] = (0.3, 0.7)
    """Accuracies in between are of use (Table 6)."""
    step: float = 1.4
    """Largest factor by which a share or a weight may change."""
    weights: tuple[float, float] = (0.2, 4.0)
    """Bounds of the weight of a form."""
    sample: int = 0
    """Which repetition."""
