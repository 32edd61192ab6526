"""How large a task is: its frames, and the characters of its texts."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from evoharness.models.task import Task
from evoharness.records.frame import Frame

CHARACTERS_A_TOKEN = 4
"""What a token of English text comes to."""


def frames_of(task: Task[Any]) -> tuple[Frame, ...]:
    """The frames that a task shows."""
    single = getattr(task, "frame", None)
    several = getattr(task, "frames", ())
    return (single,) if isinstance(single, Frame) else tuple(several)


def characters_of(task: Task[Any]) -> int:
    """Length of everything in a task that is text, its numbers and names aside."""
    return sum(_characters(getattr(task, name)) for name in type(task).model_fields)


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Frame):
        return 0
    if isinstance(value, BaseModel):
        return sum(_characters(getattr(value, name)) for name in type(value).model_fields)
    if isinstance(value, Mapping):
        return len(json.dumps(value, default=str))
    if isinstance(value, list | tuple):
        return sum(_characters(item) for item in value)
    return 0
