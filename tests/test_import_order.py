"""Imports go one way, and no file grows beyond what can be read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import evoharness

PACKAGE = Path(evoharness.__file__).parent
ROOMS = (
    "records",
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


def test_there_is_something_to_check() -> None:
    assert {"records", "evolution", "config"} <= {room_of(path) for path in SOURCES}


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
