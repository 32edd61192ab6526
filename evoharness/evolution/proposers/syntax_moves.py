"""Edits of strategy code on its syntax tree.

A strategy, whatever it does, ends in `return ctx.answer(evidence)`. The edits find the last such statement
and put steps before it: an answer, and where no option of it stands out looks at other places, denser or
finer, whose observations join the evidence. They know the interface of `ctx` and nothing of any question or
video. Every new look names its own numbers, so that a later edit, or a reader, can change them.
"""

import ast
import builtins
import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evoharness.evolution.proposers import look_code
from evoharness.harness.syntax import parsed

UNSURE = 0.6
"""An option that scores less does not stand out."""


class NotApplicable(Exception):
    """The strategy has not the shape that an edit needs; the message says what is missing."""


@dataclass(frozen=True)
class Look:
    """How a new look spends its frames."""

    spans: int
    """Most spans."""
    before: float
    """Seconds added before each place."""
    after: float
    """Seconds added after each place."""
    fps: float
    """Frames a second."""
    frames: int
    """Most frames in all spans together."""
    detail: str = "detail_detail"
    """Name of the parameter that says how finely."""
    unless: float = UNSURE
    """The question is answered first, and the look is spared when an option scores at least this."""

    def __str__(self) -> str:
        reach = f", {self.before:g} s before to {self.after:g} s after" if self.before or self.after else ""
        places = "1 place" if self.spans == 1 else f"{self.spans} places"
        return (
            f"{places}{reach}, {self.fps:g} frames/s at {self.detail}, {self.frames} frames in all, "
            f"unless an option scores {self.unless:g}"
        )


Edit = Callable[[str, Look], str]
"""Source and look → source with the look; NotApplicable when the source has not the shape for it."""


def look_where_question_matches(source: str, look: Look) -> str:
    """Look again around the gathered statements that are most like the question."""
    return _with_look(source, look, look_code.LIKE_QUESTION)


def look_where_options_match(source: str, look: Look) -> str:
    """Look again, for each option, around the gathered statement that is most like it."""
    return _with_look(source, look, look_code.LIKE_OPTIONS)


def look_beside(source: str, look: Look) -> str:
    """Look at what lies next to the best matches: after, before, or on both sides, as the question asks."""
    return _with_look(source, look, look_code.BESIDE)


def look_at_unreadable(source: str, look: Look) -> str:
    """Look around the middle of the moments of which it was said that something could not be made out."""
    return _with_look(source, look, look_code.UNREADABLE)


def look_at_named_times(source: str, look: Look) -> str:
    """Look at the times, such as 1:05 or 1:02:03, that the question or an option names."""
    return _with_look(source, look, look_code.NAMED_TIMES)


def look_over_everything(source: str, look: Look) -> str:
    """Look at the whole video again, in equal spans, half a step after the times of a regular look."""
    return _with_look(source, look, look_code.EVERYWHERE)


def look_at_unseen(source: str, look: Look) -> str:
    """Look at the longest stretches that no gathered statement speaks of."""
    return _with_look(source, look, look_code.UNSEEN)


def look_closer_at_candidates(source: str, look: Look) -> str:
    """Look closer at what the only look before the answer points to."""
    body, position = _place_of_answer(_tree(source))
    looks = [statement for statement in body[:position] if _holds_call(statement, "look")]
    if len(looks) != 1:
        raise NotApplicable("the strategy does not look exactly once before it answers")
    match looks[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if _is_call(value, "look"):
            return _with_look(source, look, look_code.CANDIDATES, looked=name)
        case _:
            raise NotApplicable("what the look finds has no name")


def answer_before_last_look(source: str, unless: float = UNSURE) -> str:
    """Answer before the last look of the strategy, and skip that where an option scores `unless`."""
    tree = _tree(source)
    body, position = _place_of_answer(tree)
    call = _answer_call(body[position])
    looks = [at for at, statement in enumerate(body[:position]) if _holds_call(statement, "look")]
    if len(looks) < 2:
        raise NotApplicable("the strategy looks only once before it answers")
    there = _assigned(body[: looks[-1]]) | _arguments_and_functions(tree) | set(dir(builtins))
    if not _read([*call.args, *(keyword.value for keyword in call.keywords)]) <= there:
        raise NotApplicable("what the answer is given from is not there before the last look")
    renamed = _Renamed(_names(tree), call, "")
    steps = renamed.visit(ast.parse(look_code.ANSWER_FIRST.format(unless=unless))).body
    body[looks[-1] : looks[-1]] = steps
    return _written(tree)


def _tree(source: str) -> ast.Module:
    tree = parsed(source)
    if tree is None:
        raise NotApplicable("the strategy is no source that could run")
    return tree


def _with_look(source: str, look: Look, places: str, looked: str = "") -> str:
    tree = _tree(source)
    body, position = _place_of_answer(tree)
    call = _answer_call(body[position])
    parts = (look_code.ANSWER_FIRST, look_code.GATHER, places, look_code.LOOK)
    code = "".join(part.format(**vars(look), looked=looked, signs=list(look_code.SIGNS)) for part in parts)
    taken = _names(tree)
    helper = _helper(tree, taken)
    renamed = _Renamed(taken, call, helper.name)
    body[position:position] = renamed.visit(ast.parse(code)).body
    call.args[0] = ast.parse("[{evidence}, {observed}]".format(**renamed.names), mode="eval").body
    if not any(ast.dump(node) == ast.dump(helper) for node in tree.body):
        tree.body.append(helper)
    return _written(tree)


class _Renamed(ast.NodeTransformer):
    """Puts the evidence into inserted code, and numbers its names when the strategy uses them already."""

    def __init__(self, taken: set[str], answer: ast.Call, helper: str) -> None:
        number = 1
        while any(_numbered(name, number) in taken for name in look_code.OWN_NAMES):
            number += 1
        self.names = {name: _numbered(name, number) for name in look_code.OWN_NAMES} | {"placed": helper}
        self._answer = answer

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "EVIDENCE":
            return copy.deepcopy(self._answer.args[0])
        if node.id == "FIRST":
            return self._first()
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def _first(self) -> ast.Call:
        """The answer from the gathered evidence, shown the same frames, with the same sample."""
        first = copy.deepcopy(self._answer)
        first.args[0] = ast.Name(self.names["evidence"], ast.Load())
        return first


def _helper(tree: ast.Module, taken: set[str]) -> ast.FunctionDef:
    """The helper `placed`, under the first name that is free or means the same already."""
    there = {ast.dump(node) for node in tree.body}
    number = 1
    while True:
        name = _numbered("placed", number)
        helper = ast.parse(look_code.PLACED.replace("placed(", f"{name}(")).body[0]
        assert isinstance(helper, ast.FunctionDef)
        if name not in taken or ast.dump(helper) in there:
            return helper
        number += 1


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def _place_of_answer(tree: ast.Module) -> tuple[list[ast.stmt], int]:
    """The block that ends in the last `return ctx.answer(evidence)`, and the position of that in it."""
    found: tuple[list[ast.stmt], int] | None = None
    for node in (
        inner for function in tree.body if _knows_question(function) for inner in ast.walk(function)
    ):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            for position, statement in enumerate(block):
                if isinstance(statement, ast.Return) and _is_answer(statement.value):
                    line = statement.lineno
                    if found is None or line >= found[0][found[1]].lineno:
                        found = (block, position)
    if found is None:
        raise NotApplicable("no statement returns what ctx.answer makes of evidence")
    return found


def _knows_question(node: ast.stmt) -> bool:
    """Whether this is a function that has all that inserted steps name: `ctx` and `question`."""
    if not isinstance(node, ast.FunctionDef):
        return False
    return {"ctx", "question"} <= {argument.arg for argument in node.args.args}


def _holds_call(statement: ast.stmt, method: str) -> bool:
    return any(_is_call(node, method) for node in ast.walk(statement))


def _is_answer(node: ast.expr | None) -> bool:
    """Whether this is `ctx.answer(…)` with the evidence as its first argument."""
    if not isinstance(node, ast.Call) or not _is_call(node, "answer") or not node.args:
        return False
    return not any(isinstance(argument, ast.Starred) for argument in node.args)


def _answer_call(statement: ast.stmt) -> ast.Call:
    assert isinstance(statement, ast.Return)
    assert isinstance(statement.value, ast.Call)
    return statement.value


def _is_call(node: ast.AST, method: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "ctx"
    )


def _names(tree: ast.AST) -> set[str]:
    """Every name that a module uses for anything."""
    used: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                used.add(name)
            case ast.alias(name=name, asname=other):
                used |= {name, other or name}
            case ast.ExceptHandler(name=str(name)):
                used.add(name)
    return used


def _assigned(statements: Iterable[ast.AST]) -> set[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _read(expressions: Iterable[ast.AST]) -> set[str]:
    nodes = [node for expression in expressions for node in ast.walk(expression)]
    return {node.id for node in nodes if isinstance(node, ast.Name)} - _assigned(nodes)


def _arguments_and_functions(tree: ast.Module) -> set[str]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {function.name for function in functions} | {
        argument.arg for function in functions if _knows_question(function) for argument in function.args.args
    }


def _written(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
