"""What a run in the sandbox may use, what it may call, and what comes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol, get_args

from pydantic import BaseModel, Field, computed_field, model_serializer, model_validator

from evoharness.records.base import Record

Kind = Literal[
    "finished",
    "policy_violation",
    "strategy_error",
    "host_call_error",
    "step_budget_exceeded",
    "memory_limit_exceeded",
    "recursion_limit",
    "invalid_answer",
    "host_call_budget_exceeded",
    "cpu_time_exceeded",
    "wall_timeout",
    "syscall_violation",
    "protocol_violation",
    "worker_crashed",
]
"""How a run ended. Those after `invalid_answer` are seen by the host and cannot be forged by the run."""

KINDS: tuple[Kind, ...] = get_args(Kind)
REPORTED: frozenset[Kind] = frozenset(KINDS[: KINDS.index("invalid_answer") + 1])
"""Kinds that a run may report of itself."""

SUFFICIENT = ("landlock", "seccomp")
"""The layers without which a run needs consent: no files, and hardly any system calls."""


class SandboxLevel(Record):
    """How far a run is confined; written and read as `rlimits+uid+…`."""

    layers: tuple[str, ...]
    """Of: rlimits, uid, no_new_privs, landlock, seccomp, namespaces, memory_watch; empty: none."""

    @property
    def sufficient(self) -> bool:
        """Whether a run may start without further consent."""
        return set(SUFFICIENT) <= set(self.layers)

    def __str__(self) -> str:
        return "+".join(self.layers) or "none"

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"layers": () if value == "none" else tuple(value.split("+"))}
        return value

    @model_serializer
    def _written(self) -> str:
        return str(self)


Seconds = Annotated[float, Field(gt=0, le=7 * 24 * 3600)]


class SandboxLimits(Record):
    """What one run may use."""

    steps: int = Field(default=2_000_000, gt=0, le=10**12)
    """Loop turns and function calls; the only limit that is the same on every machine."""
    cpu_seconds: int = Field(default=5, gt=0, le=24 * 3600)
    """Processor time."""
    memory_bytes: int = Field(default=256 << 20, ge=64 << 20, le=1 << 40)
    """Address space."""
    own_seconds: Seconds = 10.0
    """Wall time outside host calls."""
    total_seconds: Seconds = 900.0
    """Wall time in all."""
    host_calls: int = Field(default=100, ge=0, le=10**6)
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
    level: SandboxLevel
    """The layers that confined it."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def seconds(self) -> float:
        """Wall time in all."""
        return self.own_seconds + self.host_seconds


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


def demand_level(level: SandboxLevel, allow_weaker: bool) -> None:
    """SandboxUnavailable when that level is too weak to run anything without consent."""
    if not level.layers and not allow_weaker:
        raise SandboxUnavailable(
            "this backend confines nothing and is for tests; sandbox.allow_weaker=true accepts that"
        )
    if not (level.sufficient or allow_weaker):
        lacking = " and ".join(layer for layer in SUFFICIENT if layer not in level.layers)
        raise SandboxUnavailable(
            f"this system has no {lacking}, so code would run under {level} only; "
            "sandbox.allow_weaker=true accepts that"
        )


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
    def level(self) -> SandboxLevel:
        """The layers that confine each run; SandboxUnavailable when it cannot start."""
        ...

    def run(
        self, source: str, entry: str, arguments: Mapping[str, Any], api: HostApi, limits: SandboxLimits
    ) -> SandboxResult:
        """Call `entry(api, **arguments)` of the source. Never raises for what the source does.

        Raises SandboxUnavailable, also for a level that needs consent and has none; and whatever a host
        method raised other than HostCallError.
        """
        ...

    def check(self, source: str, entry: str) -> list[Violation]:
        """What the language policy does not allow in a source; nothing is run."""
        ...

    def close(self) -> None:
        """End every process that belongs to it; it may be used again afterwards."""
        ...
