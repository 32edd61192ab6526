"""One run, from the job to its last message, in a process that then ends."""

import json
import math
import socket
import sys
import unicodedata  # noqa: F401  (the parser wants it for names that are not ASCII)
from collections.abc import Callable
from typing import Any, TypeVar

from . import framing, policy
from .framing import DEEPEST_VALUE, LARGEST_ANSWER, LARGEST_INTEGER, LONGEST_MESSAGE
from .guards import Api, Fuel, HostCallError, OutOfFuel, Printer, View, environment, text

RECURSION = 400
COMPILE_RECURSION = 1200
MOST_VALUES = 100_000
MOST_VIOLATIONS = 200
HINTS = {
    "set": "; use sorted(…)",
    "frozenset": "; use sorted(…)",
    "range": "; use list(…)",
    "generator": "; use list(…)",
}
"""What to do about a value that is no JSON."""
Program = TypeVar("Program")
"""What a checked source has become."""

policy.checked("def strategy(ctx, question):\n    return [x for x in f'{1:.1f}']\n", "strategy")
environment(Fuel(1), Printer(), "").clear()
# What these import when they are first used is imported now, before any process is confined.


class NotJson(Exception):
    """A value that does not survive JSON; the argument says why."""


def serve(connection: socket.socket, limit_recursion: Callable[[int], None] = sys.setrecursionlimit) -> None:
    """Read one job from the host, do it, send what came of it."""
    job = framing.receive(connection, largest=framing.LARGEST_FROM_HOST)
    limit_recursion(COMPILE_RECURSION)
    code = accepted(connection, job, *policy.checked(job["source"], job["entry"]))
    if code is None:
        return
    fuel, printer = Fuel(job["limits"]["steps"]), Printer()
    end = _outcome(connection, job, code, fuel, printer, limit_recursion)
    _end(connection, {**end, "fuel": fuel.used, "prints": printer.text})


def accepted(
    connection: socket.socket, job: Any, program: Program | None, violations: list[policy.Violation]
) -> Program | None:
    """The program of a job that is to be run; None when the host has been told all that it asked for."""
    if job["verb"] != "check" and program is not None:
        return program
    line, message = violations[0] if violations else (0, "")
    kind = "policy_violation" if violations else "finished"
    value = violations[:MOST_VIOLATIONS] if job["verb"] == "check" else None
    _end(connection, {"kind": kind, "value": value, "line": line, "message": message})
    return None


def _outcome(
    connection: socket.socket,
    job: Any,
    code: Any,
    fuel: Fuel,
    printer: Printer,
    limit_recursion: Callable[[int], None],
) -> dict[str, Any]:
    names = environment(fuel, printer, seed=json.dumps(job["arguments"], sort_keys=True))
    end = _run(connection, job, code, names, fuel, limit_recursion)
    limit_recursion(COMPILE_RECURSION)
    if fuel.over:  # whatever a `finally` made of it
        told = f"used all {fuel.steps} steps"
        return {"kind": "step_budget_exceeded", "message": told, "line": end.get("line", 0)}
    return end


def _run(
    connection: socket.socket,
    job: Any,
    code: Any,
    names: dict[str, Any],
    fuel: Fuel,
    limit_recursion: Callable[[int], None],
) -> dict[str, Any]:
    entry = job["entry"]
    try:
        limit_recursion(RECURSION)
        exec(code, names)
        value = names[entry](_api(connection, job, fuel), **job["arguments"])
        limit_recursion(COMPILE_RECURSION)
        return {"kind": "finished", "value": plain(value, LARGEST_ANSWER)}
    except OutOfFuel as error:
        return {"line": _line(error, entry)}
    except MemoryError as error:
        return {"kind": "memory_limit_exceeded", "message": "out of memory", "line": _line(error, entry)}
    except RecursionError as error:
        return {"kind": "recursion_limit", "message": "calls nest too deeply", "line": _line(error, entry)}
    except NotJson as error:
        return {"kind": "invalid_answer", "message": f"the answer is no JSON value: {error}"}
    except framing.Closed:
        raise
    except Exception as error:
        limit_recursion(COMPILE_RECURSION)
        if isinstance(error, HostCallError):
            return {"kind": "host_call_error", "message": _text(error), "line": _line(error, entry)}
        message = f"{type(error).__name__}: {_text(error)}"
        return {"kind": "strategy_error", "message": message, "line": _line(error, entry)}


def _api(connection: socket.socket, job: Any, fuel: Fuel) -> Api:
    members: dict[str, Any] = {
        name: View(value) if isinstance(value, dict) else value for name, value in job["data"].items()
    }
    for name, parameters in job["methods"].items():
        members[name] = host_method(connection, name, tuple(parameters), lambda: fuel.over)
    return Api(members)


def host_method(
    connection: socket.socket, name: str, parameters: tuple[str, ...], over: Callable[[], bool]
) -> Callable[..., Any]:
    """A function that asks the host; `over` says that the run may not go on."""

    def call(*positional: Any, **named: Any) -> Any:
        if over():
            raise OutOfFuel
        if len(positional) > len(parameters):
            raise HostCallError(f"{name} takes {len(parameters)} arguments: {', '.join(parameters)}")
        arguments = dict(zip(parameters, positional, strict=False))
        for key, value in named.items():
            if key in arguments or key not in parameters:
                known = ", ".join(parameters) or "none"
                raise HostCallError(f"{name}: argument {key!r} is unknown or given twice (it takes: {known})")
            arguments[key] = value
        try:
            message = {"call": name, "arguments": plain(arguments, framing.LARGEST - 1024)}
        except NotJson as error:
            raise HostCallError(f"{name}: arguments must be JSON values: {error}") from None
        framing.send(connection, message)
        reply = framing.receive(connection, largest=framing.LARGEST_FROM_HOST)
        if "error" in reply:
            raise HostCallError(reply["error"])
        return reply["value"]

    return call


def plain(value: Any, largest: int) -> Any:
    """The value itself when it is small, shallow JSON of exact types; else NotJson."""
    layer = [value]
    count = 0
    for _ in range(DEEPEST_VALUE):
        inner: list[Any] = []
        for item in layer:
            kind = type(item)
            if kind is dict:
                if not all(type(key) is str for key in item):
                    raise NotJson("keys must be text")
                inner.extend(item.values())
            elif kind in (list, tuple):
                inner.extend(item)
            elif kind is View:
                raise NotJson("pass single values of ctx, not the whole")
            elif kind is float and not math.isfinite(item):
                raise NotJson("numbers must be finite")
            elif kind is int and abs(item) > LARGEST_INTEGER:
                raise NotJson("whole numbers must fit into 64 bits")
            elif not (item is None or kind in (str, int, float, bool)):
                raise NotJson(f"{kind.__name__} is not allowed{HINTS.get(kind.__name__, '')}")
        count += len(inner)
        if count > MOST_VALUES:
            raise NotJson(f"more than {MOST_VALUES} values")
        if not inner:
            break
        layer = inner
    else:
        raise NotJson(f"nested more than {DEEPEST_VALUE} levels")
    if _size(value) > largest:
        raise NotJson(f"larger than {largest // 1024} KB")
    return value


def _size(value: Any) -> int:
    try:
        return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "strict"))
    except UnicodeEncodeError:
        raise NotJson("text that is no Unicode") from None


def _end(connection: socket.socket, end: dict[str, Any]) -> None:
    framing.send(connection, {"end": end})


def _text(error: Exception) -> str:
    try:
        return text(error)[:LONGEST_MESSAGE]
    except Exception:
        return ""


def _line(error: BaseException, entry: str) -> int:
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == f"<{entry}>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
