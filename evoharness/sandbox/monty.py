"""The `monty` backend: the interpreter of pydantic-monty, confined like the runs of `process`.

pydantic-monty runs code in a program of its own, `monty`, written in Rust: Python without CPython. Here a
run has two processes, forked by the fork server and confined each by itself: one checks the source against
the language policy, rewrites it and speaks with the host exactly as in the `process` backend; the other has
become `monty` and speaks with the first alone. Limits, host calls, kinds of ends and fuel are those of
`process`; both processes end with the run.

What differs from `process`, all of it with a typed end:

- generators (`yield`) and `del name` are violations;
- running out of memory cannot be caught by the source;
- `repr` of a caught HostCallError names the builtin class that stands for it, OSError;
- lines of errors are those of the statement, which may begin some lines earlier;
- messages of errors are monty's, which now and then differ from CPython's.
"""

import importlib.metadata
import re
import subprocess
from pathlib import Path
from typing import Any

from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import HostApi, SandboxLevel, SandboxLimits, SandboxUnavailable

RUNTIME = "pydantic-monty-runtime"
WAY_OUT = "pip install 'evoharness[monty]'"
_SMALLEST = "def strategy(ctx, question):\n    return question\n"


class MontySandbox(ProcessSandbox):
    """Runs sources in monty. SandboxUnavailable at the first use when it is not installed or does not start.

    `allow_weaker`: run code even where the system cannot confine it with Landlock and seccomp.
    """

    program = "monty"

    def __init__(self, allow_weaker: bool = False) -> None:
        super().__init__(allow_weaker)

    def _arguments(self) -> list[str]:
        binary = monty_binary()
        return [str(binary), *_libraries(binary)]


def monty_binary() -> Path:
    """The interpreter's program. SandboxUnavailable when it is not installed."""
    try:
        files = importlib.metadata.files(RUNTIME) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise SandboxUnavailable(f"pydantic-monty is not installed: {WAY_OUT}") from error
    for file in files:
        if file.name == "monty":
            return Path(str(file.locate())).resolve()
    raise SandboxUnavailable(f"{RUNTIME} has no program: {WAY_OUT}")


def _libraries(binary: Path) -> list[str]:
    """The files that the system loads to start a program."""
    told = subprocess.run(
        [binary],
        env={"LD_TRACE_LOADED_OBJECTS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    return re.findall(r"(/\S+) \(0x", told.stdout)
