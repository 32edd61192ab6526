"""What can be set about a run of evolution."""

from dataclasses import dataclass, field

from evoharness.errors import UserError

GATES = ("paired", "sequential", "argmax", "margin")
"""Names of the gates."""


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


def check_gate(settings: GateSettings) -> None:
    """UserError when the settings of a gate make no sense."""
    if settings.name not in GATES:
        raise UserError(f"gate.name={settings.name} is not known: use {', '.join(GATES)}")
    if settings.unit not in ("question", "video"):
        raise UserError(f"gate.unit={settings.unit} is not known: use question or video")
    if settings.observation not in ("equal", "free"):
        raise UserError(f"gate.observation={settings.observation} is not known: use equal or free")
    if not 0 < settings.alpha < 1:
        raise UserError(f"gate.alpha={settings.alpha} must lie between 0 and 1")
    if settings.observation_ratio <= 0:
        raise UserError(f"gate.observation_ratio={settings.observation_ratio} must be more than 0")
    if settings.looks < 1:
        raise UserError(f"gate.looks={settings.looks}: at least 1 is needed")


def check_settings(settings: EvolutionSettings) -> None:
    """UserError when the settings of a run make no sense."""
    check_gate(settings.gate)
    names = (
        "rounds",
        "videos_per_round",
        "evolution_questions",
        "validation_questions",
        "candidates",
        "finalists",
    )
    for name in names:
        if getattr(settings, name) < 1:
            raise UserError(f"evolution.{name}={getattr(settings, name)}: at least 1 is needed")
    if not settings.race or min(settings.race) < 1:
        raise UserError(
            f"evolution.race={list(settings.race)}: numbers of questions are needed, such as [30, 60]"
        )
    if not 0 < settings.effect < 1:
        raise UserError(f"evolution.effect={settings.effect} must lie between 0 and 1")
    if settings.wider_s < 0:
        raise UserError(f"evolution.wider_s={settings.wider_s} must not be negative")
