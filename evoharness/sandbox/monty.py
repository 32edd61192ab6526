"""The `monty` backend: the interpreter of pydantic-monty, confined like the runs of `process`.

pydantic-monty runs code in a program of its own, `monty`, written in Rust: Python without CPython. Here a
run has two processes, forked by the fork server and confined each by itself: one checks the source against
the language policy, rewrites it and speaks with the host exactly as in the `process` backend; the other has
become `monty` and speaks with the first alone. Limits, host calls, kinds of ends and fuel are those of
`process`; both processes end with the run.

What differs from `process` and ends a run:

- generators (`yield`), `del name` and functions nested more than ten deep are violations; so are calls and
  comprehensions with more than 255 parts and nesting that is too deep for monty, which only a run finds;
- running out of memory cannot be caught by the source;
- exceptions cannot be keys or members of sets; `int` and `float` read the digits 0 to 9 only;
- inside of `sorted`, `map` and the like, calls nest less deep; so do those of a function that was kept in a
  variable or a container before it was called.

What differs and does not show in how a run ends:

- generator expressions, `map` and `filter` do all their work at once when what they call may ask the host,
  when they hold `:=` or a lambda that is kept, and in the inner loops of a generator expression; `any`,
  `all` and `next` of a generator expression stop where they stop in Python all the same;
- `reversed` takes the items that are there when it is called;
- sets are in the order of insertion, here as there the same on every run;
- text is Unicode: half of a surrogate pair is replaced;
- functions and iterators are shown with a number or without, which is no address; `x.append == x.append`
  is false;
- `repr` of a HostCallError names the builtin class that stands for it, OSError, and exceptions keep their
  arguments as text;
- the line of an error is that of the statement; an error that no handler of a `try` took has a later line;
- messages of errors are monty's, also where the source reads them; steps are counted nearly as there.
"""

import importlib.metadata
import re
import subprocess
from pathlib import Path
from typing import Any

from evoharness.sandbox.fork_server import Ended
from evoharness.sandbox.job import run_job
from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import HostApi, Kind, SandboxLevel, SandboxLimits, SandboxUnavailable

OUT_OF_MEMORY = 65
"""Exit code of an interpreter that the system refuses memory."""
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
        self._tried = False

    @property
    def level(self) -> SandboxLevel:
        """The layers that confine each run here, once one has worked."""
        level = super().level
        if not self._tried:
            self._try()
        return level

    def _try(self) -> None:
        api, limits = HostApi({}), SandboxLimits()
        result = self._session(run_job(_SMALLEST, "strategy", {"question": 1}, api, limits), api, limits)
        if result.kind != "finished":
            raise SandboxUnavailable(
                f"monty {importlib.metadata.version(RUNTIME)} does not run here ({result.message}); "
                f"{WAY_OUT} brings a version that is known to"
            )
        self._tried = True

    def _arguments(self) -> list[str]:
        binary = monty_binary()
        return [str(binary), *_libraries(binary)]

    def _death(self, ended: Ended, limits: SandboxLimits) -> tuple[Kind, dict[str, Any]]:
        if ended.status == OUT_OF_MEMORY:
            return "memory_limit_exceeded", {"message": "out of memory"}
        return super()._death(ended, limits)


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
    try:
        told = subprocess.run(
            [binary],
            env={"LD_TRACE_LOADED_OBJECTS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"{binary} does not start ({error}): {WAY_OUT}") from error
    return re.findall(r"(/\S+) \(0x", told.stdout)
