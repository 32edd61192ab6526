"""A checked source, rewritten so that monty runs it with the meaning that it has in the `process` backend.

Every loop turn, comprehension item, function call and lambda call takes a step, as there; what monty lacks
of the dialect but can be said otherwise is said otherwise (`del d[k]`, methods passed as values, a few
methods); what it cannot run is a violation. The rewritten text has its own lines; a table leads back.
"""

# ruff: noqa: N802 (names of visitors are those of the syntax nodes)

import ast
from dataclasses import dataclass
from typing import Any, TypeVar

from .guards import _METHODS as METHODS
from .policy import Violation

Node = TypeVar("Node", bound=ast.AST)
_TYPES = {kind.__name__: names for kind, names in METHODS.items()}
_BINDABLE = frozenset().union(*METHODS.values())
_SUPPLIED = frozenset({"bit_length", "is_integer", "difference_update", "intersection_update"})
"""Methods that monty does not have."""
NOT_RUN = {
    ast.Yield: "generators do not run in monty: append to a list and return it",
    ast.YieldFrom: "generators do not run in monty: append to a list and return it",
}

PRELUDE = """
class _Ctx_:
    def __repr__(self):
        return 'ctx'

class _View_:
    def __init__(self, values):
        self._values_ = values
        for name in values:
            setattr(self, name, values[name])
    def __getitem__(self, name):
        return self._values_[name]
    def __repr__(self):
        return repr(self._values_)

HostCallError = OSError
_steps_ = 0

def _tick_():
    global _steps_
    _steps_ += 1
    if _steps_ > _most_steps_:
        raise SystemExit('steps')
    return True

def _method_(name):
    def call(*positional, **named):
        return _host_(name, positional, named)
    return call

def _context_(data, methods):
    ctx = _Ctx_()
    for name in data:
        value = data[name]
        setattr(ctx, name, _View_(value) if isinstance(value, dict) else value)
    for name in methods:
        setattr(ctx, name, _method_(name))
    return ctx

def _bound_(value, name, call):
    if isinstance(value, (_Ctx_, _View_)):
        return getattr(value, name)
    return lambda *positional, **named: call(value, *positional, **named)

def _delete_(container, key):
    if not isinstance(container, (list, dict)):
        raise TypeError('items of this cannot be deleted')
    container.pop(key)

def _delete_slice_(container, lower, upper, step):
    if step is None or step == 1:
        container[lower:upper] = []
    else:
        for position in sorted(range(len(container))[lower:upper:step], reverse=True):
            container.pop(position)

def _bit_length_(value):
    return len(bin(value).lstrip('-0b'))

def _is_integer_(value):
    return value == value // 1

def _difference_update_(value, *others):
    for other in others:
        for item in list(other):
            value.discard(item)

def _intersection_update_(value, *others):
    for other in others:
        for item in list(value):
            if item not in set(other):
                value.discard(item)

import random as _random_
_random_.seed(_seed_)
"""
"""Runs before the source; its names begin with `_`, which the policy keeps from every source."""


@dataclass(frozen=True)
class Program:
    """What monty is given."""

    text: str
    lines: dict[int, int]
    """Line of the text → line of the source."""


def translated(source: str) -> tuple[Program | None, list[Violation]]:
    """The program of a source that the policy has passed, or what of it monty cannot run."""
    rewriter = _Rewriter()
    tree = ast.fix_missing_locations(rewriter.visit(ast.parse(source)))
    if rewriter.violations:
        return None, sorted(set(rewriter.violations))
    try:
        text = ast.unparse(tree)
        again = ast.parse(text)
    except (ValueError, SyntaxError) as error:
        return None, [(0, f"this does not run in monty: {error}")]
    lines: dict[int, int] = {}
    _pair(tree, again, lines)
    return Program(text, lines), []


def _pair(ours: Any, theirs: Any, lines: dict[int, int]) -> None:
    for mine, other in zip(_statements(ours), _statements(theirs), strict=True):
        lines.setdefault(other.lineno, mine.lineno)
        _pair(mine, other, lines)


def _statements(node: Any) -> list[Any]:
    blocks = [getattr(node, name, ()) for name in ("body", "handlers", "orelse", "finalbody")]
    return [inner for block in blocks if isinstance(block, list) for inner in block]


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if type(node) in NOT_RUN:
            self.violations.append((getattr(node, "lineno", 0), NOT_RUN[type(node)]))
        return super().generic_visit(node)

    # Steps

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._ticking(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._ticking(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._ticking(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        node.body = _at(node.body, ast.BoolOp(ast.And(), [_call(node, "_tick_"), node.body]))
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.ifs.insert(0, _call(node.target, "_tick_"))
        return node

    def _ticking(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, _at(node, ast.Expr(_call(node, "_tick_"))))
        return node  # type: ignore[no-any-return]

    # What monty spells otherwise

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return _at(node, ast.Pass())
        return self.visit(_at(node, ast.Assign([node.target], node.value)))  # type: ignore[no-any-return]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.type is None:
            node.type = _at(node, ast.Name("Exception", ast.Load()))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        if not isinstance(function, ast.Attribute):
            return self.generic_visit(node)
        function.value = self.visit(function.value)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        if _of_type(function):
            node.func = self._unbound(function)
        elif function.attr in _SUPPLIED:
            node.func = _at(node, ast.Name(f"_{function.attr}_", ast.Load()))
            node.args.insert(0, function.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr not in _BINDABLE:
            return node
        call = self._unbound(node)
        return call if _of_type(node) else _call(node, "_bound_", node.value, ast.Constant(node.attr), call)

    def visit_Delete(self, node: ast.Delete) -> Any:
        self.generic_visit(node)
        statements = [self._deleted(target) for target in node.targets]
        return [_at(node, statement) for statement in statements]

    def _deleted(self, target: ast.expr) -> ast.stmt:
        if not isinstance(target, ast.Subscript):
            self.violations.append((target.lineno, "monty deletes items only, not names: assign None"))
            return ast.Pass()
        key = target.slice
        if isinstance(key, ast.Slice):
            ends = [end or ast.Constant(None) for end in (key.lower, key.upper, key.step)]
            return ast.Expr(_call(target, "_delete_slice_", target.value, *ends))
        return ast.Expr(_call(target, "_delete_", target.value, key))

    def _unbound(self, node: ast.Attribute) -> ast.expr:
        """A function that calls the method of its first argument."""
        if node.attr in _SUPPLIED:
            return _at(node, ast.Name(f"_{node.attr}_", ast.Load()))
        method: ast.expr = ast.Attribute(ast.Name("_on_", ast.Load()), node.attr, ast.Load())
        if node.attr == "fromkeys":
            method = ast.Attribute(ast.Name("dict", ast.Load()), "fromkeys", ast.Load())
            return _at(node, _lambda(ast.arguments([], [], ast.arg("_all_"), [], [], ast.arg("_named_"), []), method))
        own = ast.arguments([], [ast.arg("_on_")], ast.arg("_all_"), [], [], ast.arg("_named_"), [])
        return _at(node, _lambda(own, method))


def _lambda(arguments: ast.arguments, function: ast.expr) -> ast.expr:
    every = ast.Starred(ast.Name("_all_", ast.Load()), ast.Load())
    return ast.Lambda(arguments, ast.Call(function, [every], [ast.keyword(None, ast.Name("_named_", ast.Load()))]))


def _of_type(node: ast.Attribute) -> bool:
    """Whether it is `str.lower` and the like, which are functions."""
    return isinstance(node.value, ast.Name) and node.attr in _TYPES.get(node.value.id, ())


def _call(at: ast.AST, name: str, *arguments: ast.expr) -> ast.Call:
    return _at(at, ast.Call(ast.Name(name, ast.Load()), list(arguments), []))


def _at(at: ast.AST, node: Node) -> Node:
    return ast.copy_location(node, at)
