"""The host's side of one run: answer calls, keep time, believe nothing that can be checked."""

import socket
import time
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from evoharness.records.json_values import one_line, printable
from evoharness.sandbox.confined import framing
from evoharness.sandbox.result import (
    REPORTED,
    HostApi,
    HostCallError,
    Kind,
    SandboxLevel,
    SandboxLimits,
    SandboxUnavailable,
)

LARGEST_REPLY = 8 << 20
"""Bytes of the largest reply to a host call."""
MOST_ARGUMENTS = 64
"""Arguments of one call; to refuse an argument costs time."""
MOST_RECEIVED = 8 << 20
"""Bytes of all messages of one run; whoever keeps its calls keeps no more than this."""


READY_SECONDS = 20.0
OF_THE_SERVER = ("namespaces", "memory_watch")
"""Layers that a run inherits or that lie around it, so that it does not report them."""


class _Ready(BaseModel):
    """The first message of a run."""

    ready: list[str]
    """Names of the layers that hold."""


class _End(BaseModel):
    """The last message of a run."""

    kind: str
    value: Any = None
    message: str = ""
    line: int = Field(default=0, ge=0, le=framing.LARGEST)
    fuel: int = Field(default=0, ge=0)
    prints: str = ""


class _Call(BaseModel):
    """A message that asks for a host call."""

    call: str
    arguments: dict[str, Any] = Field(max_length=MOST_ARGUMENTS)


class Session:
    """One run over one socket."""

    def __init__(self, connection: socket.socket, api: HostApi, limits: SandboxLimits) -> None:
        self._connection = connection
        self._api = api
        self._limits = limits
        self._total = time.monotonic() + limits.total_seconds
        self._received = 0
        self.calls = 0
        self.own_seconds = 0.0
        self.host_seconds = 0.0
        self.hung_up = False
        """The other side closed the connection without a last message."""

    def begin(self, level: SandboxLevel) -> None:
        """Hand over the limits, and wait until the run is confined to that level.

        SandboxUnavailable when it is not: nothing of the source has reached it yet, so it is not to blame.
        """
        until = time.monotonic() + READY_SECONDS
        try:
            framing.send(self._connection, self._limits.model_dump(), until)
            held = _Ready.model_validate(framing.receive(self._connection, until)).ready
        except (framing.Late, framing.Closed, framing.FramingError, ValidationError) as error:
            raise SandboxUnavailable(f"a run did not start ({type(error).__name__})") from error
        lacking = [layer for layer in level.layers if layer not in held and layer not in OF_THE_SERVER]
        if lacking:
            raise SandboxUnavailable(f"a run was to be confined to {level}, and lacks {', '.join(lacking)}")

    def conduct(self, job: dict[str, Any]) -> tuple[Kind, dict[str, Any]]:
        """Send the job and answer calls until the run ends; its kind and the fields of its end.

        Exceptions of host methods other than HostCallError pass through.
        """
        try:
            self._send(_plain(job))
            while True:
                message = self._receive()
                if not isinstance(message, dict):
                    raise framing.FramingError("a message that is no object")
                if "end" in message:
                    return self._ended(_End.model_validate(message["end"]))
                if self.calls == self._limits.host_calls:
                    return _over_budget(f"made all {self._limits.host_calls} host calls")
                if self._received > MOST_RECEIVED:
                    return _over_budget(f"sent more than {MOST_RECEIVED >> 20} MB in host calls")
                self.calls += 1
                self._send(self._answer(_Call.model_validate(message)))
        except framing.Late:
            return "wall_timeout", {"message": "took too long"}
        except framing.Closed:
            self.hung_up = True
            return "worker_crashed", {}
        except framing.FramingError as error:
            return "protocol_violation", {"message": one_line(str(error), framing.LONGEST_MESSAGE)}
        except ValidationError as error:
            said = f"not a message: {_first(error)}"
            return "protocol_violation", {"message": one_line(said, framing.LONGEST_MESSAGE)}

    def _ended(self, end: _End) -> tuple[Kind, dict[str, Any]]:
        kind = next((kind for kind in REPORTED if kind == end.kind), None)
        if kind is None:
            raise framing.FramingError(f"an end of kind {end.kind[:40]!r}")
        if end.value is not None and len(framing.encoded(end.value)) > framing.LARGEST_ANSWER:
            raise framing.FramingError(f"an answer of more than {framing.LARGEST_ANSWER} bytes")
        fields = end.model_dump(exclude={"kind"})
        fields["fuel"] = min(end.fuel, self._limits.steps + 1)
        fields["message"] = one_line(end.message, framing.LONGEST_MESSAGE)
        fields["prints"] = printable(end.prints[: framing.LONGEST_PRINTS])
        return kind, fields

    def _answer(self, call: _Call) -> bytes:
        """The JSON of the reply to a call."""
        method = self._api.methods.get(call.call)
        if method is None:
            return _error(f"there is no {call.call[:40]!r}")
        started = time.monotonic()
        try:
            arguments = method.arguments.model_validate(call.arguments)
            value = method.run(arguments)
        except ValidationError as error:
            return _error(f"{call.call}: {_first(error)}")
        except HostCallError as error:
            return _error(f"{call.call}: {error}")
        finally:
            self.host_seconds += time.monotonic() - started
        reply = _plain({"value": value})
        if len(reply) > LARGEST_REPLY:
            return _error(f"{call.call}: the reply is larger than {LARGEST_REPLY >> 20} MB; ask for less")
        return reply

    def _send(self, body: bytes) -> None:
        started = time.monotonic()
        try:
            framing.send_body(self._connection, body, self._deadline())
        finally:
            self.own_seconds += time.monotonic() - started

    def _receive(self) -> Any:
        started = time.monotonic()
        try:
            body = framing.receive_body(self._connection, self._deadline())
            self._received += len(body)
            return framing.decoded(body)
        finally:
            self.own_seconds += time.monotonic() - started

    def _deadline(self) -> float:
        own = time.monotonic() + self._limits.own_seconds - self.own_seconds
        return min(own, self._total)


def _plain(message: Any) -> bytes:
    """The JSON of what the host sends; ValueError, a defect of the host, when the run could not read it."""
    body = framing.encoded(message)
    try:
        framing.decoded(body)
    except framing.FramingError as error:
        raise ValueError(f"the host sends what is no plain data: {error}") from error
    return body


def _over_budget(message: str) -> tuple[Kind, dict[str, Any]]:
    return "host_call_budget_exceeded", {"message": message}


def _error(message: str) -> bytes:
    return framing.encoded({"error": one_line(message, framing.LONGEST_MESSAGE)})


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
