"""Imports go one way, and no file grows beyond what can be read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import evoharness

PACKAGE = Path(evoharness.__file__).parent
ROOMS = (
    "records",
    "providers",
    "retrieval",
    "video",
    "models",
    "sandbox",
    "harness",
    "memory",
    "knowledge",
    "scoring",
    "solver",
    "evaluation",
    "questioner",
    "runs",
    "evolution",
)
"""Each may import those before it. Whatever is not named is an entry point or serves them."""
APART = {"samples": {"records", "errors"}, "benchmarks": {"records", "errors"}}
"""Rooms outside the order, and all that they may import."""
MOST_LINES = 450


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """The rooms that a file imports, whether at its top or inside a function, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            if node.level:  # inside the room: code that also runs without the package around it
                assert node.level < len(path.relative_to(PACKAGE).parts), f"{path}:{node.lineno}"
                continue
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            if node.module and node.module != "evoharness":
                names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "evoharness" and len(parts) > 1 and not parts[1].startswith("__"):
                yield parts[1], node.lineno


def allowed(room: str) -> set[str] | None:
    """What a room may import; None: everything."""
    if room in APART:
        return APART[room] | {room}
    if room in ROOMS:
        return {*ROOMS[: ROOMS.index(room) + 1], "errors"}
    return {"records"} if room in {"errors", "__init__"} else None


SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_every_room_has_code() -> None:
    rooms = {room_of(path) for path in SOURCES if "def " in path.read_text(encoding="utf-8")}
    assert {*ROOMS, *APART, "config"} - rooms == set()


def names(path: Path) -> Iterator[tuple[str, int]]:
    """Every name in the code of a file: variables, attributes, arguments, imports, keys; with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        line = getattr(node, "lineno", 0)
        match node:
            case (
                ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name))
            ):
                yield name, line
            case ast.alias(name=name, asname=other):
                yield from ((part, line) for part in name.split("."))
                yield other or "", line
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, line
            case ast.ImportFrom(module=str(module)):
                yield from ((part, line) for part in module.split("."))
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text, line  # a quoted annotation, or the name in getattr()
            case _:
                pass


def test_solver_and_models_know_neither_answers_nor_rewards() -> None:
    """Only the public half of a question crosses: what cannot be named cannot leak."""
    told = [
        f"{path.relative_to(PACKAGE)}:{line} names {name}"
        for path in SOURCES
        if room_of(path) in {"solver", "models"}
        for name, line in names(path)
        if name == "Question" or "reward" in name.lower()
    ]
    assert told == []


@pytest.mark.parametrize("room", sorted({room_of(path) for path in SOURCES}))
def test_a_room_imports_only_what_comes_before_it(room: str) -> None:
    may = allowed(room)
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {other}"
        for path in SOURCES
        if room_of(path) == room and may is not None
        for other, line in imports(path)
        if other not in may
    ]
    assert wrong == []


def test_no_file_is_too_long() -> None:
    lengths = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in SOURCES
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_file_is_called_utils() -> None:
    assert [path for path in SOURCES if path.stem in {"utils", "util", "helpers", "misc", "common"}] == []
