"""The exchanges of all tasks, by type of task."""

from functools import cache
from typing import Any

from evoharness.models.backbone import UnsupportedTask
from evoharness.models.exchanges.exchange import Exchange, frames_of, name_of, origin_of
from evoharness.models.task import Task

__all__ = ["Exchange", "exchange_of", "frames_of", "name_of", "origin_of", "task_types"]


def exchange_of(task: Task[Any]) -> Exchange[Any, Any]:
    """The exchange of a task; UnsupportedTask when there is none for its type."""
    found = _exchanges().get(type(task))
    if found is None:
        raise UnsupportedTask(f"there is no prompt for {type(task).__name__}")
    return found


def task_types() -> tuple[type[Task[Any]], ...]:
    """Every type of task that has a prompt."""
    return tuple(_exchanges())


@cache
def _exchanges() -> dict[type[Task[Any]], Exchange[Any, Any]]:
    from evoharness.models.exchanges import judging, perception, proposing, reasoning, revising, tooling

    found: dict[type[Task[Any]], Exchange[Any, Any]] = {}
    for room in (perception, reasoning, judging, proposing, tooling, revising):
        found.update(room.EXCHANGES)
    return found
