"""The restricted dialect: which Python a strategy or a tool may be written in.

Source is parsed, measured, checked and rewritten here, always inside a confined process, because hostile
source can break a compiler. RestrictedPython turns attribute, item and iteration access into calls of the
guards in `guards`; the subclass below narrows the language further and adds a fuel tick to every loop,
function and lambda. Violations are phrased so that whoever wrote the source can act on them.
"""

# ruff: noqa: N802 (names of visitors are those of the syntax nodes)

import ast
import builtins
import re
from types import CodeType
from typing import Any

from RestrictedPython import RestrictingNodeTransformer

from .names import BUILTIN_NAMES, FACADES, HINTS, TOOL_HINTS

LARGEST_SOURCE = 64 * 1024
MOST_LINES = 2000
MOST_NODES = 20_000
DEEPEST = 60
LONGEST_STRING = 32 * 1024
MOST_INTEGER_BITS = 256
GUARDED_OPERATORS = {ast.Mult: "*", ast.Pow: "**", ast.LShift: "<<", ast.Mod: "%"}
NO_MATRICES = "@ is not available; there are no matrices"
ENTRIES = {"strategy": ("ctx", "question"), "tool": ("memory",)}
"""Entry function → the parameters that it must begin with."""

Violation = tuple[int, str]
"""Line (from 1; 0 when it is about the whole source) and message."""


def checked(source: str, entry: str) -> tuple[CodeType | None, list[Violation]]:
    """The code to run, or None and what is wrong with the source; never raises for what a source holds."""
    try:
        tree = _parsed(source)
        policy = Policy(TOOL_HINTS if entry == "tool" else HINTS)
        _check_size(tree)
        _check_module(tree, entry, policy)
        rewritten = policy.visit(tree)
        policy.check_names()
        if policy.violations:
            return None, sorted(set(policy.violations))
        ast.fix_missing_locations(rewritten)
        return compile(rewritten, f"<{entry}>", "exec", dont_inherit=True), []
    except _Rejected as rejected:
        return None, [rejected.args[0]]
    except SyntaxError as error:  # what only the compiler finds, such as `break` outside a loop
        return None, [(error.lineno or 0, f"syntax error: {error.msg}")]
    except (RecursionError, MemoryError):
        return None, [(0, "the source is nested too deeply")]


class _Rejected(Exception):
    """The source cannot even be looked at; the argument is a Violation."""


def _parsed(source: str) -> ast.Module:
    if len(source.encode("utf-8", "replace")) > LARGEST_SOURCE:
        raise _Rejected((0, f"the source is longer than {LARGEST_SOURCE // 1024} KB"))
    if source.count("\n") + source.count("\r") >= MOST_LINES:
        raise _Rejected((0, f"the source has more than {MOST_LINES} lines"))
    try:
        return ast.parse(source)
    except SyntaxError as error:
        if source.lstrip().startswith("```"):
            raise _Rejected((1, "leave out the Markdown fence, the lines with ```")) from None
        raise _Rejected((error.lineno or 0, f"syntax error: {error.msg}")) from None
    except ValueError as error:
        raise _Rejected((0, f"syntax error: {error}")) from None


def _check_size(tree: ast.Module) -> None:
    layer: list[ast.AST] = [tree]
    count = 0
    for _ in range(DEEPEST):
        for node in layer:
            if isinstance(node, ast.Constant):
                _check_constant(node)
        count += len(layer)
        if count > MOST_NODES:
            raise _Rejected((0, f"the source has more than {MOST_NODES} syntax nodes"))
        layer = [child for node in layer for child in ast.iter_child_nodes(node)]
        if not layer:
            return
    raise _Rejected((getattr(layer[0], "lineno", 0), f"nested more than {DEEPEST} levels"))


def _check_constant(node: ast.Constant) -> None:
    value = node.value
    if isinstance(value, str) and len(value) > LONGEST_STRING:
        raise _Rejected((node.lineno, f"a string of more than {LONGEST_STRING // 1024} KB"))
    if isinstance(value, int) and value.bit_length() > MOST_INTEGER_BITS:
        raise _Rejected((node.lineno, f"an integer of more than {MOST_INTEGER_BITS} bits"))
    if not (value is None or type(value) in (str, int, float, bool)):
        raise _Rejected((node.lineno, f"{type(value).__name__} constants are not available"))


def _check_module(tree: ast.Module, entry: str, policy: "Policy") -> None:
    for node in tree.body:
        allowed = isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom)
        constant = isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr)
        if not allowed and not (constant and _is_literal(node.value)):  # type: ignore[attr-defined]
            policy.error(
                node,
                "at the top level only def, import and constants are allowed; compute inside the function",
            )
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry]
    wanted = ENTRIES.get(entry, ())
    if len(found) != 1:
        policy.error(tree, f"define exactly one function {entry}({', '.join(wanted)})")
    elif tuple(a.arg for a in found[0].args.args[: len(wanted)]) != wanted:
        policy.error(found[0], f"{entry} must begin with the parameters ({', '.join(wanted)})")


def _is_literal(node: ast.AST | None) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub | ast.UAdd) and _is_literal(node.operand)
    if isinstance(node, ast.BinOp):
        return all(_is_literal(side) and not _is_sequence(side) for side in (node.left, node.right))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(_is_literal(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return all(key is not None and _is_literal(key) for key in node.keys) and all(
            _is_literal(value) for value in node.values
        )
    return node is None or isinstance(node, ast.Constant)


def _is_sequence(node: ast.AST) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict)


class Policy(RestrictingNodeTransformer):  # type: ignore[misc]
    """Narrower than RestrictedPython where code could wander off, wider where it is merely awkward."""

    def __init__(self, hints: dict[str, str]) -> None:
        super().__init__()
        self._hints = hints
        self.violations: list[Violation] = []
        self._bound: set[str] = set()
        self._used: list[tuple[str, int]] = []

    def error(self, node: ast.AST, info: str) -> None:
        """Record a violation at the line of `node`."""
        self.violations.append((getattr(node, "lineno", 0), info))

    def not_allowed(self, node: ast.AST) -> None:
        """Record that this kind of syntax is not part of the dialect."""
        kind = type(node).__name__
        self.error(node, self._hints.get(kind, f"{kind} is not part of the restricted dialect"))

    def check_names(self) -> None:
        """Record every name that is neither bound anywhere in the source nor built in."""
        for name, line in self._used:
            if name not in self._bound and name not in BUILTIN_NAMES and not name.startswith("_"):
                known = (
                    f"{name!r} is not available" if hasattr(builtins, name) else f"{name!r} is not defined"
                )
                self.violations.append((line, self._hints.get(name, known)))

    # Names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Names as RestrictedPython has them, with `print` an ordinary function."""
        if node.id == "print" and isinstance(node.ctx, ast.Load):
            return node
        self.check_name(node, node.id)
        if isinstance(node.ctx, ast.Load):
            self._used.append((node.id, node.lineno))
        else:
            self._bind(node, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Annotations are dropped: nothing reads them."""
        self._bind(node, node.arg)
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """`x: int = 1` is `x = 1`."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit(ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        """Inner functions may change a variable of the outer one."""
        for name in node.names:
            self.check_name(node, name)
        return node

    def visit_Global(self, node: ast.Global) -> None:
        """Runs share nothing."""
        self.not_allowed(node)

    def _bind(self, node: ast.AST, name: str) -> None:
        if name in BUILTIN_NAMES:
            self.error(node, f"{name!r} is built in: choose another name")
        self._bound.add(name)

    # Attributes and operators

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Reading goes through a guard; setting and formatting by attribute walk are out."""
        if not isinstance(node.ctx, ast.Load):
            self.error(node, "attributes cannot be set; keep values in variables, lists or dicts")
        elif node.attr in ("format", "format_map"):
            self.error(node, f".{node.attr}() is not available; use an f-string")
        return super().visit_Attribute(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        """Format specs are constants, and their numbers have at most three digits."""
        if node.format_spec is not None:
            parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else [None]
            text = "".join(p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str))
            if not all(isinstance(part, ast.Constant) for part in parts) or re.search(r"\d{4}", text):
                self.error(
                    node, "a format spec must be a constant with numbers below 1000; str has rjust and ljust"
                )
        self.node_contents_visit(node)
        node.value = _call(node, "_shown_", node.value, ast.Constant(node.conversion))
        node.conversion = -1
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Operators that can make something huge from something small are guarded."""
        if isinstance(node.op, ast.MatMult):
            self.error(node, NO_MATRICES)
            return node
        self.node_contents_visit(node)
        symbol = GUARDED_OPERATORS.get(type(node.op))
        if symbol is None:
            return node
        return _call(node, "_binary_", ast.Constant(symbol), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`x += 1` and `d[k] += 1`."""
        if isinstance(node.op, ast.MatMult):
            self.error(node, NO_MATRICES)
            return node
        if isinstance(node.target, ast.Subscript):
            operator = ast.Constant(_symbol(node.op))
            container, key = self.visit(node.target.value), self.visit(node.target.slice)
            call = _call(node, "_inplace_item_", operator, container, key, self.visit(node.value))
            return ast.copy_location(ast.Expr(call), node)
        if isinstance(node.target, ast.Attribute):
            return self.visit(node.target)
        self._used.append((node.target.id, node.lineno))
        return super().visit_AugAssign(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """`isinstance(x, int | str)` is `isinstance(x, (int, str))`: types of the dialect do not add up."""
        if isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2:
            node.args[1] = _alternatives(node.args[1])
        return super().visit_Call(node)

    # Control flow: every way to repeat something burns fuel

    def visit_While(self, node: ast.While) -> ast.AST:
        """A tick at the head of the body."""
        self.node_contents_visit(node)
        node.body.insert(0, _tick(node))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A tick at the head of the body; no decorators, no annotations."""
        if node.decorator_list:
            self.error(node, "decorators are not available; call the function yourself")
        if getattr(node, "type_params", None):
            self.error(node, "type parameters are not available")
        self._bind(node, node.name)
        self.check_name(node, node.name)
        self.check_function_argument_names(node)
        node.returns = None
        self.node_contents_visit(node)
        node.body.insert(0, _tick(node))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """The body `b` becomes `_tick_() or b`: a tick gives None."""
        self.check_function_argument_names(node)
        self.node_contents_visit(node)
        body = ast.BoolOp(op=ast.Or(), values=[_call(node, "_tick_"), node.body])
        node.body = ast.copy_location(body, node)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """A bare `except` catches what strategies may catch, and nothing that ends a run."""
        if node.type is None:
            node.type = ast.copy_location(ast.Name("Exception", ast.Load()), node)
        if node.name is not None:
            self._bind(node, node.name)
            self.check_name(node, node.name)
        self.node_contents_visit(node)
        return node

    # Syntax that the dialect leaves out

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """No classes: dicts do."""
        self._bound.add(node.name)
        self.not_allowed(node)

    def visit_With(self, node: ast.With) -> None:
        """Nothing here needs a context manager."""
        self.not_allowed(node)

    def visit_TemplateStr(self, node: ast.AST) -> None:
        """Not needed."""
        self.not_allowed(node)

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """Only facades, which are not modules."""
        for alias in node.names:
            self._check_facade(node, alias.name)
            self._bind(node, alias.asname or alias.name)
        return super().visit_Import(node)  # type: ignore[no-any-return]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Only names of facades."""
        name = node.module if node.module and not node.level else "."
        self._check_facade(node, name)
        if any(alias.name == "*" for alias in node.names):
            self.error(node, f"import * is not available; use import {name} and {name}.…")
            return node
        for alias in node.names:
            if name in FACADES and alias.name not in FACADES[name]:
                self.error(node, f"{name} has no {alias.name!r} (it has: {', '.join(FACADES[name])})")
            self._bind(node, alias.asname or alias.name)
        return super().visit_ImportFrom(node)  # type: ignore[no-any-return]

    def _check_facade(self, node: ast.AST, name: str) -> None:
        if name not in FACADES:
            known = " and ".join(sorted(FACADES))
            hint = self._hints.get(name.split(".")[0])
            self.error(node, hint or f"{name!r} cannot be imported; only {known} can")


def _alternatives(node: ast.expr) -> ast.expr:
    """The kinds of an isinstance as nested tuples."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        kinds = [node.left, node.right]
    elif isinstance(node, ast.Tuple):
        kinds = node.elts
    else:
        return node
    elements = [_alternatives(kind) for kind in kinds]
    return ast.copy_location(ast.Tuple(elts=elements, ctx=ast.Load()), node)


def _call(at: ast.AST, name: str, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(func=ast.Name(name, ast.Load()), args=list(arguments), keywords=[])
    ast.copy_location(call, at)
    ast.copy_location(call.func, at)
    return call


def _tick(at: ast.AST) -> ast.Expr:
    return ast.copy_location(ast.Expr(_call(at, "_tick_")), at)


def _symbol(operator: ast.operator) -> str:
    from RestrictedPython.transformer import IOPERATOR_TO_STR

    return str(IOPERATOR_TO_STR[type(operator)])
