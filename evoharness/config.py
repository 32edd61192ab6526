"""Every setting of every command, typed: one dataclass for each command, registered with Hydra.

A section (`gate`, `questioner`, …) is the settings dataclass of its room, or one of the small ones below
for what has no room of its own; its values come from `configs/<section>/<option>.yaml`. A command without
a file of its own in `configs/` takes the defaults written here.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from evoharness.cli.schema import OPEN, text
from evoharness.errors import UserError
from evoharness.evolution.proposers.search import SearchSettings
from evoharness.evolution.settings import EvolutionSettings, GateSettings
from evoharness.questioner.policy import QuestionerSettings
from evoharness.records.paths import default_cache

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from evoharness.solver import SolverLimits


@dataclass
class RatesSection:
    """How fast models may be called, by all workers of a run together."""

    concurrency: int | None = 16
    """Calls in flight at the same time; empty: no limit."""
    requests_a_minute: int | None = None
    """Calls begun in a minute; empty: no limit."""
    tokens_a_minute: int | None = None
    """Tokens sent and received in a minute; empty: no limit."""
    timeout_s: float = 120.0
    """How long one call may take, in seconds."""
    attempts: int = 6
    """How often a call is tried before the model counts as unavailable."""


@dataclass
class BackboneSection:
    """Which frozen models do the tasks. `backbone=openai` takes a whole section from configs/backbone/."""

    name: str = "embedded"
    """embedded: without a model; litellm: any provider or server that LiteLLM knows; or one that a package
    registers."""
    models: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """Model of each role, as litellm names it (provider/model); `default` is for the roles not named:
    describer, video_expert, frame_verifier, solver, orchestrator, proposer, judge, blind_answerer,
    transcriber."""
    api_base: str | None = text()
    """Address of a server, such as http://localhost:8000/v1; empty: the provider's own."""
    api_bases: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """Address for single roles, where they differ."""
    key: str | None = text()
    """Name of the environment variable that holds the key, never the key; empty: the provider's usual."""
    keys: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """Name of that variable for single roles, where they differ."""
    parameters: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """Further parameters of every call, as the provider names them (reasoning_effort, …)."""
    prices: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """USD for a million tokens, `{input: …, output: …}`, by role, `default` or model; for models whose price
    litellm does not know."""
    rates: RatesSection = field(default_factory=RatesSection)
    cache: str = text("on")
    """Responses that were paid for once: on: kept and used again; read: used, none added; off: neither."""
    options: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """Further arguments of that backbone."""


@dataclass
class BudgetSection:
    """What a run may pay for in all; it ends well before it would pass one of these."""

    usd: float | None = None
    """US dollars; empty: no limit."""
    calls: int | None = None
    """Calls of models; empty: no limit."""
    tokens: int | None = None
    """Tokens, sent and received; empty: no limit."""


@dataclass
class EmbedderSection:
    """What turns texts into vectors."""

    name: str = "wordllama"
    """wordllama: comes with the package; sentence_transformers: a local model (extra
    `sentence-transformers`); litellm: a provider's endpoint."""
    model: str | None = text()
    """Folder or name of the model, or its litellm id; empty: the embedder's usual."""
    api_base: str | None = text()
    """litellm: address of a server; empty: the provider's own."""
    key: str | None = text()
    """litellm: name of the environment variable that holds the key; empty: the provider's usual."""
    price: float | None = None
    """litellm: USD for a million tokens, for a model whose price its table does not have."""
    rates: RatesSection = field(default_factory=RatesSection)
    options: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """Further arguments of that embedder."""


@dataclass
class ExecutorSection:
    """Where questions are answered."""

    name: str = "process"
    """process: worker processes; inline: this process."""
    workers: int | None = None
    """Worker processes; empty: one for each CPU."""
    in_flight: int | None = None
    """Items that each worker process does at the same time; empty: one with the embedded backbone, which
    computes, and 16 with a backbone that is waited for."""
    outage_s: float = 300.0
    """Seconds to wait for a provider that answers nobody, before the work ends with what is done kept."""


@dataclass
class HarnessSection:
    """Which harness, and what is changed in it before use."""

    source: str = text("initial", alias="harness")
    """`initial`, or a folder that `export` wrote."""
    parameters: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """Parameters with other values than in that harness."""


@dataclass
class ProposersSection:
    """Where changes to the harness come from."""

    name: str = "search"
    """search: a beam search over parameters and syntax trees, without a model."""
    search: SearchSettings = field(default_factory=SearchSettings)


@dataclass
class TestSection:
    """The sealed test set, answered once at the end."""

    questions: str | None = text()
    """Question file (JSONL or CSV) of the sealed test."""
    videos: str | None = text()
    """Videos of the sealed test; empty: those next to its question file."""


@dataclass
class SamplesSection:
    """The videos made when no others are given."""

    videos: int = 18
    """Videos to learn from, over all rounds."""
    sealed: int = 7
    """Further videos, for the sealed test."""
    minutes: float = 8.0
    """The longest there may be."""
    questions: int = 30
    """Most questions of the sealed test, for each of its videos."""


@dataclass
class LimitsSection:
    """What one answer may use; more ends it with the status `over_limit`."""

    frames: int = 4000
    """Frames shown to a model, for one answer."""
    calls: int = 60
    """Calls of models, for one answer."""
    seconds: float = 600.0
    """Wall time, for one answer."""

    def of_solver(self) -> "SolverLimits":
        """The same, as the Solver takes them."""
        from evoharness.solver import SolverLimits

        return SolverLimits(frames=self.frames, calls=self.calls, seconds=self.seconds)


@dataclass
class SandboxSection:
    """Where the code of strategies and tools runs."""

    backend: str = "process"
    """process: confined by the system, a process for each run; monty: an interpreter of its own in such a
    process (extra `monty`); inprocess: not confined, for tests."""
    allow_weaker: bool = False
    """Run code even where the system has no Landlock or no seccomp to confine it."""


@dataclass
class Common:
    """What the commands that use models share."""

    backbone: BackboneSection = field(default_factory=BackboneSection)
    budget: BudgetSection = field(default_factory=BudgetSection)
    embedder: EmbedderSection = field(default_factory=EmbedderSection)
    executor: ExecutorSection = field(default_factory=ExecutorSection)
    memory: dict[str, Any] = field(default_factory=dict, metadata=OPEN)
    """How memories are built: fps, frame_cap, detail, scene_fps, minimum_s, maximum_s, and transcript (off,
    auto, sidecar, stream, model: where what is said is taken from).
    Commands share the memories that they build alike; a preset of evolve may set some of these."""
    sandbox: SandboxSection = field(default_factory=SandboxSection)
    cache: str = text(default_cache())
    """Folder of memories, model responses and sample videos; shared by runs."""
    display: str = "auto"
    """How progress is shown: auto, rich, plain or silent."""


@dataclass
class AnsweringCommon(Common):
    """What the commands that answer questions share."""

    knowledge: str | None = text()
    """File of background texts (JSONL) that strategies may search; empty: none."""
    limits: LimitsSection = field(default_factory=LimitsSection)


@dataclass
class RunningCommon(AnsweringCommon):
    """What the commands that make a run share."""

    seed: int = 0
    """Where all chance comes from."""
    runs: str = text("runs")
    """Folder in which runs are made."""
    name: str | None = text()
    """Ends the name of the run's folder, after the time."""


def _evolution() -> EvolutionSettings:
    # The gate is a section of its own; OmegaConf puts it in here, too, when the two are read.
    return EvolutionSettings(gate=cast(GateSettings, "${gate}"))


@dataclass
class EvolveConfig(RunningCommon):
    """Settings of `evolve`."""

    videos: str = text("samples")
    """Videos to learn from: a folder, a pattern, a manifest (CSV, JSONL), or `samples` that are made here."""
    questions: str | None = text()
    """Question file about the videos, used instead of the Questioner's own questions."""
    test: TestSection = field(default_factory=TestSection)
    samples: SamplesSection = field(default_factory=SamplesSection)
    harness: HarnessSection = field(default_factory=HarnessSection)
    questioner: QuestionerSettings = field(default_factory=QuestionerSettings)
    evolution: EvolutionSettings = field(default_factory=_evolution)
    gate: GateSettings = field(default_factory=GateSettings)
    proposers: ProposersSection = field(default_factory=ProposersSection)
    resume: str | None = text()
    """A run to go on with: a folder, a name in the folder of runs, or `latest`."""
    estimate: bool = False
    """Whether to say what such a run would use of its models, by role, instead of making it."""


@dataclass
class EvaluateConfig(RunningCommon):
    """Settings of `evaluate`."""

    questions: str | None = text()
    """Question file (JSONL or CSV)."""
    videos: str | None = text()
    """Their videos: a folder, a pattern or a manifest; empty: those next to the question file."""
    harness: HarnessSection = field(default_factory=HarnessSection)
    against: str | None = text()
    """A second harness, answering the same questions: `initial`, or a folder."""
    parameters: bool = False
    """Whether to move each parameter a step up and a step down, and to count what changes."""


@dataclass
class MemorizeConfig(Common):
    """Settings of `memorize`."""

    videos: str | None = text()
    """Videos to remember: a folder, a pattern or a manifest."""
    video: str | None = text()
    """One video instead."""
    show: bool = False
    """Whether to print each memory as a tree, and write it as an HTML page."""
    out: str | None = text()
    """HTML file to write the page to, a folder when there are several videos; empty: beside the memory, with
    show=true."""
    retry: bool = False
    """Whether segments that could not be described earlier are described again."""


@dataclass
class SearchConfig(Common):
    """Settings of `search`."""

    query: str | None = text()
    """What to look for, in words."""
    videos: str | None = text()
    """Where to look: a folder, a pattern or a manifest; what is not remembered yet is remembered first."""
    kind: str = "node"
    """What to find: node (events, entities, visible texts), text (visible texts alone), transcript (what is
    said), segment (whole stretches)."""
    k: int = 10
    """How much is found at most."""


@dataclass
class AskConfig(AnsweringCommon):
    """Settings of `ask`."""

    video: str | None = text()
    """The video file."""
    question: str | None = text()
    """The question."""
    options: str | None = text()
    """Answers to choose from, as a list: ["yes", "no"]."""
    harness: HarnessSection = field(default_factory=HarnessSection)
    trace: bool = False
    """Whether to print every step of the answer."""


@dataclass
class DoctorConfig:
    """Settings of `doctor`."""

    cache: str = text(default_cache())
    """Folder of memories, model responses and sample videos."""
    runs: str = text("runs")
    """Folder of runs."""


@dataclass
class ReportConfig:
    """Settings of `report`."""

    run: str | None = text()
    """The run: a folder, a name in the folder of runs, or `latest`."""
    out: str | None = text()
    """HTML file to write; empty: report.html in the run."""
    runs: str = text("runs")
    """Folder of runs."""


@dataclass
class ExportConfig:
    """Settings of `export`."""

    run: str | None = text()
    """The run: a folder, a name in the folder of runs, or `latest`."""
    out: str | None = text()
    """Folder to write the harness to; it must be new or empty."""
    which: str = text("final", alias="harness")
    """Which harness of the run: final, initial, or a fingerprint (its first characters will do)."""
    runs: str = text("runs")
    """Folder of runs."""


CONFIGS: dict[str, type] = {
    "ask": AskConfig,
    "evaluate": EvaluateConfig,
    "evolve": EvolveConfig,
    "memorize": MemorizeConfig,
    "search": SearchConfig,
    "doctor": DoctorConfig,
    "export": ExportConfig,
    "report": ReportConfig,
}
"""Command → its settings."""


def register() -> None:
    """Tell Hydra about the settings; may be called again."""
    from importlib.resources import files

    from hydra.core.config_store import ConfigStore

    store = ConfigStore.instance()
    for name, config in CONFIGS.items():
        # A command with a file in configs/ gets its groups from there, and its types from here.
        own_file = files("evoharness.configs").joinpath(f"{name}.yaml").is_file()
        store.store(f"{name}_settings" if own_file else name, node=config)


def typed(composed: "DictConfig") -> Any:
    """The configuration as its dataclass; UserError when a value does not do."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        return OmegaConf.to_object(composed)
    except (OmegaConfBaseException, ValueError, TypeError) as error:
        raise UserError(f"the configuration does not do: {error}") from error
