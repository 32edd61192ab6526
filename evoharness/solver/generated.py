"""Generated tools: `def tool(memory, **arguments)` over memory reads, run in the sandbox.

Answering and verification run a tool over the same API and within the same limits. It has no other tools,
no frames and no models, so no tool calls a tool, and its runs cost no calls of the backbone. While it runs
the strategy waits: to the strategy that is time of the host, like that of any other call.
"""

from collections.abc import Mapping
from typing import Any

from evoharness.models.reasoning_tasks import ToolChoice
from evoharness.records.json_values import fault, one_line
from evoharness.records.tool import MEMORY_READS, ToolManifest, read_manifest
from evoharness.sandbox import HostApi, HostCallError, HostMethod, SandboxBackend, SandboxLimits
from evoharness.solver import arguments as given
from evoharness.solver.context import ARGUMENTS
from evoharness.solver.recalling import Recalling

TOOL_LIMITS = SandboxLimits(
    steps=1_000_000, cpu_seconds=3, own_seconds=5.0, total_seconds=120.0, host_calls=50
)
"""Below those of a strategy, which may call several tools; what the memory takes is in the total alone."""


def memory_api(recalling: Recalling) -> HostApi:
    """The first argument of a tool, over a memory that is opened now rather than on the tool's time.

    HostCallError when there is none.
    """
    recalling.open()
    return HostApi({name: HostMethod(getattr(recalling, name), ARGUMENTS[name]) for name in MEMORY_READS})


class GeneratedTools:
    """The tools of a harness."""

    def __init__(
        self, tools: Mapping[str, Mapping[str, str]], sandbox: SandboxBackend, recalling: Recalling
    ) -> None:
        self._sources = {name: files[f"{name}.py"] for name, files in tools.items()}
        self._manifests = {name: read_manifest(files[f"{name}.json"]) for name, files in tools.items()}
        self._sandbox = sandbox
        self._recalling = recalling

    @property
    def choices(self) -> dict[str, ToolChoice]:
        """What a decision may know of each."""
        return {name: _choice(name, manifest) for name, manifest in self._manifests.items()}

    def run(self, call: given.ToolCall) -> Any:
        """What the tool returns (JSON, bounded); HostCallError when there is none, or when it fails."""
        manifest = self._manifests.get(call.name)
        if manifest is None:
            known = ", ".join(sorted(self._sources)) or "none"
            raise HostCallError(f"no such tool {one_line(call.name, 40)!r} (there is: {known})")
        if said := manifest.misfit(call.arguments):
            raise HostCallError(f"tool {call.name}: {said}")
        api = memory_api(self._recalling)
        result = self._sandbox.run(self._sources[call.name], "tool", call.arguments, api, TOOL_LIMITS)
        if result.kind != "finished":
            where = f"line {result.line}: " if result.line else ""
            raise HostCallError(f"tool {call.name} failed ({result.kind}): {where}{result.message}")
        if said := fault(result.value):
            raise HostCallError(f"tool {call.name} gave no JSON value: {said}")
        return result.value


def _choice(name: str, manifest: ToolManifest) -> ToolChoice:
    kinds = ", ".join(kind.value for kind in manifest.kinds)
    purpose = f"{manifest.purpose} (for questions of these kinds: {kinds})"
    return ToolChoice(name=name, purpose=purpose, arguments=manifest.signature)
