"""Verification of a tool: the policy first, then every test, each fault a line that one can act on."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from evoharness.records.tool import ToolManifest, ToolTest, read_manifest
from evoharness.sandbox import (
    HostApi,
    HostCallError,
    HostMethod,
    SandboxBackend,
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
    Violation,
)
from evoharness.sandbox.tools import ToolReport, unmet, verify_tool

LIMITS = SandboxLimits(steps=20_000, host_calls=5)
KINDS = ("text", "number", "integer", "boolean", "list", "object")


class Times(BaseModel):
    start: float = 0
    end: float = 60


def _between(times: Times) -> list[str]:
    if times.end < times.start:
        raise HostCallError("start lies after end")
    return ["a", "b", "c"]


API = HostApi({"between": HostMethod(_between, Times)})


def manifest(*tests: dict[str, Any], **signature: str) -> ToolManifest:
    content = {"signature": signature, "purpose": "p", "kinds": ["counting"], "tests": tests}
    return read_manifest(json.dumps(content))


def verified(backend: SandboxBackend, body: str, described: ToolManifest) -> ToolReport:
    source = f"{described.head}:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return verify_tool(backend, source, described, API, LIMITS)


COUNT = manifest(
    {"arguments": {"start": 10, "end": 20}, "at_least": 0},
    {"arguments": {"start": 10, "end": 20}, "type": "integer"},
    {"arguments": {"start": 0, "end": 60.5}, "equals": 3.0},
    start="number: seconds",
    end="number: seconds",
)


def test_a_sound_tool_passes(backend: SandboxBackend) -> None:
    report = verified(backend, "return len(memory.between(start, end))", COUNT)
    assert report == ToolReport(tests=3)
    assert report.passed


@pytest.mark.parametrize(
    "head",
    ["def tool(memory, **arguments)", "def tool(memory, end, start=0)", "def tool(memory, *, start, end)"],
)
def test_any_head_that_takes_the_arguments_will_do(backend: SandboxBackend, head: str) -> None:
    assert verify_tool(backend, f"{head}:\n    return 3\n", COUNT, API, LIMITS).passed


@pytest.mark.parametrize(
    "head", ["def tool(memory, begin, end)", "def tool(memory)", "def tool(memory, start, end, kind)"]
)
def test_any_other_head_is_told_the_one_of_the_signature(backend: SandboxBackend, head: str) -> None:
    report = verify_tool(backend, f"{head}:\n    return 3\n", COUNT, API, LIMITS)
    assert not report.passed
    assert len(report.failures) == 3
    assert report.failures[0].endswith("; by its signature it begins with def tool(memory, start, end)")
    assert report.failures[0].startswith(
        'test 1, arguments {"start": 10, "end": 20}: ended in strategy_error'
    )


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\ndef tool(memory):\n    return 1\n", "line 1: "),
        ("def tool(memory):\n    return memory.__class__\n", "line 2: "),
        ("def tool(memory):\n    return open('x')\n", "line 2: 'open' is not available"),
        ("def count(memory):\n    return 1\n", "tool(memory"),
        ("def tool(memory:\n", "line 1: "),
        ("", "tool(memory"),
        ("def tool(memory):\n    return " + "(" * 5000, ""),
    ],
)
def test_what_the_policy_forbids_is_never_run(backend: SandboxBackend, source: str, said: str) -> None:
    report = verify_tool(backend, source, manifest({"type": "integer"}), API, LIMITS)
    assert (report.passed, report.tests, report.failures) == (False, 0, ())
    assert said in report.violations[0]


@pytest.mark.parametrize(
    ("body", "test", "said"),
    [
        ("return 2", {"at_least": 3}, "expected a number of at least 3, and not 2 (number)"),
        ("return '3'", {"at_least": 3}, 'expected a number of at least 3, and not "3" (text)'),
        ("return True", {"at_least": 0}, "expected a number of at least 0, and not true (boolean)"),
        ("return None", {"at_least": 0}, "and not null (null)"),
        (
            "return []",
            {"non_empty": True},
            "expected a text, a list or an object that is not empty, and not [] (list)",
        ),
        ("return 0", {"non_empty": True}, "and not 0 (number)"),
        ("return True", {"equals": 1}, "expected 1, and not true (boolean)"),
        ("return [2, 1]", {"equals": [1, 2]}, "expected [1, 2], and not [2, 1] (list)"),
        ("return 1.5", {"type": "integer"}, "expected a value of the type integer, and not 1.5 (number)"),
        ("return None", {"type": "text"}, "expected a value of the type text, and not null (null)"),
        ("x = []\nreturn x[0]", {"type": "text"}, "at line 3: IndexError"),
        ("memory.between(9, 3)", {"type": "text"}, "start lies after end"),
        ("return memory.look()", {"type": "text"}, "look"),
    ],
)
def test_a_failed_test_says_what_came(
    backend: SandboxBackend, body: str, test: dict[str, Any], said: str
) -> None:
    report = verified(backend, body, manifest({**test, "arguments": {}}, {"equals": None}))
    assert report.failures[0].startswith("test 1, arguments {}: ")
    assert said in report.failures[0]
    assert report.tests == 2, "the others are run all the same"


def test_all_tests_must_be_passed(backend: SandboxBackend) -> None:
    described = manifest({"equals": 1}, {"equals": 2}, {"type": "number"}, {"type": "text"})
    report = verified(backend, "return 1", described)
    assert [line.partition(",")[0] for line in report.failures] == ["test 2", "test 4"]
    assert not report.passed


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("while True:\n    pass", "step_budget_exceeded"),
        ("for i in range(99):\n    memory.between(0, 1)", "host_call_budget_exceeded"),
    ],
)
def test_after_a_limit_no_further_test_is_run(confined: SandboxBackend, body: str, kind: str) -> None:
    report = verified(confined, body, manifest(*[{"type": "number"}] * 4))
    assert report.tests == 1
    assert f"ended in {kind}" in report.failures[0]
    assert report.failures[1] == "the other 3 tests were not run"


def test_lines_are_short_and_can_be_stored(backend: SandboxBackend) -> None:
    body = "raise ValueError('a\\nb' * 3000)"
    report = verified(backend, body, manifest({"arguments": {"t": "y" * 3000}, "equals": 1}, t="text"))
    (line,) = report.failures
    assert len(line) <= 600
    assert line.isprintable()


class Forger:
    """A backend whose runs end as told: what a compromised child could say."""

    def __init__(self, *ends: dict[str, Any] | Exception) -> None:
        self._ends = list(ends)

    def check(self, source: str, entry: str) -> list[Violation]:  # noqa: ARG002
        return []

    def run(self, source: str, entry: str, arguments: Mapping[str, Any], *more: Any) -> SandboxResult:  # noqa: ARG002
        end = self._ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return SandboxResult(**{"kind": "finished", "source_hash": "", "level": "none", **end})


def judged(*ends: dict[str, Any] | Exception) -> ToolReport:
    described = manifest(*[{"type": "number"}] * len(ends))
    return verify_tool(Forger(*ends), "", described, API, LIMITS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "end",
    [
        {"value": float("inf")},
        {"value": {"a": "\ud800"}},
        {"value": "x" * 900_000},
        {"kind": "strategy_error", "message": "\ud800\n\x1b[2J" * 200},
    ],
)
def test_what_no_sound_run_says_is_a_failure_in_a_clean_line(end: dict[str, Any]) -> None:
    (line,) = judged(end).failures
    assert line.isprintable()
    assert len(line) <= 600
    line.encode()


def test_a_failure_of_the_sandbox_is_not_the_fault_of_the_tool() -> None:
    with pytest.raises(SandboxUnavailable):
        judged({"value": 1}, SandboxUnavailable("gone"))


def test_neither_is_one_of_the_host(backend: SandboxBackend) -> None:
    def fail(_: BaseModel) -> Any:
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        verify_tool(
            backend,
            "def tool(memory):\n    return memory.summary()\n",
            manifest({"type": "number"}),
            HostApi({"summary": HostMethod(fail)}),
            LIMITS,
        )


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
_TESTS = st.one_of(
    st.builds(lambda v: {"equals": v}, st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)),
    st.builds(lambda v: {"at_least": v}, st.integers(-9, 9)),
    st.just({"non_empty": True}),
    st.builds(lambda v: {"type": v}, st.sampled_from(KINDS)),
)


@given(_TESTS, _VALUES)
def test_every_value_meets_a_test_or_is_told_why_not(test: dict[str, Any], value: Any) -> None:
    said = unmet(ToolTest(**test), value)
    assert isinstance(said, str)
    if said:
        said.encode()
    elif "equals" in test:
        assert json.dumps(value) == json.dumps(test["equals"]) or value == test["equals"]
        assert isinstance(value, bool) is isinstance(test["equals"], bool)
    elif "type" in test:
        assert re.match(
            {
                "text": '"',
                "number": "[-0-9]",
                "integer": "[-0-9]",
                "boolean": "[tf]",
                "list": r"\[",
                "object": "{",
            }[test["type"]],
            json.dumps(value),
        )
