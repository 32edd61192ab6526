"""Verification of a generated tool (A.4): the language policy first, then every test that it comes with.

What a tool may call is up to whoever verifies it: the `api` given here is the one of its later runs. The
source is parsed and run in the sandbox only, and its results are judged as decoded JSON. The tests come
from whoever wrote the tool: passing them shows that it runs and keeps its own promises, no more.
"""

from typing import Any

from evoharness.records.base import Record
from evoharness.records.json_values import fault, fits, one_line, same, shown, type_of
from evoharness.records.tool import ToolManifest, ToolTest
from evoharness.sandbox.confined.names import BUILTIN_NAMES
from evoharness.sandbox.result import HostApi, SandboxBackend, SandboxLimits, SandboxResult

LONGEST_LINE = 600
MOST_VIOLATIONS = 20

_OF_THIS_TEST = frozenset({"finished", "strategy_error", "host_call_error", "invalid_answer"})
"""Ends that other arguments may well not lead to; after any other one no further test is run."""


class ToolReport(Record):
    """What verification found; each line names its place, and can be handed to whoever revises the tool."""

    violations: tuple[str, ...] = ()
    """What keeps the tool from being run at all; no test was run then."""
    failures: tuple[str, ...] = ()
    """Tests that were not passed, in their order."""
    tests: int = 0
    """How many tests were run."""

    @property
    def passed(self) -> bool:
        """Whether the tool may be offered to a Solver."""
        return self.tests > 0 and not self.lines

    @property
    def lines(self) -> tuple[str, ...]:
        """Everything that is wrong."""
        return self.violations + self.failures


def verify_tool(
    sandbox: SandboxBackend, source: str, manifest: ToolManifest, api: HostApi, limits: SandboxLimits
) -> ToolReport:
    """Check a tool and run its tests, each in a confined process of its own.

    That the entry function takes the arguments of the signature is seen by calling it: in a manifest every
    argument is used by a test. After a test that used up a limit the remaining ones are not run.

    Raises SandboxUnavailable and whatever a method of `api` raises: neither is the fault of the tool.
    """
    taken = sorted(BUILTIN_NAMES.intersection(manifest.signature))
    if taken:
        lines = [f"argument {name!r} is built in: choose another name" for name in taken]
        return ToolReport(violations=tuple(lines))
    violations = sandbox.check(source, "tool")
    if violations:
        lines = [one_line(str(violation), LONGEST_LINE) for violation in violations[:MOST_VIOLATIONS]]
        return ToolReport(violations=tuple(lines))
    failures: list[str] = []
    for number, test in enumerate(manifest.tests, start=1):
        result = sandbox.run(source, "tool", test.arguments, api, limits)
        said = _shortfall(test, result, manifest)
        if said:
            place = f"test {number}, arguments {shown(test.arguments)}: "
            failures.append(one_line(place + said, LONGEST_LINE))
        if result.kind not in _OF_THIS_TEST:
            left = len(manifest.tests) - number
            if left:
                failures.append(
                    f"the other {left} tests were not run" if left > 1 else "the last test was not run"
                )
            return ToolReport(failures=tuple(failures), tests=number)
    return ToolReport(failures=tuple(failures), tests=len(manifest.tests))


def unmet(test: ToolTest, value: Any) -> str:
    """Why a result (decoded JSON) does not fulfil what a test expects; empty when it does.

    Equality is that of JSON: 1 equals 1.0 and not true, the order of a list counts, that of an object does
    not. `at_least` is about numbers, `non_empty` about texts, lists and objects; other values fail them.
    """
    name, wanted = test.expects
    if said := fault(value):
        return f"the result is no JSON value that could be compared: {said}"
    came = f"and not {shown(value)} ({type_of(value)})"
    if name == "equals":
        met, expected = same(value, wanted), shown(wanted)
    elif name == "at_least":
        met, expected = fits(value, "number") and value >= wanted, f"a number of at least {shown(wanted)}"
    elif name == "type":
        met, expected = fits(value, wanted), f"a value of the type {wanted}"
    else:
        holds = isinstance(value, str | list | dict) and len(value) > 0
        met, expected = holds, "a text, a list or an object that is not empty"
    return "" if met else f"expected {expected}, {came}"


def _shortfall(test: ToolTest, result: SandboxResult, manifest: ToolManifest) -> str:
    if result.kind == "finished":
        return unmet(test, result.value)
    where = f" at line {result.line}" if result.line else ""
    said = f"ended in {result.kind}{where}: {result.message}"
    if result.kind == "strategy_error" and "tool()" in result.message:
        said += f"; by its signature it begins with {manifest.head}"
    return said
