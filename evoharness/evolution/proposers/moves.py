"""A move: one small change to a harness that the search can try and compose."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoharness.records.evolution import ChangeKind

if TYPE_CHECKING:
    from evoharness.harness import Harness

ROUTES = "routes"
"""What moves touch that change where a route ends or leads: several of them may go together."""


@dataclass(frozen=True)
class Move:
    """One change, by name."""

    title: str
    """The change in a few words; unique among the moves of a round."""
    kind: ChangeKind
    subject: str
    """What it is about: the name of a parameter, `routes`, or what a strategy is made to do."""
    apply: "Callable[[Harness], Harness | None]"
    """The changed harness; None where the move does not apply."""

    def excludes(self, other: "Move") -> bool:
        """Whether the two are about one thing, so that both together make no sense."""
        return self.subject == other.subject and self.subject != ROUTES
