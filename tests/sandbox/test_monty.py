"""The `monty` backend runs the same dialect under the same limits, in processes confined in the same way."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from evoharness.sandbox import (
    HostApi,
    HostMethod,
    ProcessSandbox,
    SandboxLimits,
    SandboxResult,
)
from evoharness.sandbox.confined import guards
from evoharness.sandbox.confined.monty_source import translated
from evoharness.sandbox.confined.names import FACADES, PLAIN_BUILTINS
from evoharness.sandbox.monty import MontySandbox
from evoharness.sandbox.stub import QUESTION, stub_context

pytestmark = pytest.mark.skipif(
    find_spec("pydantic_monty") is None, reason="the extra monty is not installed"
)


class Anything(BaseModel):
    query: Any = None
    n: int = 3


API = HostApi(
    {"search": HostMethod(lambda a: a.query, Anything)}, {"video": {"duration": 3.5}, "secret": "s"}
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[MontySandbox]:
    running = MontySandbox()
    yield running
    running.close()


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessSandbox]:
    running = ProcessSandbox()
    yield running
    running.close()


def _source(body: str) -> str:
    return "def strategy(ctx, question):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def _run(
    sandbox: ProcessSandbox,
    body: str,
    question: Any = "q",
    api: HostApi = API,
    limits: SandboxLimits = SandboxLimits(),  # noqa: B008
) -> SandboxResult:
    return sandbox.run(_source(body), "strategy", {"question": question}, api, limits)


@pytest.mark.parametrize(
    "body",
    [
        "g = (x * 2 for x in range(5))\na = next(g)\nreturn [a, list(g), list(g)]",
        "m = map(lambda v: v + 1, [1, 2])\nreturn [list(m), list(m)]",
        "a, b = map(int, '1 2'.split())\nreturn a + b",
        "print(*map(str, [1, 2]), sep='-')\nreturn max(enumerate([3, 9]), key=lambda p: p[1])[0]",
        "return [list(zip([1], 'a')), list(reversed([1, 2])), list(filter(None, [0, 1]))]",
        "x = [1]\ny = x\nx += 'ab'\nx += (i for i in (2, 3))\nreturn y",
        "d = {'k': []}\nd['k'] += {'q': 1}\nd['k'] += (2,)\nreturn d",
        "a = {1, 2}\nb = a\nb &= {2}\nb |= {3}\nb ^= {3, 4}\nb -= {2}\nb |= {5: 6}.keys()\nreturn sorted(a)",
        "d = {'s': {1, 2}}\ns = d['s']\nd['s'] -= {1}\nd['s'] |= s\ns ^= s\nreturn [sorted(s), len(d['s'])]",
        "def drop(seen):\n    seen |= {3}\ns = {1}\ndrop(s)\nreturn sorted(s)",
        "a = {'x': 1}\nb = a\nb |= {'y': 2}\nc = frozenset([1])\nd = c\nd |= {2}\nreturn [a, sorted(c)]",
        "x = 6\nx |= 1\nx &= 5\nx ^= 8\nx -= x\nx += True\ny = 'a'\ny += f'{x}'\nreturn [x, y]",
        "s = {1}\ntry:\n    s |= [2]\nexcept TypeError:\n    return sorted(s)",
        "t = ([1],)\ntry:\n    t[0] += [2]\nexcept TypeError:\n    return t",
        "x = [1]\nfor i in range(2):\n    x += f'{i}'\nreturn x",
        "x = [3, 1]\nf = x.append\nf(2)\nd = {'a': 1, 'b': 3}\nreturn [sorted(x), max(d, key=d.get)]",
        "x = [1, 2, 3, 4, 5]\nd = {'a': 1, 'b': 2}\ndel d['a'], x[0], x[::2]\nreturn [d, x]",
        "s = {1, 2, 3}\ns.difference_update([1], [2])\ns.intersection_update([3, 4])\nreturn sorted(s)",
        "return [(5).bit_length(), (-8).bit_length(), (0).bit_length(), (2.0).is_integer(), 'é'.isascii()]",
        "t = str.maketrans('ab', 'xy', 'c')\nreturn ['abc-'.translate(t), 'ab'.translate({97: 'zz'})]",
        "return [str.upper('x'), sorted(['b', 'A'], key=str.lower), list(dict.fromkeys('aba'))]",
        "return [round(2.675, 2), round(2.5), round(1234.5, -2), round(7, 1), '%.2f' % 1.005]",
        "d = {'a': 2}\nd['a'] *= 3\nd['a'] **= 2\nd['a'] %= 7\nx = [1]\nx *= 3\nx[0] <<= 4\nreturn [d, x]",
        "import random\nx = [1, 2, 3]\nrandom.shuffle(x)\nreturn [random.random(), random.gauss(0, 1), x]",
        "import math\nreturn [math.prod([2, 3]), math.log(8, 2), math.hypot(3, 4), math.dist([0], [1])]",
        "return [ctx.video.duration, ctx.video['duration'], 'x' in ctx.video, list(ctx.video.items())]",
        "return [str(ctx.video), f'{ctx.video}', repr(ctx), len(ctx.video), ctx.video.get('x', 1)]",
        "n = 0\ndef f(k):\n    nonlocal n\n    n += k\n    return n\nreturn [f(i) for i in range(5)]",
        "f = lambda a, *b, k=2, **c: [a, b, k, c]\nreturn f(1, 2, 3, k=4, z=5)",
        "try:\n    try:\n        {}['k']\n    except KeyError as e:\n        raise ValueError('w') from e\n"
        "except ValueError as e:\n    return str(e)",
        "try:\n    raise ValueError('a', 2)\nexcept (KeyError, ValueError) as e:\n    return str(e)",
        "try:\n    ctx.search(n='q')\nexcept HostCallError as e:\n    return [str(e), f'{e}']",
        "return ctx.search(query={'a': [1, 2.5, None, True, 'é😀', -(2**63) + 1]})",
        "s = '''two\nlines'''\nreturn [s.splitlines(), 'q\"q', '\\\\', 'nul\\x00', {'k': (1, 2)}]",
        "def h(a: int, b: 'str' = 'x') -> list:\n    '''Docs\n    on.'''\n    return [a, b]\nreturn h(1)",
        "i = 0\nwhile True:\n    i += 1\n    if i > 3:\n        break\nelse:\n    i = 0\nreturn i",
        "i = 0\nfor i in []:\n    pass\nelse:\n    i += 9\nreturn i",
        "if (n := len(question)) == 1:\n    return [x for x in range(9) if x % 2 for _ in range(x)][-3:]",
        "d = {'k': 'v'}\nreturn f\"{d['k']}\\n\\\"{question!r}\\\" it's {{}} {1:>4}{', '.join(['a', 'b'])}\"",
        "return f'{question} \"q\" \\'p\\' \\n\\x00\\u1234 \\\\ {str(question)}'",
        "raise ValueError(3)",
        "raise NotImplementedError('later')",
        "assert question == 'x', 'not x'",
        "return ctx.serch('x')",
        "return ctx.search(query={1, 2})",
        "return ctx.search(ctx.video)",
        "return ctx.search({'a': {3: 4}})",
        "return ctx.search('x', 3, 'z')",
        "return ctx.search(what=1)",
        "return {(1, 2): 3}",
        "return 2**64",
        "return [float('inf')]",
        "return ctx.video",
        "x = ['a' * 1000]\nfor _ in range(30):\n    x = [x, x]\nreturn x",
        "return [1] * 10**7",
        "return 7**10**9",
        "return '%05000d' % 1",
        "return '%((x)y)20000000d' % {'(x)y': 1}",
        "return 1 << 800000000",
        "return True << 80000000",
        "return [0 << 80000000, 1 ** 10**9, (-1) ** (10**9 + 1), True ** 9, 1 << 4095 >> 4095]",
        "return -(2**4095) * True",
        "return [True * 'ab', [1] * True, False * 3.5, True * 2**60]",
        "x = (1 +\n     2)\nreturn [1, 2][\n    x]",
        "if True:\n    return (\n        {}['z'.strip()]\n    ) if question else 1\nreturn 1 / 0",
        "import re",
        "return open('x')",
        "return undefined",
    ],
)
def test_a_run_ends_as_it_does_in_the_process_backend(
    sandbox: MontySandbox, process: ProcessSandbox, body: str
) -> None:
    here, there = _run(sandbox, body), _run(process, body)
    assert (here.kind, here.value, here.prints) == (there.kind, there.value, there.prints)
    assert here.message.replace("KeyError: z", "KeyError: 'z'") == there.message
    assert here.calls == there.calls


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | _FLOATS | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=_ANSWERS)
def test_values_come_back_as_they_went_in(sandbox: MontySandbox, value: Any) -> None:
    result = _run(sandbox, "return [question, ctx.search(question), ctx.search(query=[question])]", value)
    assert (result.message, result.value) == ("", [value, value, [value]])


def test_everything_that_the_dialect_offers_is_there(sandbox: MontySandbox) -> None:
    samples: dict[type, str] = {
        str: "'a'",
        list: "[1]",
        tuple: "(1,)",
        dict: "{1: 2}",
        set: "{1}",
        frozenset: "frozenset([1])",
    }
    samples |= {int: "(1)", float: "(1.0)"}
    lines = [f"[{', '.join(FACADES['math'])}]", f"[{', '.join(PLAIN_BUILTINS.split())}, print]"]
    lines += [f"random.{name}" for name in FACADES["random"]]
    names = ", ".join(FACADES["math"])
    for line in lines:
        source = f"import random\nfrom math import {names}\ndef strategy(ctx, question):\n    {line}\n"
        assert sandbox.run(source, "strategy", {"question": 1}, API, SandboxLimits()).message == ""
    calls = [f"{samples[kind]}.{name}()" for kind, names in guards.METHODS.items() for name in names]
    tried = "\n".join(
        f"try:\n    {call}\nexcept (TypeError, ValueError, IndexError):\n    pass" for call in calls
    )
    assert _run(sandbox, tried).message == ""


def test_tools_run_as_strategies_do(sandbox: MontySandbox) -> None:
    source = (
        "LIMIT = 2\ndef tool(memory, kind='event', limit=LIMIT):\n    return [kind, memory.search(limit)]\n"
    )
    assert sandbox.run(source, "tool", {"limit": 7}, API, SandboxLimits()).value == ["event", 7]
    assert sandbox.run(source, "tool", {}, API, SandboxLimits()).value == ["event", 2]
    assert sandbox.run(source, "tool", {"no": 1}, API, SandboxLimits()).kind == "strategy_error"


@pytest.mark.parametrize(
    "body",
    [
        "return 'a'.encode()",
        "return question.nope",
        "import random\nreturn random.getstate()",
        "import random\nr = random\nreturn r.Random(3)",
        "import math\nreturn math.factorial(3)",
        "try:\n    raise ValueError('a')\nexcept ValueError as e:\n    return e.args",
        "return ctx.search.name",
        "return [ctx.video][0].nope",
        "return (lambda: 1).real",
    ],
)
def test_what_monty_has_beyond_the_dialect_is_not_there(
    sandbox: MontySandbox, process: ProcessSandbox, body: str
) -> None:
    here, there = _run(sandbox, body), _run(process, body)
    assert (here.kind, here.line) == (there.kind, there.line)
    assert here.kind == "strategy_error"
    assert "AttributeError: there is no" in here.message


@pytest.mark.parametrize(
    ("body", "line", "says"),
    [
        ("def g():\n    yield 1\nreturn list(g())", 3, "generators do not run in monty"),
        ("def g():\n    yield from [1]\nreturn list(g())", 3, "append to a list"),
        ("x = 1\ndel x\nreturn 1", 3, "not names"),
        ("\n".join(" " * n + "def f():" for n in range(10)) + "\n" + " " * 10 + "return 1", 11, "deep"),
        ("from math import factorial\nreturn 1", 2, "math has no 'factorial'"),
    ],
)
def test_what_monty_cannot_run_is_a_violation(sandbox: MontySandbox, body: str, line: int, says: str) -> None:
    result = _run(sandbox, body)
    assert (result.kind, result.line) == ("policy_violation", line)
    assert says in result.message
    assert [v.line for v in sandbox.check(_source(body), "strategy")] == [line]


@pytest.mark.parametrize(
    "body",
    [
        f"f = lambda *a: len(a)\nreturn f({', '.join('1' for _ in range(300))})",
        f"return [1 {'for x in [1] ' * 300}]",
    ],
)
def test_what_only_a_run_finds_is_a_violation_as_well(sandbox: MontySandbox, body: str) -> None:
    assert sandbox.check(_source(body), "strategy") == []
    result = _run(sandbox, body)
    assert (result.kind, "does not run in monty" in result.message) == ("policy_violation", True)


@pytest.mark.parametrize(
    "body", ["return int('٣')", "return float('٣')", "return {ValueError('a')}", "return {ValueError(): 1}"]
)
def test_what_monty_knows_less_of_is_an_error(sandbox: MontySandbox, body: str) -> None:
    result = _run(sandbox, body)
    assert (result.kind, result.line) == ("strategy_error", 2)


@pytest.mark.parametrize("name", ["one_shot", "overview", "chunked", "memory", "orchestrated"])
def test_the_initial_strategies_do_the_same(
    sandbox: MontySandbox, process: ProcessSandbox, name: str
) -> None:
    source = (Path(__file__).parents[2] / "strategies" / f"{name}.py").read_text()
    seen: dict[ProcessSandbox, list[Any]] = {}
    for box in (sandbox, process):
        calls: list[Any] = []
        stub = stub_context()
        methods = {key: HostMethod(_noting(calls, key, m), m.arguments) for key, m in stub.methods.items()}
        api = HostApi(methods, stub.data)
        result = box.run(source, "strategy", {"question": QUESTION}, api, SandboxLimits())
        assert (result.kind, result.message) == ("finished", "")
        seen[box] = [result.value, *calls]
    assert seen[sandbox] == seen[process]
    assert len(seen[sandbox]) > 1


def _noting(calls: list[Any], name: str, method: HostMethod) -> Callable[[Any], Any]:
    def run(asked: BaseModel) -> Any:
        calls.append((name, asked.model_dump()))
        return method.run(asked)

    return run


def test_every_statement_leads_back_to_its_line() -> None:
    source = _source(
        "x = [\n    1,\n    2,\n]\nfor i in x:\n    if i:\n        print(i)\n    else:\n        pass\n"
        "try:\n    pass\nexcept ValueError:\n    x = '''a\n    b'''\nfinally:\n    y = 1\n"
        "while False:\n    pass\ndel x[0]\nreturn y"
    )
    program, violations = translated(source)
    assert program is not None
    assert violations == []
    for number, line in enumerate(program.text.splitlines(), 1):
        words = line.split()
        for start in ("for", "if", "print(i)", "try:", "while", "return", "y"):
            if words and words[0] == start and number in program.lines:
                theirs = source.splitlines()[program.lines[number] - 1].split()
                assert theirs[0] == start


def test_running_out_of_memory_cannot_be_caught(sandbox: MontySandbox) -> None:
    body = "x = [0]\ntry:\n    while True:\n        x += x\nexcept Exception:\n    return 'caught'"
    assert _run(sandbox, body).kind == "memory_limit_exceeded"
    doubled = "x = 'a' * 10**6\nfor _ in range({}):\n    x = x + x\nreturn {}"
    small = SandboxLimits(memory_bytes=64 << 20)
    assert _run(sandbox, doubled.format(4, "len(x)"), limits=small).value == 16_000_000
    assert _run(sandbox, doubled.format(6, "len(x)"), limits=small).kind == "memory_limit_exceeded"
    assert (
        _run(sandbox, doubled.format(6, "''.join([x, x, x])")).kind == "memory_limit_exceeded"
    )  # while sent


@pytest.mark.parametrize(
    "end", ["raise ValueError(1)", "return 1", "return ctx.search('late')", "return {}['k']"]
)
@pytest.mark.parametrize("loop", ["while True:\n        pass", "sorted(range(500), key=lambda v: -v)"])
def test_a_swallowed_step_budget_is_seen_and_calls_are_refused(
    sandbox: MontySandbox, process: ProcessSandbox, loop: str, end: str
) -> None:
    body = f"try:\n    {loop}\nfinally:\n    try:\n        ctx.search(1)\n    finally:\n        {end}"
    for box in (sandbox, process):
        result = _run(box, body, limits=SandboxLimits(steps=300))
        assert (result.kind, result.calls, result.fuel) == ("step_budget_exceeded", 0, 301)
        assert result.message == "used all 300 steps"


def test_arguments_and_answers_of_any_size_end_typed(sandbox: MontySandbox) -> None:
    large = "x = 'a' * 10**6\nfor _ in range(5):\n    x = x + x\n"
    assert _run(sandbox, large + "return x").kind == "invalid_answer"
    assert _run(sandbox, large + "return ctx.search(x)").kind == "host_call_error"
    assert _run(sandbox, "return [[i] for i in range(150000)]").kind == "invalid_answer"
    assert _run(sandbox, "return ctx.search([[i] for i in range(150000)])").kind == "host_call_error"
    assert _run(sandbox, "return 1").value == 1


def test_printing_without_end_is_the_fault_of_the_source(sandbox: MontySandbox) -> None:
    body = "print(*range(10**5), sep='x' * 10**6)"
    assert _run(sandbox, body, limits=SandboxLimits(cpu_seconds=1)).kind == "cpu_time_exceeded"
