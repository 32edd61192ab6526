"""What is used by role, in expectation: fractions of calls are in order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from evoharness.records.spend import Spend


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

    def dearer(self, factor: float, looks: float) -> "Load":
        """With `factor` times the frames and tokens, and `looks` times the calls that look."""
        return Load(
            {
                name: replace(amount * factor, calls=amount.calls * (looks if amount.frames else 1.0))
                for name, amount in self.roles.items()
            }
        )


def summed(loads: Iterable[Load]) -> Load:
    """All of them together."""
    return sum(loads, Load())


def mean(loads: Iterable[Load]) -> Load:
    """Their mean; nothing for none."""
    several = list(loads)
    return summed(several) * (1 / len(several)) if several else Load()
