"""Runs strategy code and tools that a model wrote: language policy, confined processes, limits."""

from evoharness.sandbox.backends import check_source, make_sandbox
from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import (
    HostApi,
    HostCallError,
    HostMethod,
    NoArguments,
    SandboxBackend,
    SandboxLevel,
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
    Violation,
    demand_level,
)
from evoharness.sandbox.tools import ToolReport, verify_tool

__all__ = [
    "HostApi",
    "HostCallError",
    "HostMethod",
    "NoArguments",
    "ProcessSandbox",
    "SandboxBackend",
    "SandboxLevel",
    "SandboxLimits",
    "SandboxResult",
    "SandboxUnavailable",
    "ToolReport",
    "Violation",
    "check_source",
    "demand_level",
    "make_sandbox",
    "verify_tool",
]
