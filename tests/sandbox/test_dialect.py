"""The restricted dialect: ordinary code runs, everything else is refused with words that help."""

import re

import pytest

from evoharness.sandbox import check_source
from tests.sandbox.conftest import Run


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("c = {}\nfor k in 'aba':\n    c[k] = c.get(k, 0)\n    c[k] += 1\nreturn c", {"a": 2, "b": 1}),
        ("x: int = 1\nreturn x", 1),
        ("n = 0\ndef f():\n    nonlocal n\n    n = n + 1\nf()\nf()\nreturn n", 2),
        ("return f'{1.5:.2f} {2:>4} {3!r}'", "1.50    2 3"),
        ("return {k: v for k, v in sorted([('b', 2), ('a', 1)])}", {"a": 1, "b": 2}),
        ("return sorted([3, 1, 2], key=lambda t: -t)[:2]", [3, 2]),
        ("def f(a, b=0, *rest, **more):\n    return a + b\nreturn f(*[1], **{'b': 2})", 3),
        ("try:\n    int('x')\nexcept ValueError as e:\n    return 'caught'\nfinally:\n    pass", "caught"),
        ("try:\n    1 / 0\nexcept:\n    return 'caught'", "caught"),
        ("import math\nreturn [math.floor(1.5), math.pi > 3]", [1, True]),
        ("from math import sqrt as root\nreturn root(9)", 3),
        ("return sum([i for i in range(5000)])", 12497500),
        ("if (n := len('abc')) > 2:\n    return n", 3),
        ("return [(i, a, b) for i, (a, b) in enumerate(zip([1], [3]))]", [[0, 1, 3]]),
        ("n = 0\nfor _ in range(3):\n    n += 1\nreturn n", 3),
        ("a, (b, *c) = 1, (2, 3, 4)\nreturn [a, b, c]", [1, 2, [3, 4]]),
        ("def g():\n    yield 1\n    yield from [2, 3]\nreturn list(g())", [1, 2, 3]),
        ("d = {'x': [1]}\nd['x'].append(2)\ndel d['x'][0]\nreturn d", {"x": [2]}),
        ("return [ctx.memory.items, ctx.memory['items'], ctx.secret]", [[1], [1], "s"]),
        ("return ctx.search('it') + ctx.search(query='is')", "itis"),
        ("x = 2\nx **= 3\nx <<= 1\nx %= 7\nreturn [x, 'ab' * 2, '%d!' % 5, 7 // 2]", [2, "abab", "5!", 3]),
        ("f = lambda x: x and 0\nreturn f(1)", 0),
        ("assert True\nreturn ','.join([p.strip().lower() for p in 'A , B'.split(',')])", "a,b"),
        ("return sorted(['b', 'A'], key=str.lower) + list(dict.fromkeys('aba'))", ["A", "b", "a", "b"]),
        ("return 'a.b,'.translate(str.maketrans('', '', '.,'))", "ab"),
        ("return [str.upper('x'), list(map(str.strip, [' a ']))]", ["X", ["a"]]),
        ("import random\nx = [1, 2, 3]\nrandom.shuffle(x)\nreturn sorted(x)", [1, 2, 3]),
        ("return 9223372036854775807", 2**63 - 1),
        ("return next((x for x in [1, 2] if x > 1), None)", 2),
        ("x = iter([1, 2])\nnext(x)\nreturn [next(x), next(x, 'over')]", [2, "over"]),
        ("return [chr(ord('A') + i) for i in range(3)]", ["A", "B", "C"]),
        (
            "v = ctx.memory\nreturn ['items' in v, v.get('none', 5), list(v.keys()), len(v)]",
            [True, 5, ["items"], 1],
        ),
        (
            "return [[*[1], *(2,)], {**{'a': 1}, 'b': 2}, [3, 2, 1][::-1]]",
            [[1, 2], {"a": 1, "b": 2}, [1, 2, 3]],
        ),
        ("d = {'a': 1, 'b': 3}\nreturn max(d, key=d.get)", "b"),
        ("a = b = [1]\na *= 2\na += [3]\nreturn [a, b]", [[1, 1, 3], [1, 1, 3]]),
        ("x = [1, 2, 3]\nx[0:2] = [9]\nx[0] += 1\nreturn x", [10, 3]),
        ("try:\n    [].pop()\nexcept (KeyError, IndexError) as e:\n    return str(e)", "pop from empty list"),
        ("return [isinstance(1, int | str), isinstance('a', (int, str | float))]", [True, True]),
        ("return [0 << 5000, 1**10**9, (-1)**10**9, [1] * True, 2**10]", [0, 1, 1, [1], 1024]),
        ("return [isinstance('a', str), isinstance(1, (str, int)), isinstance(1, str)]", [True, True, False]),
        ("x = None\nreturn f'{x} {1.5!r:>5} {[1]!s} {\"é\"!a}'", "None   1.5 [1] '\\xe9'"),
        (
            "return [str(1), str([None]), str(), repr('a'), list(map(str, [1, 2.5]))]",
            ["1", "[None]", "", "'a'", ["1", "2.5"]],
        ),
        ("i = 0\nwhile True:\n    i += 1\n    if i > 3:\n        break\nelse:\n    i = 0\nreturn i", 4),
    ],
)
def test_ordinary_code_runs(run: Run, body: str, value: object) -> None:
    result = run(body)
    assert (result.kind, result.message, result.value) == ("finished", "", value)


@pytest.mark.parametrize(
    ("body", "line", "says"),
    [
        ("import re", 2, "'re' is not available; use ctx.find(pattern, text)"),
        ("import os.path", 2, "'os' is not available; there are no files"),
        ("from pandas import array", 2, "'pandas' cannot be imported; only math and random can"),
        ("from math import factorial", 2, "math has no 'factorial' (it has: ceil, "),
        ("from typing import Any", 2, "leave annotations out"),
        ("x = 1\nreturn re.findall('a', 'a')", 3, "ctx.find(pattern, text)"),
        ("return open('/etc/passwd')", 2, "no files"),
        ("return '{}'.format(1)", 2, "f-string"),
        ("class A:\n    pass", 2, "dicts and functions"),
        ("with ctx as c:\n    pass", 2, "with"),
        ("global x\nx = 1", 2, "global"),
        ("match 1:\n    case 1:\n        pass", 2, "if and elif"),
        ("try:\n    pass\nexcept BaseException:\n    pass", 4, "use Exception"),
        ("ctx.budget = 1", 2, "cannot be set"),
        ("ctx.budget += 1", 2, "cannot be set"),
        ("return ().__class__", 2, "starts with"),
        ("return undefined_name", 2, "'undefined_name' is not defined"),
        ("len = 3\nreturn len", 2, "built in"),
        ("return b'bytes'", 2, "bytes"),
        (f"return {10**90}", 2, "256 bits"),
        ("return f'{1:{5}}'", 2, "format spec"),
        ("return f'{1:5000}'", 2, "format spec"),
        ("def f(:\n", 2, "syntax error"),
        ("break", 2, "syntax error: 'break' outside loop"),
        ("return dict(a=1, a=2)", 2, "keyword argument repeated"),
        ("nonlocal nothing", 2, "no binding for nonlocal"),
        ("return 1 @ 2", 2, "no matrices"),
        ("x = 1\nx @= 2", 3, "no matrices"),
        ("return [x async for x in ctx]", 2, "asynchronous"),
        ("return " + "(" * 70 + "1" + ")" * 70 + "+ 1" * 70, 2, "nested more than"),
    ],
)
def test_refusals_name_the_line_and_the_way_out(run: Run, body: str, line: int, says: str) -> None:
    result = run(body)
    assert result.kind == "policy_violation"
    assert says in result.message
    assert result.line == line


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("while True:\n    pass\n", "top level"),
        ("X = [1] * 5\ndef strategy(ctx, question):\n    return 1\n", "top level"),
        ("def other(ctx, question):\n    return 1\n", "define exactly one function strategy"),
        ("def strategy(question):\n    return 1\n", "must begin with the parameters (ctx, question)"),
        ("def strategy(ctx, question):\n    return 1\n" * 2, "exactly one"),
        ("@print\ndef strategy(ctx, question):\n    return 1\n", "decorators"),
        ("def strategy(ctx, question):\n    return '" + "x" * 70_000 + "'\n", "64 KB"),
        ("def strategy(ctx, question):\n    return 1\n" + "\n" * 2001, "2000 lines"),
        ("def strategy(ctx, question):\n    return '\0'\n", "syntax error"),
    ],
)
def test_checking_runs_nothing_and_says_what_is_wrong(source: str, says: str) -> None:
    assert says in " ".join(str(violation) for violation in check_source(source))


def test_a_legal_source_has_no_violations() -> None:
    constants = "MINUTES = 5 * 60\nLIMITS = {'a': [1, -2.5], 'b': ('x', None)}\n"
    assert check_source(constants + "def strategy(ctx, question):\n    return LIMITS\n") == []
    assert check_source("def tool(memory, kind='event'):\n    return memory.summary()\n", "tool") == []


def test_a_typo_is_an_error_and_not_a_none(run: Run) -> None:
    result = run("return ctx.serch('x')")
    assert (result.kind, result.line) == ("strategy_error", 2)
    assert "there is no 'serch' (there is: ask_vlm, memory, sample_frames, search, secret)" in result.message


@pytest.mark.parametrize(
    "text",
    [
        "str(print)",
        "repr([f])",
        "f'{f}'",
        "f'{[f]!r}'",
        "'%s' % f",
        "str(ValueError(f))",
        "str(x for x in [1])",
    ],
)
def test_no_text_tells_an_address(run: Run, text: str) -> None:
    result = run(f"def f():\n    pass\nprint(f)\nreturn {text}")
    assert not re.search("0x[0-9a-f]{6}", result.message + result.prints + str(result.value))
    assert result.kind == "finished" or result.kind == "policy_violation"
