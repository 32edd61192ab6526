"""Runs strategy code and tools that a model wrote: language policy, confined processes, limits."""

from evoharness.sandbox.backends import check_source, make_sandbox
from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import (
    HostApi,
    HostCallError,
    HostMethod,
    NoArguments,
    SandboxBackend,
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
    Violation,
)

__all__ = [
    "HostApi",
    "HostCallError",
    "HostMethod",
    "NoArguments",
    "ProcessSandbox",
    "SandboxBackend",
    "SandboxLimits",
    "SandboxResult",
    "SandboxUnavailable",
    "Violation",
    "check_source",
    "make_sandbox",
]
