"""What can be set about a run of evolution."""

from dataclasses import dataclass, field


@dataclass
class GateSettings:
    """Who decides whether a finalist replaces the incumbent, and how strictly."""

    name: str = "paired"
    """paired | sequential | argmax | margin."""
    alpha: float = 0.05
    """Largest probability that a run keeps any change that does not help (paired, sequential)."""
    unit: str = "question"
    """question | video: what the test of `paired` counts as independent."""
    observation: str = "equal"
    """equal | free: whether a candidate may look more than the initial harness."""
    observation_ratio: float = 1.25
    """Most frames and tokens a question, as a multiple of the initial harness's."""
    max_dropped: float = 0.02
    """Share of pairs lost to the apparatus above which nothing is decided."""
    margin: float = 0.05
    """What the mean reward must rise by, on the scale from 1 to 5 (margin)."""
    veto: float = 2.0
    """How far no single question may fall, on the scale from 1 to 5 (margin)."""
    looks: int = 4
    """Into how many parts the validation questions are cut; hopeless finalists stop between them."""


@dataclass
class EvolutionSettings:
    """Sizes of the rounds. The defaults are the papers' (Table 6, section 4.1)."""

    rounds: int = 3
    """How many rounds."""
    videos_per_round: int = 30
    """Videos drawn for a round."""
    evolution_questions: int = 200
    """Most questions that proposers may learn from, a round."""
    validation_questions: int = 400
    """Most questions that the gate may use, a round."""
    candidates: int = 13
    """Proposed changes, a round."""
    finalists: int = 3
    """K, the most candidates that go to the gate."""
    race: list[int] = field(default_factory=lambda: [50, 100, 200])
    """Questions after which the race is looked at."""
    wider_s: float = 60.0
    """Seconds that the wider evidence condition of the diagnosis adds on each side of the source."""
    effect: float = 0.05
    """The gain in accuracy that reports on power are about."""
    noise_floor: bool = True
    """Whether the incumbent is compared with itself in the first round."""
    gate: GateSettings = field(default_factory=GateSettings)
    """The gate."""
