"""Which parts of a source certainly do not ask the host.

monty cannot wait for the host while one of its own functions or a loop over an iterator calls back into
the source: `sorted(x, key=f)`, `for y in map(f, x)`. What is calm may run there; the rest is rewritten so
that it does not.
"""

import ast

from .guards import METHODS
from .names import BUILTIN_NAMES, FACADES

_KEYED = frozenset({"max", "min", "sort", "sorted"})
_MAPPING = frozenset({"filter", "map"})
_KNOWN_METHODS = frozenset().union(*METHODS.values(), *FACADES.values())


class Calm:
    """Tells calm nodes from others. `methods`: names of the functions of the host."""

    def __init__(self, tree: ast.AST, methods: frozenset[str]) -> None:
        self._methods = methods
        found: dict[str, list[ast.AST | None]] = {}
        for node in ast.walk(tree):
            for name in _bound(node):
                found.setdefault(name, []).append(node if isinstance(node, ast.FunctionDef) else None)
        once = {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1 and nodes[0] is not None}
        needs = {name: self._needs(node) for name, node in once.items()}
        missing = {name: len(called) for name, called in needs.items() if called is not None}
        callers: dict[str, list[str]] = {}
        for name in missing:
            for other in needs[name] or ():
                callers.setdefault(other, []).append(name)
        ready = [name for name, count in missing.items() if count == 0]
        self._calm: set[str] = set()
        while ready:  # what calls itself never gets here; monty does not nest far in its own functions
            name = ready.pop()
            self._calm.add(name)
            for caller in callers.get(name, ()):
                missing[caller] -= 1
                if missing[caller] == 0:
                    ready.append(caller)

    def __call__(self, node: ast.AST) -> bool:
        """Whether evaluating it, and calling it when it is a function, asks nothing of the host."""
        if isinstance(node, ast.Name | ast.Attribute):
            needs = self._needed_by_function(node)
        elif isinstance(node, ast.Lambda | ast.Constant | ast.GeneratorExp):
            needs = self._needs(node)
        else:
            return False
        return needs is not None and needs <= self._calm

    def _needs(self, node: ast.AST) -> frozenset[str] | None:
        """Names of the functions that must be calm for it to be; None when it is not in any case."""
        names: set[str] = set()
        for inner in ast.walk(node):
            if not isinstance(inner, ast.Call):
                continue
            for function in (inner.func, *callbacks(inner)):
                needs = self._needed_by_function(function)
                if needs is None:
                    return None
                names |= needs
        return frozenset(names)

    def _needed_by_function(self, node: ast.expr) -> frozenset[str] | None:
        if isinstance(node, ast.Name):
            return frozenset() if node.id in BUILTIN_NAMES else frozenset({node.id})
        if isinstance(node, ast.Attribute):
            calm = node.attr in _KNOWN_METHODS and node.attr not in self._methods
            return frozenset() if calm else None
        return frozenset() if isinstance(node, ast.Lambda | ast.Constant) else None


class Uses:
    """How the functions of a source are used."""

    def __init__(self, tree: ast.AST) -> None:
        called: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called.update(id(function) for function in (node.func, *callbacks(node)))
        loaded = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        self.values = {node.id for node in loaded if id(node) not in called}
        """Names that are used in another way than to be called."""
        self.only_called = called
        """Identities of nodes whose value is only called; two such functions are never compared."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Name) and target.id not in self.values:
                    called.add(id(node.value))


def _bound(node: ast.AST) -> list[str]:
    """Names that a node gives a value to."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.ExceptHandler):
        return [node.name] if node.name else []
    return [node.asname or node.name] if isinstance(node, ast.alias) else []


def callbacks(call: ast.Call) -> list[ast.expr]:
    """The functions that a call hands to a function that will call them."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if name in _MAPPING:
        return call.args[:1]
    if name in _KEYED:
        return [keyword.value for keyword in call.keywords if keyword.arg in ("key", None)]
    return []
