# ruff: noqa: ARG001
"""Jobs for the executors' tests: real functions of a module, because workers import them by name."""

import os
import signal
import sys
import time
from pathlib import Path

from pydantic import BaseModel

from evoharness.evaluation import Workbench
from evoharness.models.budget import BudgetExceeded
from evoharness.models.reasoning_tasks import SummarizeVideo


class Unpicklable(Exception):
    """An error that cannot be rebuilt from its arguments."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def square(bench: Workbench, item: int) -> int:
    assert isinstance(bench, Workbench)
    return item * item


def who(bench: Workbench, item: str) -> tuple[str, int]:
    time.sleep(0.05)
    return item, os.getpid()


def threads(bench: Workbench, item: str) -> str | None:
    return os.environ.get(item)


def fail(bench: Workbench, item: str) -> str:
    if item == "value":
        raise ValueError("no such thing as 'value'")
    if item == "unpicklable":
        raise Unpicklable("a", "b")
    return item


def die_once(bench: Workbench, item: str) -> str:
    """`item` is a file: the first worker to see it leaves a mark there and dies."""
    mark = Path(item)
    if not mark.exists():
        mark.write_text("died")
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die(bench: Workbench, item: int) -> str:
    if item < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"item {item}"


def slow(bench: Workbench, item: int) -> int:
    time.sleep(0.3)
    return item


def hang(bench: Workbench, item: int) -> int:
    if item < 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        time.sleep(60)
    return item


def slow_or_die(bench: Workbench, item: int) -> int:
    """Kills its worker, a little later than others have begun, when it is below 0."""
    time.sleep(0.2 if item < 0 else 0.4)
    if item < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def slow_or_fail(bench: Workbench, item: int) -> int:
    time.sleep(0.2 if item < 0 else 0.4)
    if item < 0:
        raise ValueError(f"no such thing as {item}")
    return item


def used_by(bench: Workbench, item: int) -> int:
    """Asks the backbone `item` times, and is never alone."""
    for _ in range(item):
        bench.backbone.run(SummarizeVideo(super_events=("a red ball rolls away",)))
        time.sleep(0.01)
    return item


class Number(BaseModel):
    """Arguments of a method that takes a number."""

    n: int


def spend_or_wait(bench: Workbench, item: str) -> str:
    if item == "spend":
        raise BudgetExceeded("calls", 3, 3, 1)
    time.sleep(0.8)
    return item


FAILED_ONCE: set[str] = set()


def fail_once(bench: Workbench, item: str) -> str:
    """Fails in the way of a parser that other threads disturb, the first time that it sees an item."""
    if item not in FAILED_ONCE:
        FAILED_ONCE.add(item)
        raise SystemError("AST constructor recursion depth mismatch (before=150, after=95)")
    return item


def modules(bench: Workbench, item: int) -> list[str]:
    """Rooms' modules that are imported so far."""
    return sorted(name for name in sys.modules if name.startswith("evoharness."))
