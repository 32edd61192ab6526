"""The host's side of one run: answer calls, keep time, believe nothing that can be checked."""

import socket
import time
from typing import Any

from pydantic import BaseModel, ValidationError

from evoharness.sandbox.confined import framing
from evoharness.sandbox.result import HostApi, HostCallError, Kind, SandboxLimits

LONGEST_ERROR = 500
"""Characters of an error that reaches the source."""
REPORTED: frozenset[str] = frozenset(
    {
        "finished",
        "policy_violation",
        "strategy_error",
        "step_budget",
        "memory_limit",
        "recursion_limit",
        "invalid_answer",
    }
)
"""Kinds that a run may report of itself."""


class _End(BaseModel):
    """The last message of a run."""

    kind: str
    value: Any = None
    message: str = ""
    line: int = 0
    fuel: int = 0
    prints: str = ""


class _Call(BaseModel):
    """A message that asks for a host call."""

    call: str
    arguments: dict[str, Any]


class Session:
    """One run over one socket."""

    def __init__(self, connection: socket.socket, api: HostApi, limits: SandboxLimits) -> None:
        self._connection = connection
        self._api = api
        self._limits = limits
        self._total = time.monotonic() + limits.total_seconds
        self.calls = 0
        self.own_seconds = 0.0
        self.host_seconds = 0.0
        self.hung_up = False
        """The other side closed the connection without a last message."""

    def conduct(self, job: dict[str, Any]) -> tuple[Kind, dict[str, Any]]:
        """Send the job and answer calls until the run ends; its kind and the fields of its end.

        Exceptions of host methods other than HostCallError pass through.
        """
        try:
            self._send(job["limits"] if "limits" in job else self._limits.model_dump())
            self._send(job)
            while True:
                message = self._receive()
                if not isinstance(message, dict):
                    raise framing.FramingError("a message that is no object")
                if "end" in message:
                    return self._ended(_End.model_validate(message["end"]))
                self.calls += 1
                if self.calls > self._limits.host_calls:
                    return "host_call_budget", {"message": f"made all {self._limits.host_calls} host calls"}
                self._send(self._answer(_Call.model_validate(message)))
        except framing.Late:
            return "wall_timeout", {"message": "took too long"}
        except framing.Closed:
            self.hung_up = True
            return "worker_crashed", {}
        except (framing.FramingError, ValidationError) as error:
            return "protocol_violation", {"message": str(error)[:LONGEST_ERROR]}

    def _ended(self, end: _End) -> tuple[Kind, dict[str, Any]]:
        if end.kind not in REPORTED:
            raise framing.FramingError(f"an end of kind {end.kind[:40]!r}")
        fields = end.model_dump()
        return fields.pop("kind"), {**fields, "message": end.message[:LONGEST_ERROR]}

    def _answer(self, call: _Call) -> dict[str, Any]:
        method = self._api.methods.get(call.call)
        if method is None:
            return {"error": f"there is no {call.call[:40]!r}"}
        started = time.monotonic()
        try:
            arguments = method.arguments.model_validate(call.arguments)
            return {"value": method.run(arguments)}
        except ValidationError as error:
            return {"error": f"{call.call}: {_first(error)}"[:LONGEST_ERROR]}
        except HostCallError as error:
            return {"error": f"{call.call}: {error}"[:LONGEST_ERROR]}
        finally:
            self.host_seconds += time.monotonic() - started

    def _send(self, message: Any) -> None:
        framing.send(self._connection, message, self._deadline())

    def _receive(self) -> Any:
        started = time.monotonic()
        try:
            return framing.receive(self._connection, self._deadline())
        finally:
            self.own_seconds += time.monotonic() - started

    def _deadline(self) -> float:
        own = time.monotonic() + self._limits.own_seconds - self.own_seconds
        return min(own, self._total)


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
