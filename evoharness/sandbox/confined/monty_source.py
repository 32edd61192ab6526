"""A checked source, rewritten so that monty runs it with the meaning that it has in the `process` backend.

Every loop turn, comprehension item, function call and lambda call takes a step, as there; what monty lacks
of the dialect but can be said otherwise is said otherwise (`del d[k]`, methods passed as values, a few
methods, iterators that wait to be asked); what it cannot run is a violation. Functions made by the same
lambda are equal in monty unless each holds a variable of its own, so each is given one. The rewritten text
has its own lines; a table leads back.
"""

import ast
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeVar

from .guards import METHODS
from .monty_calm import Calm, Uses, callbacks
from .names import BUILTIN_NAMES, FACADES
from .policy import GUARDED_OPERATORS, Violation

Node = TypeVar("Node", bound=ast.AST)
_TYPES = {kind.__name__: names for kind, names in METHODS.items()}
_BINDABLE = frozenset().union(*METHODS.values())
_SUPPLIED = frozenset(
    {
        "bit_length",
        "is_integer",
        "difference_update",
        "intersection_update",
        "isascii",
        "maketrans",
        "translate",
    }
)
"""Methods that monty does not have."""
_OWN = {"filter": "_filtered_", "map": "_mapped_"} | {
    name: f"_{name}_" for name in ("enumerate", "max", "min", "reversed", "sorted", "zip")
}
"""Builtins that the prelude has in a way that always works; monty's are quicker, where they do."""
_ITERATORS = frozenset({"enumerate", "filter", "map", "reversed", "zip"})
"""Those whose result monty makes a list at once."""
_ASKING = frozenset({"all", "any", "next"})
"""Functions that may be done before the last item."""
_WHOLE = frozenset(
    {"dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple", "extend", "join", "update"}
)
"""Functions and methods that ask their argument for every item in any case."""
_IN_PLACE = {ast.Add: "+", ast.Sub: "-", ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^"} | GUARDED_OPERATORS
"""Operators whose augmented assignment monty's own does not do, or not in place."""
_EXCEPTIONS = frozenset(name for name in BUILTIN_NAMES if name.endswith(("Error", "Exception", "Iteration")))
DEEPEST_FUNCTION = 10
"""Levels of functions; monty's compiler takes twice as long for each."""
MEMBERS = FACADES
"""What may be read of the modules that can be imported."""
NOT_RUN = {
    ast.Yield: "generators do not run in monty: append to a list and return it",
    ast.YieldFrom: "generators do not run in monty: append to a list and return it",
}


@dataclass(frozen=True)
class Program:
    """What monty is given."""

    text: str
    lines: dict[int, int]
    """Line of the text → line of the source."""


def translated(source: str, methods: Collection[str] = ()) -> tuple[Program | None, list[Violation]]:
    """The program of a source that the policy has passed, or what of it monty cannot run.

    `methods`: names of the functions of the host.
    """
    tree = ast.parse(source)
    rewriter = _Rewriter(tree, methods)
    tree = ast.fix_missing_locations(rewriter.visit(tree))
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
    def __init__(self, tree: ast.AST, methods: Collection[str]) -> None:
        self.violations: list[Violation] = []
        self._depth = 0
        self._methods = frozenset(methods)
        self._calm = Calm(tree, self._methods)
        self._uses = Uses(tree)
        self._whole: set[int] = set()
        """Calls and generators whose every item is asked for at once."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if type(node) in NOT_RUN:
            self.violations.append((getattr(node, "lineno", 0), NOT_RUN[type(node)]))
        return super().generic_visit(node)

    # Steps

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._ticking(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._ticking(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        self._depth += 1
        if self._depth > DEEPEST_FUNCTION:
            message = f"functions inside of functions, more than {DEEPEST_FUNCTION} deep, do not run in monty"
            self.violations.append((node.lineno, message))
        ticking = self._ticking(node)
        self._depth -= 1
        if self._depth == 0 or node.name not in self._uses.values:
            return ticking
        distinct = _call(node, "_distinct_", ast.Name(node.name, ast.Load()))
        return [ticking, self._assigned(node, node.name, distinct)]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        shared = self._depth == 0 or id(node) in self._uses.only_called
        self.generic_visit(node)
        own = [] if shared else [ast.Name("_own_", ast.Load())]
        node.body = _at(node.body, ast.BoolOp(ast.And(), [_call(node, "_tick_", *own), node.body]))
        if shared:
            return node
        return _at(node, ast.Call(_function(node, "_own_", node), [ast.Constant(None)], []))

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.ifs.insert(0, _ticked(node.target, 1, node.target))
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        if not any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
            return node
        return [node, _at(node, ast.Expr(_ticked(node, 0, *node.targets)))]

    def _ticking(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        targets = [node.target] if isinstance(node, ast.For) else []
        node.body.insert(0, _at(node, ast.Expr(_ticked(node, 1, *targets))))
        return node  # type: ignore[no-any-return]

    # What monty spells otherwise

    def visit_Import(self, node: ast.Import) -> Any:
        return [self._assigned(node, alias.asname or alias.name, _facade(alias.name)) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        module = str(node.module)
        for alias in node.names:
            if alias.name not in MEMBERS[module]:
                self.violations.append((node.lineno, f"{module} has no {alias.name!r} here"))
        members = [(alias, ast.Attribute(_facade(module), alias.name, ast.Load())) for alias in node.names]
        return [self._assigned(node, alias.asname or alias.name, member) for alias, member in members]

    @staticmethod
    def _assigned(node: ast.AST, name: str, value: ast.expr) -> ast.AST:
        return _at(node, ast.Assign([ast.Name(name, ast.Store())], value))

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

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        symbol = GUARDED_OPERATORS.get(type(node.op))
        if symbol is None:
            return node
        return _call(node, "_binary_", ast.Constant(symbol), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        symbol = _IN_PLACE.get(type(node.op))
        lists = isinstance(node.target, ast.Name) and isinstance(node.value, ast.List | ast.ListComp)
        if symbol is None or (symbol in "+-|&^" and (lists or _is_number(node.value))):
            return node
        if isinstance(node.target, ast.Name):
            old = ast.Name(node.target.id, ast.Load())
            value = _call(node, "_inplace_", ast.Constant(symbol), old, node.value)
            return _at(node, ast.Assign([node.target], value))
        assert isinstance(node.target, ast.Subscript)  # the policy knows no other
        container, key = node.target.value, node.target.slice
        return _at(
            node, ast.Expr(_call(node, "_inplace_item_", ast.Constant(symbol), container, key, node.value))
        )

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        lazy = self._calm(node) and id(node) not in self._whole and self._can_wait(node)
        self.generic_visit(node)
        return _lazily(node) if lazy else _call(node, "iter", node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in _OWN:
            return _at(node, ast.Name(_OWN[node.id], ast.Load()))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        if isinstance(function, ast.Name):
            return self._named(node, function.id)
        if not isinstance(function, ast.Attribute):
            return self.generic_visit(node)
        if function.attr in _WHOLE and function.attr not in self._methods:
            self._whole.update(map(id, node.args))
        calm = self._is_calm(node)
        function.value = self.visit(function.value)
        self._visit_arguments(node)
        if _of_type(function):
            node.func = self._unbound(function)
        elif function.attr not in _BINDABLE:
            node.func = _call(function, "_read_", function.value, ast.Constant(function.attr))
        elif function.attr in _SUPPLIED or (function.attr == "sort" and not calm):
            node.func = _at(node, ast.Name(f"_{function.attr}_", ast.Load()))
            node.args.insert(0, function.value)
        return node

    def _is_calm(self, node: ast.Call) -> bool:
        return all(self._calm(function) for function in callbacks(node))

    def _visit_arguments(self, node: ast.Call) -> None:
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]

    def _named(self, node: ast.Call, name: str) -> ast.AST:
        first = node.args[0] if node.args else None
        if name in _ASKING and isinstance(first, ast.GeneratorExp) and self._can_wait(first):
            return self._asked(node, name, first)
        if name in _WHOLE and (len(node.args) == 1 or name == "sum"):
            self._whole.add(id(first))
        calm = self._is_calm(node)
        self._visit_arguments(node)
        ours = name
        if name in _ITERATORS and id(node) not in self._whole:
            ours = f"_{name}_"
        if name in _OWN and not calm:
            ours = _OWN[name]
        if name in ("len", "round"):
            ours = f"_{name}_"
        node.func = _at(node.func, ast.Name(ours, ast.Load()))
        if name in _EXCEPTIONS and node.args:
            node.args = [_at(node, ast.Call(ast.Name("_said_", ast.Load()), node.args, []))]
        return node

    def _can_wait(self, node: ast.AST) -> bool:
        """Whether its turns can be functions: it gives no value to a variable, and no function keeps one."""
        inner = list(ast.walk(node))
        kept = any(isinstance(n, ast.Lambda) and id(n) not in self._uses.only_called for n in inner)
        return not kept and not any(isinstance(n, ast.NamedExpr) for n in inner)

    def _asked(self, node: ast.Call, name: str, items: ast.GeneratorExp) -> ast.AST:
        """`any`, `all` and `next` of a generator, which may ask the host."""
        self.generic_visit(items)
        node.args[1:] = [self.visit(argument) for argument in node.args[1:]]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        target = items.generators[0].target
        if name == "next" or len(items.generators) > 1 or not isinstance(target, ast.Name):
            node.func = _at(node, ast.Name("next" if name == "next" else f"_{name}_", ast.Load()))
            node.args[0] = _lazily(items)
            return node
        passes = ast.BoolOp(ast.And(), items.generators[0].ifs)
        if name == "any":
            body: ast.expr = ast.BoolOp(ast.And(), [passes, items.elt])
        else:
            body = ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), passes), items.elt])
        node.func = _at(node, ast.Name(f"_{name}_each_", ast.Load()))
        node.args[0] = _function(items, target.id, body)
        node.args.insert(1, items.generators[0].iter)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        name = ast.Constant(node.attr)
        if node.attr not in _BINDABLE:
            return _call(node, "_read_", node.value, name)
        call = self._unbound(node)
        return call if _of_type(node) else _call(node, "_bound_", node.value, name, call)

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
        receiver = "dict" if node.attr == "fromkeys" else "_on_"
        own = [] if node.attr == "fromkeys" else [ast.arg(receiver)]
        method = ast.Attribute(ast.Name(receiver, ast.Load()), node.attr, ast.Load())
        arguments = ast.arguments([], own, ast.arg("_all_"), [], [], ast.arg("_named_"), [])
        every = ast.Starred(ast.Name("_all_", ast.Load()), ast.Load())
        named = ast.keyword(None, ast.Name("_named_", ast.Load()))
        return _at(node, ast.Lambda(arguments, ast.Call(method, [every], [named])))


def _lazily(node: ast.GeneratorExp) -> ast.expr:
    """An iterator that does the work of one turn of the outermost loop when it is asked for more."""
    first = node.generators[0]
    if len(node.generators) == 1 and len(first.ifs) == 1 and isinstance(first.target, ast.Name):
        value = _at(node, ast.BoolOp(ast.And(), [*first.ifs, node.elt]))
        return _call(node, "_Generator_", _function(node, first.target.id, value), first.iter)
    item = ast.List([ast.Name("_item_", ast.Load())], ast.Load())
    loops = [ast.comprehension(first.target, item, first.ifs, 0), *node.generators[1:]]
    part = _at(node, ast.ListComp(node.elt, loops))
    return _call(node, "_Parts_", _function(node, "_item_", part), first.iter)


def _ticked(at: ast.AST, steps: int, *targets: ast.expr) -> ast.Call:
    """Takes those steps, and one for each item of what was taken apart into the targets."""
    starred: list[ast.expr] = []
    for target in targets:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Tuple | ast.List) and isinstance(inner.ctx, ast.Store):
                steps += sum(not isinstance(item, ast.Starred) for item in inner.elts)
                starred += [item.value for item in inner.elts if isinstance(item, ast.Starred)]
    counts = [
        _call(at, "len", ast.Name(each.id, ast.Load())) for each in starred if isinstance(each, ast.Name)
    ]
    if steps == 1 and not counts:
        return _call(at, "_tick_")
    return _call(at, "_ticks_", ast.Constant(steps), *counts)


def _function(at: ast.AST, parameter: str, body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments([], [ast.arg(parameter)], None, [], [], None, [])
    return _at(at, ast.Lambda(arguments, body))


def _is_number(node: ast.expr) -> bool:
    """Whether it is one for sure, so that monty's own operators do."""
    return isinstance(node, ast.UnaryOp) or (
        isinstance(node, ast.Constant) and not isinstance(node.value, str)
    )


def _facade(module: str) -> ast.expr:
    return ast.Name(f"_{module}_", ast.Load())


def _of_type(node: ast.Attribute) -> bool:
    """Whether it is `str.lower` and the like, which are functions."""
    return isinstance(node.value, ast.Name) and node.attr in _TYPES.get(node.value.id, ())


def _call(at: ast.AST, name: str, *arguments: ast.expr) -> ast.Call:
    return _at(at, ast.Call(ast.Name(name, ast.Load()), list(arguments), []))


def _at(at: ast.AST, node: Node) -> Node:
    return ast.copy_location(node, at)
