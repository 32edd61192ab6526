"""What an answer, a stage or a run has used."""

from collections.abc import Mapping

from pydantic import Field

from evoharness.records.base import Record


class Spend(Record):
    """Model calls, tokens, frames and money, none of them negative; adds up with `+`."""

    calls: int = Field(default=0, ge=0)
    """Calls to a backbone."""
    input_tokens: int = Field(default=0, ge=0)
    """Tokens given, those of frames included."""
    output_tokens: int = Field(default=0, ge=0)
    """Tokens received."""
    frames: int = Field(default=0, ge=0)
    """Frames shown to a backbone."""
    cost_usd: float | None = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Money in US dollars; None as soon as the price of one call is unknown."""

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Spend") -> "Spend":
        known = self.cost_usd is not None and other.cost_usd is not None
        return Spend(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            frames=self.frames + other.frames,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )

    def beyond(self, before: "Spend") -> "Spend":
        """What came on top of `before`; nothing is negative. The cost is unknown when it has become so."""
        known = self.cost_usd is not None
        return Spend(
            calls=max(0, self.calls - before.calls),
            input_tokens=max(0, self.input_tokens - before.input_tokens),
            output_tokens=max(0, self.output_tokens - before.output_tokens),
            frames=max(0, self.frames - before.frames),
            cost_usd=max(0.0, (self.cost_usd or 0.0) - (before.cost_usd or 0.0)) if known else None,
        )


class Used(Record):
    """What jobs took of the backbone: what was paid for now, and what was kept from earlier."""

    paid: dict[str, Spend] = {}
    """Role → what was paid: calls that were made now, those that gave no output included."""
    cached: Spend = Spend()
    """What answers from the response cache took when they were paid for."""
    lost: Spend = Spend()
    """The part of what was paid that is not known: calls whose replies were lost, and that were never
    answered since, at the most that they may have taken."""

    @property
    def spend(self) -> Spend:
        """All of it."""
        return total(self.paid) + self.cached

    def __add__(self, other: "Used") -> "Used":
        return Used(
            paid=added(self.paid, other.paid),
            cached=self.cached + other.cached,
            lost=self.lost + other.lost,
        )


def total(paid: Mapping[str, Spend]) -> Spend:
    """The sum over all roles."""
    return sum(paid.values(), Spend())


def added(one: Mapping[str, Spend], other: Mapping[str, Spend]) -> dict[str, Spend]:
    """Spend by role, added up; roles in the order of their names."""
    return {role: one.get(role, Spend()) + other.get(role, Spend()) for role in sorted({*one, *other})}


def beyond(now: Mapping[str, Spend], before: Mapping[str, Spend]) -> dict[str, Spend]:
    """Spend by role that came on top of `before`; without roles of which nothing came."""
    more = {role: spend.beyond(before.get(role, Spend())) for role, spend in now.items()}
    return {role: spend for role, spend in more.items() if spend.calls or spend.tokens or spend.cost_usd}
