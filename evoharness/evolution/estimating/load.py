"""What is used by role, in expectation: fractions of calls are in order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from evoharness.records.spend import Spend

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Amount:
    """What one role is used for."""

    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    frames: float = 0.0

    @property
    def tokens(self) -> float:
        """In both directions."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.frames + other.frames,
        )

    def __mul__(self, factor: float) -> "Amount":
        return Amount(
            self.calls * factor,
            self.input_tokens * factor,
            self.output_tokens * factor,
            self.frames * factor,
        )

    def beyond(self, other: "Amount") -> "Amount":
        """What it is more than the other one; nothing is negative."""
        return Amount(
            max(0.0, self.calls - other.calls),
            max(0.0, self.input_tokens - other.input_tokens),
            max(0.0, self.output_tokens - other.output_tokens),
            max(0.0, self.frames - other.frames),
        )


@dataclass(frozen=True)
class Load:
    """Role → amount; adds up with `+`, and is done several times with `*`."""

    roles: Mapping[str, Amount] = field(default_factory=dict)

    @classmethod
    def of(cls, paid: Mapping[str, Spend]) -> "Load":
        """What was counted, as a load."""
        return cls(
            {
                role: Amount(spend.calls, spend.input_tokens, spend.output_tokens, spend.frames)
                for role, spend in paid.items()
            }
        )

    @property
    def total(self) -> Amount:
        """All roles together."""
        return sum(self.roles.values(), Amount())

    def __add__(self, other: "Load") -> "Load":
        names = sorted({*self.roles, *other.roles})
        return Load({n: self.roles.get(n, Amount()) + other.roles.get(n, Amount()) for n in names})

    def __mul__(self, factor: float) -> "Load":
        return Load({name: amount * factor for name, amount in self.roles.items()})

    def beyond(self, other: "Load") -> "Load":
        """What it is more than the other one; nothing is negative."""
        return Load(
            {name: amount.beyond(other.roles.get(name, Amount())) for name, amount in self.roles.items()}
        )

    def wordy(self, factor: float) -> "Load":
        """With `factor` times the tokens of answers."""
        return Load(
            {
                name: replace(amount, output_tokens=amount.output_tokens * factor)
                for name, amount in self.roles.items()
            }
        )


@dataclass(frozen=True)
class Estimate:
    """What a run is expected to use, and the least and the most that it may well come to."""

    expected: Load
    least: Load
    most: Load
    notes: tuple[str, ...]
    """What is known about this run, and what had to be assumed."""

    def ends(self, role: str, of: Callable[[Amount], float]) -> tuple[float, float]:
        """The least and the most of one figure of one role."""
        loads = (self.least, self.expected, self.most)
        values = [of(load.roles.get(role, Amount())) for load in loads]
        return min(values), max(values)


def summed(loads: Iterable[Load]) -> Load:
    """All of them together."""
    return sum(loads, Load())


def mean(loads: Iterable[Load]) -> Load:
    """Their mean; nothing for none."""
    several = list(loads)
    return summed(several) * (1 / len(several)) if several else Load()


def spread_out(items: Sequence[Thing], most: int) -> list[Thing]:
    """At most so many of them, evenly."""
    if len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]
