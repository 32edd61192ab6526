"""When two harnesses must answer alike: what bears on an answer, and what cannot."""

import ast
import hashlib
import json
from functools import lru_cache

from evoharness.harness import Harness
from evoharness.harness.syntax import parsed

_PLAIN = frozenset({"look", "similar", "find", "answer", "remaining"})
"""Calls that read no parameter but the frame cap, as long as no frames are handed to them."""


def behaviour(harness: Harness, duration: float) -> str:
    """Identity (hexadecimal) of all that bears on answers about videos of `duration` seconds.

    That is the strategy that the route leads to, what memory it may use, skills, tools and tool policy,
    and the parameters. A parameter that the source does not name is left out when neither skills nor
    calls of `ctx` could bring the host to use it. Harnesses with the same identity give the same answers,
    for the same model; others may.
    """
    route = harness.route(duration)
    source = harness.strategies[route.strategy]
    values = harness.parameters.model_dump(mode="json")
    if not harness.skills and not harness.tools and _plain(source):
        values = {name: value for name, value in values.items() if name == "frame_cap" or name in source}
    parts = [route.strategy, source, route.memory, values, harness.skills, harness.tools, harness.tool_policy]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@lru_cache(maxsize=512)  # asked for every answer, of few strategies
def _plain(source: str) -> bool:
    """Whether all that a source does with `ctx` is in sight: plain calls, and parameters by their names."""
    tree = parsed(source)
    if tree is None:
        return False
    entries = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "strategy"]
    if not entries or any([arg.arg for arg in entry.args.args][:1] != ["ctx"] for entry in entries):
        return False
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "ctx"]
    return all(_use_is_plain(use, above, tree) for use in uses)


def _use_is_plain(use: ast.Name, above: dict[ast.AST, ast.AST], tree: ast.Module) -> bool:
    member = above[use]
    if not isinstance(member, ast.Attribute):
        return False
    outer = above[member]
    if member.attr == "video":
        return True
    if member.attr == "params":
        return isinstance(outer, ast.Attribute) or _only_for_attributes(outer, above, tree)
    if not (isinstance(outer, ast.Call) and outer.func is member and member.attr in _PLAIN):
        return False
    if member.attr == "answer":
        starred = any(isinstance(argument, ast.Starred) for argument in outer.args)
        named = {keyword.arg for keyword in outer.keywords}
        return not starred and len(outer.args) <= 1 and named <= {"evidence", "sample"}
    return True


def _only_for_attributes(outer: ast.AST, above: dict[ast.AST, ast.AST], tree: ast.Module) -> bool:
    """Whether this is `name = ctx.params`, and that name is used for nothing but `name.parameter`."""
    if not (isinstance(outer, ast.Assign) and all(isinstance(target, ast.Name) for target in outer.targets)):
        return False
    names = {target.id for target in outer.targets if isinstance(target, ast.Name)}
    read = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in names]
    return all(isinstance(above[n], ast.Attribute) for n in read if isinstance(n.ctx, ast.Load))
