"""Tasks that improve the tools and who may choose them, on the wire."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from evoharness.models.evolution_tasks import (
    ProposedTool,
    ProposedToolPolicy,
    ProposeTool,
    ProposeToolPolicy,
)
from evoharness.models.exchanges.exchange import Exchange
from evoharness.models.exchanges.proposing import WireProposal, about, code, common
from evoharness.models.exchanges.reasoning import json_object
from evoharness.models.task import Task
from evoharness.models.wire import Schema, Wire, parsed, schema_of
from evoharness.records.json_values import VALUE_TYPES, ValueType, one_line
from evoharness.records.question import QuestionKind
from evoharness.records.tool import (
    EXPECTATIONS,
    HOST_NAMES,
    MOST_ARGUMENTS,
    MOST_TESTS,
    ManifestError,
    read_manifest,
)

TOOL_STEPS, TOOL_SECONDS, TOOL_CALLS = 1_000_000, 3, 50
DEFAULT = "default"
"""The trigger of the tool policy for all questions that no other one fires on."""

_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,63}")

ExpectationWord = Literal["equals", "at_least", "non_empty", "type"]
assert get_args(ExpectationWord) == EXPECTATIONS


class WireArgument(Wire):
    """An argument of a tool."""

    name: str
    type: ValueType
    about: str


class WireTest(Wire):
    """A test of a tool; arguments and value are JSON as text."""

    arguments: str
    expect: ExpectationWord
    value: str


class WireTool(WireProposal):
    """The answer to ProposeTool."""

    name: str
    purpose: str
    signature: tuple[WireArgument, ...]
    kinds: tuple[QuestionKind, ...]
    source: str
    tests: tuple[WireTest, ...]


class WireRule(Wire):
    """A trigger, and the tools for questions that it fires on."""

    trigger: str
    tools: tuple[str, ...]


class WireToolPolicy(WireProposal):
    """The answer to ProposeToolPolicy."""

    rules: tuple[WireRule, ...]


def _tool_sections(task: ProposeTool) -> Mapping[str, Any]:
    return {
        "tools": task.tools,
        "draft": _draft(task.draft) if task.draft else {},
        "problems": list(task.problems),
        **common(task),
    }


def _draft(tool: ProposedTool) -> dict[str, Any]:
    return {"name": tool.name, "manifest": tool.manifest, "source": tool.source.splitlines()}


def _tool_facts(_: ProposeTool) -> Mapping[str, Any]:
    return {
        "on": "memory",
        "host_names": sorted(HOST_NAMES),
        "kinds": tuple(QuestionKind),
        "types": VALUE_TYPES,
        "most_arguments": MOST_ARGUMENTS,
        "most_tests": MOST_TESTS,
        "calls": TOOL_CALLS,
        "steps": TOOL_STEPS,
        "seconds": TOOL_SECONDS,
    }


def _tool_schema(_: ProposeTool) -> Schema:
    return schema_of(WireTool)


def _read_tool(task: ProposeTool, answer: Mapping[str, Any]) -> ProposedTool:
    tool = parsed(WireTool, answer)
    name = tool.name.strip()
    if not name:
        return ProposedTool(reason=tool.reason.strip())
    if task.draft is not None and name != task.draft.name:
        raise ValueError(f"name: stays {task.draft.name}")
    if not _IDENTIFIER.fullmatch(name) or name in HOST_NAMES:
        raise ValueError(f"name: {one_line(name, 40)!r} is none or taken: use other words of a-z, 0-9, _")
    manifest = {
        "signature": {
            argument.name: f"{argument.type}: {one_line(argument.about, 80)}"
            if argument.about.strip()
            else argument.type
            for argument in tool.signature
        },
        "purpose": one_line(tool.purpose, 300),
        "kinds": [kind.value for kind in dict.fromkeys(tool.kinds)],
        "tests": [_test(number, test) for number, test in enumerate(tool.tests)],
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    try:
        read_manifest(text)
    except ManifestError as error:
        raise ValueError("; ".join(error.problems[:5])) from error
    source = code(tool.source, "def tool(memory", "source")
    return ProposedTool(name=name, source=source, manifest=text, **about(tool))


def _test(number: int, test: WireTest) -> dict[str, Any]:
    place = f"tests.{number}"
    try:
        value = json.loads(test.value)
    except (ValueError, RecursionError):
        value = test.value  # a bare word: `list`
    if test.expect == "non_empty":
        value = True
    return {"arguments": json_object(test.arguments, f"{place}.arguments"), test.expect: value}


def _policy_sections(task: ProposeToolPolicy) -> Mapping[str, Any]:
    return {
        "tools": [tool.model_dump() for tool in task.tools],
        "policy": [{"trigger": trigger, "tools": list(tools)} for trigger, tools in task.policy.items()],
        **common(task),
    }


def _policy_schema(_: ProposeToolPolicy) -> Schema:
    return schema_of(WireToolPolicy)


def _read_policy(task: ProposeToolPolicy, answer: Mapping[str, Any]) -> ProposedToolPolicy:
    proposed = parsed(WireToolPolicy, answer)
    known = {tool.name for tool in task.tools}
    policy: dict[str, tuple[str, ...]] = {}
    for number, rule in enumerate(proposed.rules):
        trigger = "|".join(part.strip() for part in rule.trigger.split("|") if part.strip())
        unknown = [name for name in rule.tools if name not in known]
        if not trigger:
            raise ValueError(f"rules.{number}.trigger: is empty; use {DEFAULT} for all other questions")
        if trigger in policy:
            raise ValueError(f"rules.{number}.trigger: {one_line(trigger, 60)!r} is there twice")
        if unknown or not rule.tools:
            what = f"no tool {one_line(unknown[0], 40)!r}" if unknown else "no tools"
            raise ValueError(f"rules.{number}.tools: {what} (there are: {', '.join(sorted(known))})")
        policy[trigger] = tuple(dict.fromkeys(rule.tools))
    if not policy or list(policy.items()) == list(task.policy.items()):
        return ProposedToolPolicy(reason=proposed.reason.strip())
    return ProposedToolPolicy(policy=policy, **about(proposed))


EXCHANGES: dict[type[Task[Any]], Exchange[Any, Any]] = {
    ProposeTool: Exchange(_tool_sections, _tool_schema, _read_tool, _tool_facts),
    ProposeToolPolicy: Exchange(_policy_sections, _policy_schema, _read_policy),
}
