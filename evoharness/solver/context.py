"""`ctx`: the host API of one answer, every call of it checked, metered and traced."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from evoharness.harness import Parameters
from evoharness.sandbox import HostApi, HostMethod, NoArguments
from evoharness.solver import arguments as given
from evoharness.solver.meter import Meter

ARGUMENTS: dict[str, type[BaseModel]] = {
    "remaining": NoArguments,
    "look": given.Look,
    "localize": given.Localize,
    "frame": given.OneFrame,
    "search": given.Search,
    "summary": NoArguments,
    "super_events": NoArguments,
    "segments": given.Segments,
    "records": given.Records,
    "between": given.Between,
    "enumerate": given.Enumerate,
    "transcript": given.Between,
    "knowledge": given.Knowledge,
    "tool": given.ToolCall,
    "decide": given.Decide,
    "call": given.ToolCall,
    "reason": given.Reasoned,
    "verify": given.Verify,
    "similar": given.Similar,
    "find": given.Find,
    "answer": given.Answer,
}
"""Every method of `ctx`, with its arguments."""

UNTRACED = frozenset({"remaining"})
"""Calls that find nothing out and differ from run to run."""


def host_api(
    calls: Mapping[str, Callable[[Any], Any]], parameters: Parameters, duration: float, meter: Meter
) -> HostApi:
    """`ctx` over the given functions, one for each name in ARGUMENTS."""
    methods = {
        name: HostMethod(
            run=calls[name] if name in UNTRACED else _traced(name, calls[name], meter), arguments=model
        )
        for name, model in ARGUMENTS.items()
    }
    data = {"params": parameters.model_dump(mode="json"), "video": {"duration": duration}}
    return HostApi(methods=methods, data=data)


def _traced(name: str, run: Callable[[Any], Any], meter: Meter) -> Callable[[Any], Any]:
    def traced(arguments: BaseModel) -> Any:
        plain = arguments.model_dump(mode="json", exclude_unset=True)
        return meter.traced(name, plain, lambda: run(arguments))

    return traced
