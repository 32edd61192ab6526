"""One run in monty: this process checks and rewrites the source, and speaks for the interpreter beside it.

The interpreter is another confined process (`monty_worker`). This one believes nothing that it says: values
pass the same checks as in the `process` backend before they reach the host, and so do calls.
"""

import json
import socket
import sys
from collections.abc import Callable
from typing import Any

from . import execute, framing, guards, monty_wire, policy
from .execute import COMPILE_RECURSION, RECURSION
from .framing import LARGEST_ANSWER, LONGEST_MESSAGE
from .guards import HostCallError
from .monty_prelude import PRELUDE
from .monty_source import MEMBERS, Program, translated
from .monty_wire import COMPLETE, ERROR, FUNCTION_CALL, NAME_LOOKUP, Raised, Worker
from .monty_worker import companion

__all__ = ["companion", "serve"]

SOURCE_FILE = "<python-input-1>"
"""What the interpreter calls its second snippet; the first is the prelude."""
MOST_SUSPENSIONS = 1 << 30

translated("def strategy(ctx, question):\n    '\\n'\n    return [f'{x:.1f}\\n' for x in question]\n")
# What this needs is imported now, before any process is confined.


class _Ended(Exception):
    """The run is over; the argument holds the fields of its end."""


def serve(connection: socket.socket, beside: socket.socket) -> None:
    """Read one job from the host, have the interpreter do it, send what came of it."""
    job = framing.receive(connection, largest=framing.LARGEST_FROM_HOST)
    sys.setrecursionlimit(COMPILE_RECURSION)
    code, violations = policy.checked(job["source"], job["entry"])
    program = None
    if code is not None:
        program, violations = translated(job["source"], job.get("methods", ()))
    program = execute.accepted(connection, job, program, violations)
    if program is not None:
        framing.send(connection, {"end": _Run(connection, beside, job, program).end()})


class _Run:
    """One program in the interpreter."""

    def __init__(self, connection: socket.socket, beside: socket.socket, job: Any, program: Program) -> None:
        self._job = job
        self._program = program
        self._worker = Worker(beside)
        self._fuel = 0
        """Steps taken, as far as is known."""
        self._waiting = True
        """Whether the interpreter waits for a snippet, as far as is known."""
        self._methods: dict[str, Callable[..., Any]] = {
            name: execute.host_method(connection, name, tuple(parameters), self._over)
            for name, parameters in job["methods"].items()
        }

    def end(self) -> dict[str, Any]:
        """Run it, and say how it ended."""
        limits = self._job["limits"]
        if not self._worker.configure(
            self._job["entry"], limits["memory_bytes"], RECURSION, MOST_SUSPENSIONS
        ):
            raise framing.Closed
        seed = json.dumps(self._job["arguments"], sort_keys=True)
        names = {
            "_most_steps_": limits["steps"],
            "_seed_": seed,
            "_most_bits_": guards.MOST_BITS,
            "_longest_product_": guards.LONGEST_PRODUCT,
            "_wide_format_": guards.WIDE_FORMAT.pattern,
            "_math_names_": MEMBERS["math"],
            "_random_names_": MEMBERS["random"],
        }
        if self._turns(self._worker.feed(PRELUDE, names))[0] != COMPLETE:
            raise framing.Closed
        end = self._outcome()
        if self._waiting:
            kind, event = self._turns(self._worker.feed("_steps_", {}))
            self._took(monty_wire.completed(event) if kind == COMPLETE else 0)
        if self._over():  # whatever a `finally` made of it
            end = {"kind": "step_budget_exceeded", "message": f"used all {limits['steps']} steps"}
        return {**end, "fuel": self._fuel, "prints": self._worker.prints}

    def _took(self, steps: Any) -> None:
        self._fuel = max(self._fuel, steps if isinstance(steps, int) else 0)

    def _over(self) -> bool:
        return self._fuel > int(self._job["limits"]["steps"])

    def _outcome(self) -> dict[str, Any]:
        names = {
            "_data_": self._job["data"],
            "_methods_": list(self._methods),
            "_arguments_": self._job["arguments"],
        }
        try:
            kind, event = self._turns(self._worker.feed(self._program.text, names))
            if kind == COMPLETE:
                call = f"{self._job['entry']}(_context_(_data_, _methods_), **_arguments_)"
                kind, event = self._turns(self._worker.feed(call, {}))
            if kind == ERROR:
                return self._failed(monty_wire.raised(event))
            return {"kind": "finished", "value": execute.plain(monty_wire.completed(event), LARGEST_ANSWER)}
        except execute.NotJson as error:
            return {"kind": "invalid_answer", "message": f"the answer is no JSON value: {error}"}
        except monty_wire.TooLarge as error:
            self._waiting = False
            if error.event == FUNCTION_CALL:
                return {"kind": "host_call_error", "message": "the arguments of a call are too large"}
            return {"kind": "invalid_answer", "message": "the answer is too large"}
        except MemoryError:
            self._waiting = False
            return {"kind": "memory_limit_exceeded", "message": "out of memory"}

    def _turns(self, turn: tuple[int, monty_wire.Fields]) -> tuple[int, monty_wire.Fields]:
        """Answer what the interpreter asks until it is done."""
        while True:
            kind, event = turn
            if kind == FUNCTION_CALL:
                turn = self._called(event)
            elif kind == NAME_LOOKUP:
                turn = self._worker.resume_undefined()
            elif kind in (COMPLETE, ERROR):
                return turn
            else:
                raise framing.Closed

    def _called(self, event: monty_wire.Fields) -> tuple[int, monty_wire.Fields]:
        number, function, positional = monty_wire.called(event)
        if function != "_host_":
            return self._worker.resume_unknown(number, function)
        try:
            name, arguments, keywords, steps = positional
            self._took(steps)
            return self._worker.resume(number, self._methods[name](*arguments, **keywords))
        except guards.OutOfFuel:
            return self._worker.resume_raising(number, "SystemExit", "steps")
        except HostCallError as error:
            return self._worker.resume_raising(number, "OSError", str(error))

    def _failed(self, raised: Raised) -> dict[str, Any]:
        if raised.type == "SystemExit":  # out of steps
            return {}
        line = next((n for file, n in reversed(raised.lines) if file == SOURCE_FILE), 0)
        end: dict[str, Any] = {"line": self._program.lines.get(line, 0)}
        message = raised.message[:LONGEST_MESSAGE]
        if raised.type == "MemoryError":
            return {**end, "kind": "memory_limit_exceeded", "message": "out of memory"}
        if raised.type == "RecursionError":
            return {**end, "kind": "recursion_limit", "message": "calls nest too deeply"}
        if raised.type == "OSError":
            return {**end, "kind": "host_call_error", "message": message}
        if raised.type == "SyntaxError" or message.startswith("The monty syntax parser"):
            return {**end, "kind": "policy_violation", "message": f"this does not run in monty: {message}"}
        message = message.replace("'_Ctx_'", "'ctx'").replace("'_View_'", "'view'")
        return {**end, "kind": "strategy_error", "message": f"{raised.type}: {message}"}
