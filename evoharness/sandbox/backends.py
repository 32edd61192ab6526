"""Backends by name, and the one that this process checks sources with."""

from functools import cache

from evoharness.errors import UserError
from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import SandboxBackend, Violation


def make_sandbox(name: str = "process") -> SandboxBackend:
    """The backend of that name; UserError when there is none."""
    if name == "process":
        return ProcessSandbox()
    raise UserError(f"there is no sandbox {name!r} (there is: process)")


def check_source(source: str, entry: str = "strategy") -> list[Violation]:
    """What the language policy does not allow in a source; empty when it may run.

    The source is parsed in a confined process, never here. Raises SandboxUnavailable.
    """
    return _checker().check(source, entry)


@cache
def _checker() -> ProcessSandbox:
    return ProcessSandbox()
