"""Strategies as syntax trees, for whoever compares or edits them; nothing is compiled or run here."""

import ast
import threading

LARGEST_SOURCE = 64 * 1024
"""Bytes; the sandbox takes no more."""
DEEPEST = 60
"""Levels of nesting; the sandbox takes no more."""
_PARSING = threading.Lock()
"""Held while a tree is built: CPython 3.11 counts the depth of it for all threads together."""


def parsed(source: str) -> ast.Module | None:
    """The tree of a source; None when it has none, or is larger or deeper than any source that can run."""
    if len(source.encode("utf-8", "replace")) > LARGEST_SOURCE:
        return None
    try:
        with _PARSING:
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    layer: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        layer = [child for node in layer for child in ast.iter_child_nodes(node)]
        if not layer:
            return tree
    return None
