"""Several changes to one harness, put together."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evoharness.harness import Harness


def combined(base: "Harness", changed: "Sequence[Harness]") -> "Harness":
    """`base` with every change that `changed` made to it; where two collide, the earlier one stays.

    A parameter, a strategy, a skill and a tool are each one thing; so are the routes and the tool policy.
    """
    result = base
    for harness in changed:
        result = _with_changes(base, result, harness)
    return result


def _with_changes(base: "Harness", so_far: "Harness", changed: "Harness") -> "Harness":
    fields: dict[str, Any] = {name: getattr(so_far, name) for name in type(base).model_fields}
    fields["parameters"] = so_far.parameters.changed(
        **_merged(
            base.parameters.model_dump(), so_far.parameters.model_dump(), changed.parameters.model_dump()
        )
    )
    for name in ("strategies", "skills", "tools"):
        fields[name] = _merged(getattr(base, name), getattr(so_far, name), getattr(changed, name))
    for name in ("routes", "tool_policy"):
        if getattr(so_far, name) == getattr(base, name):
            fields[name] = getattr(changed, name)
    return type(base)(**fields)


def _merged(base: Mapping[str, Any], so_far: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """`so_far` with the entries that `changed` has otherwise than `base` and nobody changed before."""
    merged = dict(so_far)
    for name in {*base, *changed}:
        if changed.get(name) == base.get(name) or so_far.get(name) != base.get(name):
            continue
        if name in changed:
            merged[name] = changed[name]
        else:
            merged.pop(name, None)
    return {name: merged[name] for name in sorted(merged)}
