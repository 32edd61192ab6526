"""Iterators and functions in the `monty` backend: they work when they are asked, and may ask the host."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import BaseModel

from evoharness.sandbox import HostApi, HostMethod, ProcessSandbox, SandboxLimits, SandboxResult
from evoharness.sandbox.monty import MontySandbox

pytestmark = pytest.mark.skipif(
    find_spec("pydantic_monty") is None, reason="the extra monty is not installed"
)


class Query(BaseModel):
    query: Any = None


Pair = tuple[MontySandbox, ProcessSandbox]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    ours, theirs = MontySandbox(), ProcessSandbox()
    yield ours, theirs
    ours.close()
    theirs.close()


def _both(pair: Pair, body: str) -> tuple[SandboxResult, SandboxResult, list[Any], list[Any]]:
    """The results, and what the host was asked for."""
    source = "def strategy(ctx, question):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    results, asked = [], []
    for sandbox in pair:
        calls: list[Any] = []

        def search(arguments: Query, calls: list[Any] = calls) -> Any:
            calls.append(arguments.query)
            return arguments.query

        api = HostApi({"search": HostMethod(search, Query)}, {"video": {"d": 1}})
        results.append(sandbox.run(source, "strategy", {"question": "q"}, api, SandboxLimits()))
        asked.append(calls)
    return (*results, *asked)  # type: ignore[return-value]


@pytest.mark.parametrize(
    "body",
    [
        "return any(x > 3 for x in range(10**7))",
        "return all(x < 3 for x in range(10**7))",
        "return next(x for x in range(10**7) if x > 3)",
        "return next((x * y for x in [0, 1, 2] if x for y in [5]), None)",
        "return [next((x for x in []), 'no'), any(x for x in []), all(x for x in [])]",
        "return next(x for x in [1, 2, 0] if 1 // x)",
        "return next(map(lambda x: 1 // x, [1, 0]))",
        "def f(it):\n    for x in it:\n        return x\nreturn f(1 // 0 if i == 2 else i for i in range(3))",
        "for i, x in enumerate(range(10**8)):\n    if i > 2:\n        return [i, x]",
        "for a, b in zip(range(10**8), range(5, 10**8)):\n    return [a, b]",
        "for x in map(lambda v: v * 2, range(10**8)):\n    return x",
        "for x in filter(lambda v: v > 2, range(10**8)):\n    return x",
        "return [next(reversed(range(10**8))), list(reversed('ab')), list(reversed({1: 2}))]",
        "x = [1, 2, 3]\nfor i, v in enumerate(x):\n    if len(x) < 6:\n        x.append(v)\nreturn [x, i]",
        "x = [1, 2, 3, 4]\nfor i, v in enumerate(x):\n    if v % 2 == 0:\n        x.pop(i)\nreturn x",
        "i = iter([1, 2, 3, 4])\nreturn list(zip(i, i))",
        "g = (x for x in [1, 2, 3])\nreturn [2 in g, list(g), list(g)]",
        "g = (1 // x for x in [0, 1])\ntry:\n    next(g)\nexcept ZeroDivisionError:\n    return list(g)",
        "g = map(lambda x: 1 // x, [0, 1])\ntry:\n    next(g)\nexcept ZeroDivisionError:\n    return list(g)",
        "m = map(str, [1, 2])\nreturn [','.join(m), list(m)]",
        "k = 2\ng = (v * k for v in [1, 2])\nk = 3\nreturn list(g)",
        "x = [1]\ng = (v for v in x)\nx.append(4)\nx = []\nreturn list(g)",
        "def pairs(x):\n    return zip(x, x[1:])\nreturn [b - a for a, b in pairs([1, 4, 9])]",
        "rows = [[1, 2], [3, 4]]\nreturn [list(zip(*rows)), list(map(sum, zip(*rows))), list(zip())]",
        "return [list(map(lambda a, b: a + b, [1, 2], [3, 4, 5])), list(map(max, [1, 5], [2, 3]))]",
        "return list(zip([1, 2], iter([3]), strict=True))[0] if question == 'p' else 1",
        "try:\n    list(zip([1, 2], iter([3]), strict=True))\nexcept ValueError:\n    return 'short'",
        "try:\n    for _ in zip([1], iter([3, 4]), strict=True):\n        pass\nexcept ValueError:\n"
        "    return 'long'",
        "a, *b = map(int, '123')\nreturn [a, b, *(x for x in 'ab'), max(*(x for x in [1, 2]))]",
        "return [list(enumerate('ab', start=3)), dict(enumerate('ab')), list(filter(str.isdigit, 'a1'))]",
        "return max((x, i) for i, x in enumerate([3, 9, 1]))",
        "f = [len, sum, sorted, zip, enumerate, reversed]\n"
        "return [list(f[3]([1], 'a')), f[0]('ab'), f[2]('ba')]",
        "return [str(map(str, 'a')), f'{zip([1])}', repr(enumerate([])), bool(filter(None, []))]",
        "return [3, {'a': (x for x in [1])}]",
        "return [map(str, [1])]",
        "return ctx.search(enumerate([1]))",
        "return ctx.search(zip([1], [2]))",
        "return max(map(str, [1]), map(str, [2]))",
        "return ctx",
        "n = 0\ndef bump(x):\n    nonlocal n\n    n += x\n    return n\ng = (bump(x) for x in [1, 2])\n"
        "a = n\nreturn [a, next(g), n, list(g), n]",
    ],
)
def test_iterators_do_what_they_are_asked_for(pair: Pair, body: str) -> None:
    here, there, _, _ = _both(pair, body)
    assert (here.kind, here.value) == (there.kind, there.value)
    if here.kind == "invalid_answer" or here.kind == "host_call_error":
        assert here.message == there.message


@pytest.mark.parametrize(
    "body",
    [
        "return any(ctx.search(x) > 1 for x in [1, 2, 3])",
        "return all(ctx.search(x) < 2 for x in [1, 2, 3] if x)",
        "return any(ctx.search(x) > y for x, y in [(1, 2), (2, 1), (3, 1)])",
        "return next((ctx.search(x) for x in [1, 2, 3] if x > 1), None)",
        "return next(x for x in [1, 2, 3] if ctx.search(x) > 1)",
        "return list(map(ctx.search, 'ab')) + list(map(lambda x: ctx.search(x), 'cd'))",
        "return [y for y in map(ctx.search, [1, 2])] + list(filter(ctx.search, [0, 1]))",
        "return sorted([3, 1, 2], key=ctx.search)",
        "return sorted([3, 1], key=lambda v: -ctx.search(v), reverse=True)",
        "x = [3, 1, 2]\nx.sort(key=ctx.search)\nx.sort(key=lambda v: -ctx.search(v))\nreturn x",
        "return [max([1, 3], key=ctx.search), min(4, 3, key=ctx.search), min([], key=ctx.search, default=7)]",
        "return sorted([(1, 'b'), (0, 'a'), (1, 'a')], key=lambda p: ctx.search(p[0]), reverse=True)",
        "def f(v):\n    return g(v)\ndef g(v):\n    return h(v)\ndef h(v):\n    return ctx.search(v)\n"
        "return [sorted([2, 1], key=f), sum(f(x) for x in [1, 2]), list(map(f, [1]))]",
        "def f(v):\n    return g(v)\ndef g(v):\n    return v and f(v - 1)\nreturn sorted([3, 1, 2], key=f)",
        "f = sorted\ng = max\nreturn [f([2, 1], key=ctx.search), g([1, 2], key=ctx.search)]",
        "def each(f, x):\n    return [f(v) for v in x]\n"
        "return list(map(lambda x: each(ctx.search, [x]), [1, 2]))",
        "find = ctx.search\nreturn sum(find(x) for x in [1, 2]) + max(find(x) for x in [3, 1])",
        "calls = {'s': ctx.search}\nreturn list(map(lambda x: calls['s'](x), [1, 2]))",
        "return dict(zip('ab', map(ctx.search, [1, 2])))",
        "try:\n    return sorted([1, 2], key=lambda v: ctx.search(what=v))\nexcept HostCallError as e:\n"
        "    return str(e)",
        "def depth(n):\n"
        "    return 0 if n == 0 else 1 + max([n], key=lambda v: depth(v - 1)) * 0 + depth(n - 1) * 0\n"
        "return depth(6)",
        "def f(n):\n    return 1 + sorted([n], key=lambda v: f(v - 1) if v else 0)[0]\nreturn f(40)",
    ],
)
def test_whatever_calls_a_function_of_the_source_may_ask_the_host(pair: Pair, body: str) -> None:
    here, there, asked_here, asked_there = _both(pair, body)
    assert (here.kind, here.value, here.fuel) == ("finished", there.value, there.fuel)
    assert asked_here == asked_there


@pytest.mark.parametrize(
    "body",
    [
        "f = [lambda i=i: i for i in range(2)]\n"
        "return [f[0] == f[1], f[0] is f[0], len(set(f)), f.index(f[1]), f[1]()]",
        "d = {}\nfor i in range(3):\n    d[lambda: i] = i\nreturn len(d)",
        "return len({lambda: 1, lambda: 2, lambda: 3})",
        "def f():\n    def g():\n        return 1\n    return g\nreturn [f() == f(), f()(), len({f(), f()})]",
        "def f():\n    def g(n):\n        return 1 if n < 2 else n * g(n - 1)\n    return g\na = f()\n"
        "return [a(5), a == a]",
        "def f(k):\n    if k:\n        def g(x):\n            return x * k\n    else:\n        def g(x):\n"
        "            return x\n"
        "    return list(map(g, [1, 2])) + [g(5)]\nreturn [f(0), f(3)]",
        "f = [(lambda: x) for x in range(3)]\nreturn [g() for g in f]",
        "f = {'a': lambda x: x + 1, 'b': lambda x, k=2: x * k}\n"
        "return [f[k](3) for k in f] + [f['b'](3, k=5)]",
        "y = 5\nf = [lambda: y]\ny = 6\nreturn f[0]()",
        "return (lambda x: [lambda y: x + y])(1)[0](2)",
        "def f(g):\n    return [g(1), g]\na, b = f(lambda x: x), f(lambda x: x)\nreturn [a[0], a[1] == b[1]]",
    ],
)
def test_functions_made_by_the_same_line_are_different_ones(pair: Pair, body: str) -> None:
    here, there, _, _ = _both(pair, body)
    assert (here.kind, here.value, here.fuel) == ("finished", there.value, there.fuel)


@pytest.mark.parametrize(
    "body",
    [
        "g = iter([1])\nfor _ in range(30000):\n    g = (x for x in g)\nreturn list(g)",
        "g = [1]\nfor _ in range(3000):\n    g = map(lambda v: v, enumerate(filter(None, zip(g))))\n"
        "return len(list(g))",
        "f = lambda n: sorted([n], key=lambda v: f(v + 1))\nreturn f(0)",
    ],
)
def test_iterators_of_iterators_end_typed(pair: Pair, body: str) -> None:
    assert _both(pair, body)[0].kind == "recursion_limit"
