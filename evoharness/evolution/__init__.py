"""Evolution of a harness: rounds of diagnosis, proposals, screening and a gate."""

from typing import TYPE_CHECKING, Any

from evoharness.evolution.proposing import Candidate, Ground, ProposalContext, Proposer, Rejection
from evoharness.evolution.settings import EvolutionSettings, GateSettings

if TYPE_CHECKING:
    from evoharness.evolution.run import Material, begin, begun_with, evolve

__all__ = [
    "Candidate",
    "EvolutionSettings",
    "GateSettings",
    "Ground",
    "Material",
    "ProposalContext",
    "Proposer",
    "Rejection",
    "begin",
    "begun_with",
    "evolve",
]


def __getattr__(name: str) -> Any:
    """What brings in the rooms that it works with: only when it is asked for."""
    if name in ("Material", "begin", "begun_with", "evolve"):
        from evoharness.evolution import run

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
