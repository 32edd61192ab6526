"""A thousand runs in a row, one in three hostile, leave nothing behind."""

import os
from pathlib import Path

import pytest

from evoharness.sandbox import HostApi, ProcessSandbox, SandboxLimits

HONEST = "def strategy(ctx, question):\n    return sum(question)\n"
HOSTILE = (
    "def strategy(ctx, question):\n    while True:\n        pass\n",
    "def strategy(ctx, question):\n    return [0] * 10**10\n",
    "def strategy(ctx, question):\n    return '1'.zfill(3 * 10**9)\n",
    "def strategy(ctx, question):\n    return ().__class__\n",
    "def strategy(ctx, question):\n    return ctx\n",
)


@pytest.mark.verify
def test_a_thousand_runs_leak_nothing() -> None:
    sandbox = ProcessSandbox()
    limits = SandboxLimits(steps=20_000)

    def run(number: int) -> None:
        source = HOSTILE[number % len(HOSTILE)] if number % 3 == 0 else HONEST
        result = sandbox.run(source, "strategy", {"question": [1, 2]}, HostApi({}), limits)
        assert (result.kind == "finished") is (number % 3 != 0)
        assert result.value == (None if number % 3 == 0 else 3)

    for number in range(50):
        run(number)
    before = (_descriptors(), _resident())
    server = sandbox._server
    assert server is not None
    for number in range(1000):
        run(number)
    assert sandbox._server is server
    assert Path(f"/proc/{server._process.pid}/task/{server._process.pid}/children").read_text() == ""
    assert _descriptors() == before[0]
    assert _resident() - before[1] < 2 << 20
    sandbox.close()


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
