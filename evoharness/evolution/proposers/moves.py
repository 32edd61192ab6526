"""A move: one small change to a harness that the search can try and compose."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoharness.records.evolution import ChangeKind

if TYPE_CHECKING:
    from evoharness.harness import Harness


@dataclass(frozen=True)
class Move:
    """One change, by name."""

    title: str
    """The change in a few words; unique among the moves of a round."""
    kind: ChangeKind
    subject: str
    """What it touches: the name of a parameter, `routes` or `strategies`."""
    apply: "Callable[[Harness], Harness | None]"
    """The changed harness; None where the move does not apply."""
