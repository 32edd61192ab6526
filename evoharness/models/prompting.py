"""From a task to the prompt that a model reads, and from what it answers to the output of the task.

Each task has a template `prompts/<task>.md.j2` with the blocks `system`, `before` and `after`: what stands
before and after the frames. A template never sees the inputs of its task: `section(name)` places a field, as
JSON between tags that it cannot close (see `fencing`); `name in given` says whether there is anything in it;
beside these it knows a few facts, which are numbers and words of the program.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.models.exchanges import exchange_of, frames_of, name_of, origin_of
from evoharness.models.fencing import fenced
from evoharness.models.task import Output, Task
from evoharness.records.frame import Frame

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from jinja2.runtime import Context

PROMPTS = Path(__file__).parent / "prompts"
BLOCKS = ("system", "before", "after")


@dataclass(frozen=True)
class Prompt:
    """What a model is given for one task."""

    system: str
    """Role, rules, and the output in words."""
    parts: tuple[str | Frame, ...]
    """User content in order; each frame comes after a text with its time."""
    schema: Mapping[str, Any]
    """JSON schema of the answer, within the strict modes of providers."""
    accepted: Mapping[str, Any]
    """JSON schema of answers that are understood."""
    name: str
    """Name of the task in snake_case."""
    version: str
    """12 hexadecimal digits over the template, what it includes, and the schema."""


def render(task: Task[Any]) -> Prompt:
    """The prompt of a task; UnsupportedTask when there is none for its type."""
    exchange = exchange_of(task)
    name = name_of(type(task))
    sections = exchange.sections(task)
    schema = exchange.schema(task)
    template = environment().get_template(f"{name}.md.j2")
    context = template.new_context(
        {
            "given": frozenset(field for field, value in sections.items() if value not in ("", (), [], {})),
            "section": lambda field: fenced(field, sections[field]),
            **exchange.facts(task),
        }
    )
    system, before, after = (_block(template, block, context) for block in BLOCKS)
    origin = origin_of(task)
    parts: list[str | Frame] = [before] if before else []
    for frame in frames_of(task):
        parts += [label_of(frame, origin), frame]
    if after:
        parts.append(after)
    return Prompt(
        system=system,
        parts=tuple(parts),
        schema=schema,
        accepted=exchange.accepted(task) if exchange.accepted is not None else schema,
        name=name,
        version=version_of(environment(), f"{name}.md.j2", schema),
    )


def read(task: Task[Output], answer: Mapping[str, Any]) -> Output:
    """The output of a task from the JSON object that a model answered.

    ValueError, in words that can be shown to the model, when the answer does not fit the task.
    """
    output: Output = exchange_of(task).read(task, answer)
    return output


def label_of(frame: Frame, origin: float = 0.0) -> str:
    """What stands before a frame: `frame at 12.5 s`, or `frame at 12.5 s, unchanged until 34 s`."""
    named = label(frame.time - origin)
    if frame.until is None:
        return named
    return f"{named}, unchanged until {_seconds(frame.until - origin)}"


def label(time: float) -> str:
    """What stands before a frame of which nothing else is known: `frame at 12.5 s`."""
    return f"frame at {_seconds(time)}"


def _seconds(time: float) -> str:
    return f"{max(0.0, time):.3f}".rstrip("0").rstrip(".") + " s"


def version_of(environment: "Environment", template: str, schema: Mapping[str, Any]) -> str:
    """Identity of a prompt: its template, all that this includes, and the schema."""
    written = json.dumps([_digest(environment, template), schema])
    return hashlib.sha256(written.encode()).hexdigest()[:12]


@cache
def environment() -> "Environment":
    """The templates; an undefined name in one is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(PROMPTS),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


@cache
def _digest(environment: "Environment", template: str) -> str:
    """sha256 over the source of a template and of every one that it includes."""
    from jinja2 import meta

    assert environment.loader is not None
    sources: dict[str, str] = {}
    open_names = [template]
    while open_names:
        name = open_names.pop()
        if name not in sources:
            sources[name] = environment.loader.get_source(environment, name)[0]
            found = meta.find_referenced_templates(environment.parse(sources[name]))
            open_names += [inner for inner in found if inner is not None]
    return hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()


def _block(template: "Template", name: str, context: "Context") -> str:
    if name not in template.blocks:
        return ""
    lines = (line.rstrip() for line in "".join(template.blocks[name](context)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
