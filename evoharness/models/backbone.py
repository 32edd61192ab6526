"""The one method of a frozen model, what it gives back, and how it fails."""

from dataclasses import dataclass
from typing import Generic, Protocol, Self

from evoharness.errors import UserError
from evoharness.models.task import Output, Task
from evoharness.records.spend import Spend

NOTHING = Spend()


@dataclass(frozen=True)
class Reply(Generic[Output]):
    """The output of a task, and what it cost."""

    output: Output
    spend: Spend
    """What the task takes, whether or not it was answered from the cache."""
    cached: bool = False
    """Nothing was paid for it now: an earlier call had the same question."""
    notes: tuple[str, ...] = ()
    """What the backbone had to do that the caller should know, such as leaving out frames."""
    wasted: Spend = NOTHING
    """What was paid on top for answers that were lost, empty or could not be read; no part of `spend`."""

    @property
    def paid(self) -> Spend:
        """What was paid for it now."""
        return self.wasted if self.cached else self.spend + self.wasted


class Backbone(Protocol):
    """A frozen model, or several behind one face."""

    @property
    def id(self) -> str:
        """Which model answers, as precisely as it can be said; part of every cache key."""
        ...

    def run(self, task: Task[Output]) -> Reply[Output]:
        """Do one task.

        Raises `Refused` when the model will not answer, `Unparsed` when its answer cannot be read even
        after a second try, and `BackboneUnavailable` when no answer came for reasons of infrastructure.
        """
        ...


class BackboneError(Exception):
    """A task that ended without an output."""

    spend: Spend = NOTHING
    """What was paid before it ended, now or earlier: a refusal and an unreadable answer cost as much as a
    good one."""

    wasted: Spend = NOTHING
    """What was paid on top for calls whose replies were lost on the way; no part of `spend`."""

    cached: bool = False
    """Nothing was paid for it now: an earlier call had the same question, and ended the same way."""

    @property
    def paid(self) -> Spend:
        """What was paid for it now."""
        return NOTHING if self.cached else self.spend + self.wasted

    def costing(self, spend: Spend, wasted: Spend = NOTHING) -> Self:
        """This error, with what was paid."""
        self.spend, self.wasted = spend, wasted
        return self


class Refused(BackboneError):
    """The model, or its provider, declines this content: asking again would not help."""


class Unparsed(BackboneError):
    """The model answered, but what it said does not fit the output's schema."""


class BackboneUnavailable(BackboneError):
    """No answer came: the fault of the apparatus, never of the harness that asked."""

    lasting: bool = False
    """Asking the same again would not help: it is not that nobody is there."""


class MissingKey(BackboneUnavailable, UserError):
    """No key, or one that the provider does not take; the message names the environment variable."""


class UnknownModel(BackboneUnavailable, UserError):
    """No provider, or not this one, has a model of that name; the message names it."""


class Unreachable(BackboneUnavailable, UserError):
    """Nothing has ever answered at the address; the message names it."""


class CannotGoOn(BackboneError, UserError):
    """No call of anybody in the run can be made any more: what is done is kept, and the work ends here."""


class UnsupportedTask(BackboneError):
    """This backbone cannot do that kind of task; the message names both."""
