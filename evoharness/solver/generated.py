"""Generated tools: `def tool(memory, **arguments)` over memory reads, run in the sandbox."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from evoharness.models.reasoning_tasks import ToolChoice
from evoharness.sandbox import HostApi, HostCallError, HostMethod, SandboxBackend, SandboxLimits
from evoharness.solver import arguments as given
from evoharness.solver.context import ARGUMENTS

MEMORY_READS = (
    "search",
    "summary",
    "super_events",
    "segments",
    "records",
    "between",
    "enumerate",
    "transcript",
)
"""What a tool's `memory` offers; no looking, no models, no other tools."""

TOOL_LIMITS = SandboxLimits(host_calls=50, total_seconds=30.0)


class GeneratedTools:
    """The tools of a harness."""

    def __init__(
        self,
        tools: Mapping[str, Mapping[str, str]],
        sandbox: SandboxBackend,
        reads: Mapping[str, Callable[[Any], Any]],
    ) -> None:
        self._sources = {name: files[f"{name}.py"] for name, files in tools.items()}
        self.choices = {name: _choice(name, files[f"{name}.json"]) for name, files in tools.items()}
        self._sandbox = sandbox
        self._api = HostApi({name: HostMethod(reads[name], ARGUMENTS[name]) for name in MEMORY_READS})

    def run(self, call: given.ToolCall) -> Any:
        """What the tool returns (JSON); HostCallError when there is none, or when it fails."""
        source = self._sources.get(call.name)
        if source is None:
            known = ", ".join(sorted(self._sources)) or "none"
            raise HostCallError(f"no such tool {call.name[:40]!r} (there is: {known})")
        result = self._sandbox.run(source, "tool", call.arguments, self._api, TOOL_LIMITS)
        if result.kind != "finished":
            where = f"line {result.line}: " if result.line else ""
            raise HostCallError(f"tool {call.name} failed ({result.kind}): {where}{result.message}")
        return result.value


def _choice(name: str, manifest: str) -> ToolChoice:
    """What a decision may know of a tool, from its JSON: `purpose`, and `arguments` (name → type)."""
    try:
        described = json.loads(manifest)
        arguments = described.get("arguments") or {}
        return ToolChoice(
            name=name,
            purpose=str(described.get("purpose") or ""),
            arguments={str(key): str(kind) for key, kind in arguments.items()},
        )
    except (ValueError, AttributeError):
        return ToolChoice(name=name, purpose="", arguments={})
