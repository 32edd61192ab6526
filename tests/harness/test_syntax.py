"""Sources that nobody has checked are read as trees without harm."""

import ast

import pytest

from evoharness.harness.syntax import parsed

SOURCE = "def strategy(ctx, question):\n    return {}\n"


def test_a_source_has_a_tree() -> None:
    assert ast.unparse(parsed(SOURCE) or ast.Pass()) == ast.unparse(ast.parse(SOURCE))


@pytest.mark.parametrize(
    "source",
    [
        "def strategy(:",
        "x = '\0'",
        "x = " + "-" * 60_000 + "1",
        "x = " + "(" * 30_000,
        "x = " + "[" * 500 + "]" * 500,
        "x = 1" + "+1" * 5_000,
        "x = '" + "a" * 70_000 + "'",
        "def f():\n" + "".join("    " * n + "if x:\n" for n in range(1, 80)) + "    " * 80 + "pass\n",
    ],
)
def test_what_could_not_run_has_none(source: str) -> None:
    assert parsed(source) is None
