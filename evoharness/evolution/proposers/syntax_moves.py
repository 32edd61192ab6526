"""Edits of strategy code on its syntax tree.

A strategy, whatever it does, ends in a call of `ctx.answer(evidence)`. The edits find the last such
call and put steps before it: looks at other places, denser or finer, whose observations join the
evidence. They know the interface of `ctx` and nothing of any question or video. Every new look names
its own numbers, so that a later edit, or a reader, can change them.
"""

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass


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
    unless: float | None = None
    """Answer first, and skip the look when one option scores at least this; None: always look."""

    def __str__(self) -> str:
        reach = f", {self.before:g} s before to {self.after:g} s after" if self.before or self.after else ""
        condition = "" if self.unless is None else f", unless an option scores {self.unless:g}"
        places = "1 place" if self.spans == 1 else f"{self.spans} places"
        return (
            f"{places}{reach}, {self.fps:g} frames/s at {self.detail}, {self.frames} frames in all{condition}"
        )


Edit = Callable[[str, Look], str]
"""Source and look → source with the look; NotApplicable when the source has not the shape for it."""


def look_where_question_matches(source: str, look: Look) -> str:
    """Look again around the gathered statements that are most like the question."""
    return _with_look(source, look, _LIKE_QUESTION)


def look_where_options_match(source: str, look: Look) -> str:
    """Look again, for each option, around the gathered statement that is most like it."""
    return _with_look(source, look, _LIKE_OPTIONS)


def look_beside(source: str, look: Look) -> str:
    """Look at what lies next to the best matches: after, before, or on both sides, as the question asks."""
    return _with_look(source, look, _BESIDE)


def look_at_unreadable(source: str, look: Look) -> str:
    """Look at the middle of the moments of which it was said that something could not be made out."""
    return _with_look(source, look, _UNREADABLE)


def look_at_named_times(source: str, look: Look) -> str:
    """Look at the times, such as 1:05, that the question or an option names."""
    return _with_look(source, look, _NAMED_TIMES)


def look_over_everything(source: str, look: Look) -> str:
    """Look at the whole video again, in equal spans, between the times of a regular first look."""
    return _with_look(source, look, _EVERYWHERE)


def look_at_unseen(source: str, look: Look) -> str:
    """Look at the longest stretches that no gathered statement speaks of."""
    return _with_look(source, look, _UNSEEN)


def look_closer_at_candidates(source: str, look: Look) -> str:
    """Look closer at what the only look before the answer points to."""
    tree = ast.parse(source)
    body, position = _place_of_answer(tree)
    looks = [statement for statement in body[:position] if _holds_call(statement, "look")]
    if len(looks) != 1:
        raise NotApplicable("the strategy does not look exactly once before it answers")
    match looks[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if _is_call(value, "look"):
            return _with_look(source, look, _CANDIDATES, looked=name)
        case _:
            raise NotApplicable("what the look finds has no name")


def answer_before_last_look(source: str, unless: float) -> str:
    """Answer before the last look, and skip what follows when one option scores at least `unless`."""
    tree = ast.parse(source)
    body, position = _place_of_answer(tree)
    call = _answer_call(body[position])
    looks = [at for at, statement in enumerate(body[:position]) if _holds_call(statement, "look")]
    if len(looks) < 2:
        raise NotApplicable("the strategy looks only once before it answers")
    evidence = call.args[0]
    if not isinstance(evidence, ast.Name) or evidence.id not in _assigned(body[: looks[-1]]):
        raise NotApplicable("what the answer is given from is not there before the last look")
    taken = _names(tree)
    renamed = _Renamed(taken, call, "", evidence=evidence.id)
    body[looks[-1] : looks[-1]] = renamed.visit(ast.parse(_UNLESS.format(unless=unless))).body
    return _written(tree)


def _with_look(source: str, look: Look, places: str, looked: str = "") -> str:
    tree = ast.parse(source)
    body, position = _place_of_answer(tree)
    call = _answer_call(body[position])
    code = _GATHER
    if look.unless is not None:
        code += _UNLESS.format(unless=look.unless)
    code += places.format(**vars(look), looked=looked, signs=_SIGNS)
    code += _LOOK.format(**vars(look))
    taken = _names(tree)
    helper = _helper(tree, taken)
    renamed = _Renamed(taken, call, helper.name)
    body[position:position] = renamed.visit(ast.parse(code)).body
    call.args[0] = ast.parse("[{evidence}, {observed}]".format(**renamed.names), mode="eval").body
    if not any(ast.dump(node) == ast.dump(helper) for node in tree.body):
        tree.body.append(helper)
    return _written(tree)


_PLACED = '''
def placed(evidence):
    """Statements with a time, out of evidence of any nesting."""
    found = []
    for item in evidence:
        if isinstance(item, list):
            found += placed(item)
        elif isinstance(item, dict):
            if item.get("text") and item.get("start") is not None and item.get("end") is not None:
                found.append(item)
            found += placed(list(item.values()))
    return found
'''

_GATHER = """
evidence = EVIDENCE
gathered = placed([evidence])[:2000]
"""

_UNLESS = """
first = FIRST
if first["scores"] and max(first["scores"]) >= {unless}:
    return first
"""

_LIKE_QUESTION = """
likeness = ctx.similar(question["text"], [item["text"] for item in gathered])
ranked = sorted(range(len(gathered)), key=lambda index: -likeness[index])
places = []
for index in ranked[:{spans}]:
    places.append([gathered[index]["start"] - {before}, gathered[index]["end"] + {after}])
"""

_LIKE_OPTIONS = """
places = []
for option in question["options"][:{spans}]:
    likeness = ctx.similar(option, [item["text"] for item in gathered])
    if likeness:
        best = gathered[likeness.index(max(likeness))]
        places.append([best["start"] - {before}, best["end"] + {after}])
"""

_BESIDE = """
later = ctx.find("(?i)\\\\b(after|next|follow|then|later|subsequent)", question["text"])
earlier = ctx.find("(?i)\\\\b(before|previous|prior|preced|earlier|until)", question["text"])
likeness = ctx.similar(question["text"], [item["text"] for item in gathered])
ranked = sorted(range(len(gathered)), key=lambda index: -likeness[index])
places = []
for index in ranked[:{spans}]:
    reach_back = {before} if earlier or not later else 0.0
    reach_on = {after} if later or not earlier else 0.0
    places.append([gathered[index]["start"] - reach_back, gathered[index]["end"] + reach_on])
"""

_UNSEEN = """
gaps = []
seen_until = 0.0
for item in sorted(gathered, key=lambda item: item["start"]):
    if item["start"] > seen_until:
        gaps.append([seen_until - {before}, item["start"] + {after}])
    seen_until = max(seen_until, item["end"])
if ctx.video.duration > seen_until:
    gaps.append([seen_until - {before}, ctx.video.duration])
places = sorted(gaps, key=lambda gap: gap[0] - gap[1])[:{spans}]
"""

_CANDIDATES = """
places = []
for candidate in {looked}["candidates"][:{spans}]:
    places.append([candidate["start"] - {before}, candidate["end"] + {after}])
"""

_UNREADABLE = """
hidden = []
for item in gathered:
    for sign in {signs}:
        if sign in item["text"].lower():
            hidden.append(item)
            break
asked = question["text"] + " / " + " / ".join(question["options"])
likeness = ctx.similar(asked, [item["text"] for item in hidden])
ranked = sorted(range(len(hidden)), key=lambda index: -likeness[index])
places = []
for index in ranked[:{spans}]:
    middle = (hidden[index]["start"] + hidden[index]["end"]) / 2
    places.append([middle - {before}, middle + {after}])
"""

_SIGNS = ["too small", "too far", "too dark", "unreadable", "illegible", "not legible", "blurr", "unclear"]
_SIGNS += ["not readable", "hard to read", "cannot be read", "cannot be made out", "not discernible"]
"""Words with which a model says that it could not see something well enough."""

_NAMED_TIMES = """
places = []
asked = question["text"] + " / " + " / ".join(question["options"])
for clock in ctx.find("\\\\b[0-9]{{1,2}}(:[0-9]{{2}}){{1,2}}\\\\b", asked)[:{spans}]:
    seconds = 0
    for number in clock["text"].split(":"):
        seconds = 60 * seconds + int(number)
    if seconds <= ctx.video.duration:
        places.append([seconds - {before}, seconds + {after}])
"""

_EVERYWHERE = """
part = ctx.video.duration / {spans}
places = []
for number in range({spans}):
    places.append([min(number * part + 0.5 / {fps}, (number + 1) * part), (number + 1) * part])
"""

_LOOK = """
observed = []
if places:
    wanted = question["text"] + " " + " / ".join(question["options"])
    observed = ctx.look(places, {fps}, {frames}, ctx.params.{detail}, wanted)["observations"]
"""

_OWN = frozenset(
    {"evidence", "gathered", "first", "part", "likeness", "ranked", "places", "best", "later", "earlier"}
    | {"reach_back", "reach_on", "gaps", "seen_until", "observed", "wanted"}
    | {"asked", "clock", "seconds", "hidden", "sign", "middle"}
    | {"index", "item", "option", "candidate", "number", "gap"}
)
"""Names that the inserted code assigns."""


class _Renamed(ast.NodeTransformer):
    """Puts the evidence into inserted code, and numbers its names when the strategy uses them already."""

    def __init__(self, taken: set[str], answer: ast.Call, helper: str, evidence: str | None = None) -> None:
        number = 1
        while any(_numbered(name, number) in taken for name in _OWN):
            number += 1
        self.names = {name: _numbered(name, number) for name in _OWN} | {"placed": helper}
        if evidence is not None:
            self.names["evidence"] = evidence
        self._answer = answer

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "EVIDENCE":
            return self._answer.args[0]
        if node.id == "FIRST":
            return self._first()
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def _first(self) -> ast.Call:
        """The answer from the gathered evidence, shown the same frames."""
        evidence = ast.Name(self.names["evidence"], ast.Load())
        shown = [copy.deepcopy(keyword) for keyword in self._answer.keywords if keyword.arg == "frames"]
        rest = [copy.deepcopy(argument) for argument in self._answer.args[1:2]]
        return ast.Call(copy.deepcopy(self._answer.func), [evidence, *rest], shown)


def _helper(tree: ast.Module, taken: set[str]) -> ast.FunctionDef:
    """The helper `placed`, under the first name that is free or means the same already."""
    there = {ast.dump(node) for node in tree.body}
    number = 1
    while True:
        name = _numbered("placed", number)
        helper = ast.parse(_PLACED.replace("placed(", f"{name}(")).body[0]
        assert isinstance(helper, ast.FunctionDef)
        if name not in taken or ast.dump(helper) in there:
            return helper
        number += 1


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def _place_of_answer(tree: ast.Module) -> tuple[list[ast.stmt], int]:
    """The block of statements that holds the last `ctx.answer(evidence)`, and its position there."""
    found: tuple[list[ast.stmt], int] | None = None
    for node in (
        inner for function in tree.body if _knows_question(function) for inner in ast.walk(function)
    ):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            for position, statement in enumerate(block):
                if isinstance(statement, ast.Assign | ast.Return | ast.Expr) and _holds_answer(statement):
                    line = statement.lineno
                    if found is None or line >= found[0][found[1]].lineno:
                        found = (block, position)
    if found is None:
        raise NotApplicable("no statement calls ctx.answer with evidence")
    return found


def _knows_question(node: ast.stmt) -> bool:
    """Whether this is a function that has all that inserted steps name: `ctx` and `question`."""
    if not isinstance(node, ast.FunctionDef):
        return False
    return {"ctx", "question"} <= {argument.arg for argument in node.args.args}


def _holds_call(statement: ast.stmt, method: str) -> bool:
    return any(_is_call(node, method) for node in ast.walk(statement))


def _holds_answer(statement: ast.stmt) -> bool:
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(_is_call(call, "answer") and call.args for call in calls)


def _answer_call(statement: ast.stmt) -> ast.Call:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and _is_call(node, "answer") and node.args:
            return node
    raise NotApplicable("no statement calls ctx.answer with evidence")


def _is_call(node: ast.AST, method: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "ctx"
    )


def _names(tree: ast.AST) -> set[str]:
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return used | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _assigned(statements: list[ast.stmt]) -> set[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _written(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
