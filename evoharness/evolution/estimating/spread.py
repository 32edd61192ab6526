"""From the ends of single figures to those of an amount."""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields

from evoharness.evolution.estimating.load import Amount, Load

FLOOR = 0.02
"""Smaller shares of what is expected count as this."""


def around(expected: Load, ends: Sequence[tuple[Load, Load]]) -> tuple[Load, Load]:
    """The least and the most that may well come out.

    `ends`: for each figure that is not known, the loads with one end of it and with the other, all others
    being as expected. They have nothing to do with each other and do not all go the same way: factors are
    taken together as the lengths of a right-angled box, by squares of their logarithms.
    """
    roles = sorted({role for pair in (*ends, (expected, expected)) for load in pair for role in load.roles})
    names = [each.name for each in fields(Amount)]
    least: dict[str, Amount] = {}
    most: dict[str, Amount] = {}
    for role in roles:
        low, high = {}, {}
        for name in names:
            low[name], high[name] = _between(expected, ends, _figure(role, name))
        least[role], most[role] = Amount(**low), Amount(**high)
    return Load(least), Load(most)


def _figure(role: str, name: str) -> Callable[[Load], float]:
    return lambda load: float(getattr(load.roles.get(role, Amount()), name))


def _between(
    expected: Load, ends: Sequence[tuple[Load, Load]], of: Callable[[Load], float]
) -> tuple[float, float]:
    middle = of(expected)
    values = [(of(low), of(high)) for low, high in ends]
    if middle <= 0:
        return 0.0, max((value for pair in values for value in pair), default=0.0)
    down = up = 0.0
    for pair in values:
        factors = [math.log(max(value / middle, FLOOR)) for value in pair]
        down += min(0.0, *factors) ** 2
        up += max(0.0, *factors) ** 2
    return middle * math.exp(-math.sqrt(down)), middle * math.exp(math.sqrt(up))
