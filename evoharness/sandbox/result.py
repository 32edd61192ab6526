"""What a run in the sandbox may use, what it may call, and what comes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from evoharness.records.base import Record

Kind = Literal[
    "finished",
    "policy_violation",
    "strategy_error",
    "step_budget",
    "memory_limit",
    "recursion_limit",
    "invalid_answer",
    "host_call_budget",
    "cpu_time",
    "wall_timeout",
    "syscall_violation",
    "protocol_violation",
    "worker_crashed",
]
"""How a run ended. Those after `invalid_answer` are seen by the host and cannot be forged by the run."""


class SandboxLimits(Record):
    """What one run may use."""

    steps: int = 2_000_000
    """Loop turns and function calls; the only limit that is the same on every machine."""
    cpu_seconds: int = 5
    """Processor time."""
    memory_bytes: int = 256 << 20
    """Address space."""
    own_seconds: float = 10.0
    """Wall time outside host calls."""
    total_seconds: float = 900.0
    """Wall time in all."""
    host_calls: int = 100
    """Calls of the host."""


class SandboxResult(Record):
    """How a run ended, and what it used."""

    kind: Kind
    value: Any = None
    """What the entry function returned (JSON), when it finished."""
    message: str = ""
    """Why it did not finish; at most a few lines, written for whoever wrote the source."""
    line: int = 0
    """Line of the source that the message is about; 0 when there is none."""
    calls: int = 0
    """Calls of the host."""
    fuel: int = 0
    """Steps used."""
    prints: str = ""
    """What was printed, up to 16 KB."""
    own_seconds: float = 0.0
    """Wall time outside host calls."""
    host_seconds: float = 0.0
    """Wall time inside host calls."""
    cpu_seconds: float = 0.0
    """Processor time of the run's process."""
    peak_bytes: int = 0
    """Peak resident memory of the run's process."""
    source_hash: str
    """sha256 (hexadecimal) of the source."""
    level: str
    """The layers that confined it, joined by `+`."""


class Violation(Record):
    """One thing that the language policy does not allow."""

    line: int
    """Line of the source, from 1; 0 when it is about the whole source."""
    message: str
    """What is wrong, and what to write instead."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class HostCallError(Exception):
    """A host call that did not work; the message is short and reaches the source, which may catch it."""


class SandboxUnavailable(Exception):
    """The sandbox itself failed: never the fault of the source, never scored against a harness."""


class NoArguments(BaseModel):
    """Arguments of a method that takes none."""


@dataclass(frozen=True)
class HostMethod:
    """A function of the host that a source may call."""

    run: Callable[[Any], Any]
    """Receives a checked instance of `arguments`, and returns JSON.

    `HostCallError` reaches the source. Any other exception ends the run and is raised from `run` of the
    sandbox.
    """
    arguments: type[BaseModel] = NoArguments
    """Names, order (for positional calls), types and defaults of the arguments."""


@dataclass(frozen=True)
class HostApi:
    """The first argument of a source: `ctx` of a strategy, `memory` of a tool."""

    methods: Mapping[str, HostMethod]
    data: Mapping[str, Any] = field(default_factory=dict)
    """Plain values (JSON) beside the methods; an object can be read by attribute or by item."""


class SandboxBackend(Protocol):
    """Runs source that nobody trusts."""

    @property
    def level(self) -> str:
        """The layers that confine each run, joined by `+`; SandboxUnavailable when it cannot start."""
        ...

    def run(
        self, source: str, entry: str, arguments: Mapping[str, Any], api: HostApi, limits: SandboxLimits
    ) -> SandboxResult:
        """Call `entry(api, **arguments)` of the source. Never raises for what the source does.

        Raises SandboxUnavailable, and whatever a host method raised other than HostCallError.
        """
        ...

    def check(self, source: str, entry: str) -> list[Violation]:
        """What the language policy does not allow in a source; nothing is run."""
        ...

    def close(self) -> None:
        """End every process that belongs to it; it may be used again afterwards."""
        ...
