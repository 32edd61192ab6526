"""Every run ends, with a kind that says how, and the next one works."""

import time

import pytest
from pydantic import BaseModel

from evoharness.sandbox import HostApi, HostCallError, HostMethod, SandboxLimits
from tests.sandbox.conftest import Run


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("while True:\n    pass", "step_budget_exceeded"),
        (
            "while True:\n    try:\n        while True:\n            pass\n    except:\n        pass",
            "step_budget_exceeded",
        ),
        (
            "try:\n    while True:\n        pass\nfinally:\n    while True:\n        pass",
            "step_budget_exceeded",
        ),
        ("try:\n    while True:\n        pass\nfinally:\n    return 1", "step_budget_exceeded"),
        ("def g():\n    while True:\n        yield 0\nreturn 1 in g()", "step_budget_exceeded"),
        ("f = lambda x: f(x)\nreturn f(1)", "recursion_limit"),
        ("def f():\n    return f()\nreturn f()", "recursion_limit"),
        ("return 'a' * 10**12", "strategy_error"),
        ("return 10**10**8", "strategy_error"),
        ("return 1 << 800000000", "strategy_error"),
        ("return True << 80000000", "strategy_error"),
        ("return '%((x)y)20000000d' % {'(x)y': 1}", "strategy_error"),
        (
            "try:\n    while True:\n        pass\nfinally:\n    try:\n        ctx.search('x')\n"
            "    finally:\n        raise ValueError(1)",
            "step_budget_exceeded",
        ),
        ("return '%03000000000d' % 1", "strategy_error"),
        ("return int('9' * 10**6)", "strategy_error"),
        ("raise ValueError('a' * 10**6)", "strategy_error"),
        ("x = []\nx.append(x)\nreturn x", "invalid_answer"),
        ("return lambda: 1", "invalid_answer"),
        ("return {1: 2}", "invalid_answer"),
        ("return float('nan')", "invalid_answer"),
        ("return 'a' * 10**5", "invalid_answer"),
        ("return '\\ud800'", "invalid_answer"),
        ("return ctx", "invalid_answer"),
    ],
)
def test_a_run_ends_with_its_kind(run: Run, body: str, kind: str) -> None:
    result = run(body)
    assert (result.kind, result.value) == (kind, None)
    assert result.message
    assert len(result.message) <= 500
    assert run("return 1").value == 1


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize(
    "body",
    [
        "x = []\nwhile True:\n    x.append('a' * 10**6 + str(len(x)))",
        "return len('1'.zfill(3 * 10**9))",
        "x = [0]\nwhile True:\n    x += x",
        "return 'a'.replace('a', 'b' * 10**6).replace('b', 'c' * 10**6)",
    ],
)
def test_memory_is_limited(run: Run, body: str) -> None:
    assert run(body).kind == "memory_limit_exceeded"
    assert run("return 1").value == 1


@pytest.mark.usefixtures("confined")
def test_processor_time_that_no_step_counts_is_limited(run: Run) -> None:
    started = time.monotonic()
    result = run("return sum(range(10**12))", SandboxLimits(cpu_seconds=1))
    assert result.kind == "cpu_time_exceeded"
    assert result.cpu_seconds >= 0.5  # the system counts by ticks, and its books differ a little
    assert time.monotonic() - started < 4


@pytest.mark.usefixtures("confined")
def test_wall_time_is_limited(run: Run) -> None:
    result = run("return sum(range(10**12))", SandboxLimits(own_seconds=0.3))
    assert result.kind == "wall_timeout"


def test_time_in_host_calls_is_counted_apart(run: Run) -> None:
    api = HostApi({"wait": HostMethod(lambda _: time.sleep(0.5))})
    result = run("ctx.wait()\nreturn 1", SandboxLimits(own_seconds=0.4), api)
    assert result.kind == "finished"
    assert result.host_seconds >= 0.5
    assert result.own_seconds < 0.4


def test_host_calls_are_limited_and_no_handler_helps(run: Run) -> None:
    body = "while True:\n    try:\n        ctx.search('x')\n    except Exception:\n        pass"
    result = run(body, SandboxLimits(host_calls=7))
    assert (result.kind, result.calls) == ("host_call_budget_exceeded", 7)


def test_steps_are_the_same_on_every_run(run: Run) -> None:
    body = "return sorted({str(i) for i in range(50)}, key=lambda t: len(t))"
    first, second = run(body), run(body)
    assert first.fuel == second.fuel > 50
    assert first.value == second.value


def test_printing_what_is_no_unicode_does_no_harm(run: Run) -> None:
    result = run("print('\\ud800')\nreturn 1")
    assert (result.kind, result.prints) == ("finished", "?\n")


def test_printing_is_kept_up_to_a_limit(run: Run) -> None:
    result = run("for i in range(10**5):\n    print('line', i)\nreturn 1")
    assert result.prints.startswith("line 0\nline 1\n")
    assert len(result.prints) == 16 * 1024


class Count(BaseModel):
    n: int


def test_host_calls_are_checked_and_their_errors_can_be_caught(run: Run) -> None:
    def fail(_: Count) -> None:
        raise HostCallError("not today")

    api = HostApi({"double": HostMethod(lambda a: 2 * a.n, Count), "fail": HostMethod(fail, Count)})
    assert run("return ctx.double(21)", api=api).value == 42
    assert "n: Input should be a valid integer" in run("return ctx.double('x')", api=api).message
    assert "it takes: n" in run("return ctx.double(m=1)", api=api).message
    assert "takes 1 arguments" in run("return ctx.double(1, 2)", api=api).message
    assert "must be JSON" in run("return ctx.double({1, 2})", api=api).message
    caught = "try:\n    ctx.fail(1)\nexcept HostCallError as error:\n    return str(error)"
    assert run(caught, api=api).value == "fail: not today"


def test_any_other_error_of_the_host_ends_the_run_and_is_raised(run: Run) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("a defect of the host")

    with pytest.raises(ZeroDivisionError):
        run(
            "try:\n    ctx.broken()\nexcept Exception:\n    return 1",
            api=HostApi({"broken": HostMethod(broken)}),
        )
    assert run("return 1").value == 1


def test_what_a_run_changes_stays_in_it(run: Run) -> None:
    assert (
        run("question['options'].append('x')\nctx.memory.items.append('poison')\nreturn 1").kind == "finished"
    )
    assert run("return [question['options'], ctx.memory.items]").value == [["a"], [1]]
