"""How long a confined run and a host call take here."""

import time
from collections.abc import Callable

from evoharness.records.base import Record
from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import HostApi, HostMethod, SandboxLimits

_RUN = "def strategy(ctx, question):\n    return [x for x in range(10)]\n"
_CALLS = "def strategy(ctx, question):\n    for _ in range(100):\n        ctx.ping()\n    return None\n"


class Latency(Record):
    """Milliseconds."""

    p50: float
    p95: float


class Figures(Record):
    """What was measured."""

    level: str
    """The layers that confined the runs."""
    start_ms: float
    """Until the fork server could take the first run."""
    run: Latency
    """A whole run: fork, confine, compile, execute, collect."""
    host_call: Latency
    """One call of the host, there and back."""


def measure(runs: int = 200, allow_weaker: bool = False) -> Figures:
    """Measure `runs` runs, and a tenth as many with a hundred host calls each."""
    sandbox = ProcessSandbox(allow_weaker)
    try:
        started = time.perf_counter()
        level = str(sandbox.level)
        start_ms = (time.perf_counter() - started) * 1000
        api = HostApi({"ping": HostMethod(lambda _: None)})
        limits = SandboxLimits()

        def run(source: str) -> None:
            sandbox.run(source, "strategy", {"question": {}}, api, limits)

        single = _times(lambda: run(_RUN), runs)
        hundred = _times(lambda: run(_CALLS), max(1, runs // 10))
        base = _latency(single).p50
        calls = [(milliseconds - base) / 100 for milliseconds in hundred]
        return Figures(
            level=level, start_ms=round(start_ms, 1), run=_latency(single), host_call=_latency(calls)
        )
    finally:
        sandbox.close()


def _times(work: Callable[[], None], count: int) -> list[float]:
    times = []
    for _ in range(count):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return times


def _latency(milliseconds: list[float]) -> Latency:
    ordered = sorted(milliseconds)
    return Latency(p50=round(ordered[len(ordered) // 2], 3), p95=round(ordered[len(ordered) * 95 // 100], 3))
