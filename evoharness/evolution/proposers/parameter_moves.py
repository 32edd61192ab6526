"""Moves of parameters and routes: a step up and a step down, inside the bounds."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from evoharness.evolution.proposers.moves import ROUTES, Move
from evoharness.records.evolution import ChangeKind

if TYPE_CHECKING:
    from evoharness.harness import Harness, ParameterSpec

STEP = 2.0
"""Numbers are halved and doubled: small enough to be undone, large enough to show on tens of questions."""


def parameter_moves(harness: "Harness") -> Iterator[Move]:
    """One step of each parameter in each direction, and of each duration at which a route ends."""
    from evoharness.harness import parameter_specs

    for spec in parameter_specs():
        old = getattr(harness.parameters, spec.name)
        for new in _neighbours(spec, old):
            yield Move(
                title=f"{spec.name} {old} → {new}",
                kind=ChangeKind.PARAMETERS,
                subject=spec.name,
                apply=partial(_set_parameter, spec.name, new),
            )
    yield from _route_moves(harness)


def used_parameters(harness: "Harness", strategies: set[str]) -> set[str]:
    """Names that the sources of these strategies read from `ctx.params`, and those that the host reads."""
    sources = [harness.strategies[name] for name in strategies if name in harness.strategies]
    names = type(harness.parameters).model_fields
    return {name for name in names if any(name in source for source in sources)} | {"frame_cap"}


def _neighbours(spec: "ParameterSpec", old: "float | int | str") -> list["float | int | str"]:
    if spec.kind == "choice":
        at = spec.choices.index(str(old))
        return [spec.choices[i] for i in (at - 1, at + 1) if 0 <= i < len(spec.choices)]
    number, low, high = float(old), float(spec.low or 0.0), float(spec.high or 0.0)
    least = max((high - low) / 20, 1.0 if spec.kind == "integer" else 0.0)
    steps = [number / STEP, number * STEP] if number else [low + least]
    inside = [min(high, max(low, step)) for step in steps]
    rounded: list[float | int | str] = (
        [round(step) for step in inside] if spec.kind == "integer" else [round(step, 3) for step in inside]
    )
    return [step for step in dict.fromkeys(rounded) if step != old]


def _set_parameter(name: str, value: "float | int | str", harness: "Harness") -> "Harness | None":
    if getattr(harness.parameters, name) == value:
        return None
    return harness.with_parameters(**{name: value})


def _route_moves(harness: "Harness") -> Iterator[Move]:
    for position, route in enumerate(harness.routes[:-1]):
        following = harness.routes[position + 1].strategy
        for factor in (1 / STEP, STEP):
            until = round(float(route.until_s or 0.0) * factor, 1)
            yield Move(
                title=f"{route.strategy} up to {until:g} s, then {following} (was {route.until_s:g} s)",
                kind=ChangeKind.PARAMETERS,
                subject=ROUTES,
                apply=partial(_end_route, position, until),
            )
        yield Move(
            title=f"{following} instead of {route.strategy} up to {route.until_s:g} s",
            kind=ChangeKind.PARAMETERS,
            subject=ROUTES,
            apply=partial(_reroute, position, following),
        )


def _end_route(position: int, until: float, harness: "Harness") -> "Harness | None":
    routes = list(harness.routes)
    if position >= len(routes) - 1 or routes[position].until_s == until:
        return None
    later = [route.until_s for route in routes[position + 1 :] if route.until_s is not None]
    earlier = [route.until_s for route in routes[:position] if route.until_s is not None]
    if any(until >= end for end in later) or any(until <= end for end in earlier):
        return None
    routes[position] = routes[position].model_copy(update={"until_s": until})
    return harness.with_routes(tuple(routes))


def _reroute(position: int, strategy: str, harness: "Harness") -> "Harness | None":
    route, following = harness.routes[position], harness.routes[position + 1]
    if route.strategy == strategy or following.memory != route.memory:
        return None
    routes = list(harness.routes)
    routes[position] = route.model_copy(update={"strategy": strategy})
    return harness.with_routes(tuple(routes))
