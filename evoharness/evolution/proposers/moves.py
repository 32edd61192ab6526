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
    """What it touches: the name of a parameter, `routes` or `strategies`."""
    apply: "Callable[[Harness], Harness | None]"
    """The changed harness; None where the move does not apply."""

    def undoes(self, other: "Move") -> bool:
        """Whether nothing of `other` would be left: the same move, or another value of its parameter."""
        same_value = self.kind is ChangeKind.PARAMETERS and self.subject == other.subject
        return self.title == other.title or (same_value and self.subject != ROUTES)
