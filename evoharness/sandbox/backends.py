"""Backends by name, and the one that this process checks sources with."""

from functools import cache

from evoharness.errors import UserError
from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import SandboxBackend, Violation

BACKENDS = ("process", "monty", "inprocess")


def make_sandbox(name: str = "process", allow_weaker: bool = False) -> SandboxBackend:
    """The backend of that name; UserError when there is none.

    `allow_weaker`: run code even where it cannot be confined with Landlock and seccomp.
    """
    if name == "process":
        return ProcessSandbox(allow_weaker)
    if name == "monty":
        from evoharness.sandbox.monty import MontySandbox

        return MontySandbox(allow_weaker)
    if name == "inprocess":
        from evoharness.sandbox.inprocess import UnsafeInProcessSandbox

        return UnsafeInProcessSandbox(allow_weaker)
    raise UserError(f"there is no sandbox {name!r} (there is: {', '.join(BACKENDS)})")


def check_source(source: str, entry: str = "strategy") -> list[Violation]:
    """What the language policy does not allow in a source; empty when it may run.

    The source is parsed in a confined process, never here. Raises SandboxUnavailable.
    """
    return _checker().check(source, entry)


@cache
def _checker() -> ProcessSandbox:
    return ProcessSandbox()
