"""Skills: Agent Skills folders whose trigger decides whether they speak to a question.

`SKILL.md` begins with front matter: `name`, `description`, and `metadata` with `trigger` and, where a
program should follow the rule too, `plan`: a JSON list such as `[{"look": "after", "seconds": 60}]`.

A trigger lists words or phrases separated by `|`; one that occurs in the question, as whole words and in
any case, fires it. An empty trigger always fires.
"""

import json
import re
from collections.abc import Mapping
from typing import Literal

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from evoharness.records.base import Record


class PlanStep(Record):
    """A rule that the host follows before the strategy starts: look beside the event of the question."""

    look: Literal["after", "before", "inside"]
    """Which side of the located event."""
    seconds: float = Field(default=60.0, gt=0, le=300)
    """How much of it to look at; `inside` looks at the whole event."""


class Skill(Record):
    """A skill as the host uses it."""

    name: str
    description: str = ""
    trigger: str = ""
    """When it fires."""
    plan: tuple[PlanStep, ...] = ()
    """What the host looks at by itself when it fires."""
    text: str
    """What a model reads."""


class SkillError(ValueError):
    """A SKILL.md that cannot be read; the message says why."""


_PLAN = TypeAdapter(tuple[PlanStep, ...])
_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)


def read_skill(name: str, files: Mapping[str, str]) -> Skill:
    """The skill in a folder; SkillError when its SKILL.md does not have the expected form."""
    source = files["SKILL.md"].replace("\r\n", "\n")
    found = _FRONT.match(source)
    if found is None:
        return Skill(name=name, text=source.strip())
    try:
        front = yaml.safe_load(found[1])
        metadata = (front or {}).get("metadata") or {}
        plan = metadata.get("plan") or "[]"
        return Skill(
            name=name,
            description=str(front.get("description") or ""),
            trigger=str(metadata.get("trigger") or ""),
            plan=_PLAN.validate_python(json.loads(plan) if isinstance(plan, str) else plan),
            text=source[found.end() :].strip(),
        )
    except (yaml.YAMLError, AttributeError, ValidationError, ValueError) as error:
        raise SkillError(f"skill {name}: SKILL.md: {' '.join(str(error).split())}") from error


def fires(trigger: str, text: str) -> bool:
    """Whether a trigger fires on the text of a question."""
    phrases = [words for part in trigger.split("|") if (words := _words(part))]
    said = f" {_words(text)} "
    return not phrases or any(f" {phrase} " in said for phrase in phrases)


def fired(skills: Mapping[str, Mapping[str, str]], text: str) -> list[Skill]:
    """The skills that speak to a question, by name; those that cannot be read never fire."""
    speaking = []
    for name in sorted(skills):
        try:
            skill = read_skill(name, skills[name])
        except SkillError:
            continue
        if fires(skill.trigger, text):
            speaking.append(skill)
    return speaking


def allowed_tools(policy: Mapping[str, tuple[str, ...]], text: str) -> tuple[str, ...] | None:
    """The tools that a policy allows for a question; None: every tool."""
    for trigger, tools in policy.items():
        if trigger != "default" and fires(trigger, text):
            return tools
    return policy.get("default")


def guidance(skills: list[Skill]) -> str:
    """What the skills that fired have to say, for prompts."""
    return "\n\n".join(skill.text for skill in skills if skill.text)


def _words(text: str) -> str:
    return " ".join(re.findall(r"[\w']+", text.casefold()))


def skill_markdown(skill: Skill) -> str:
    """The SKILL.md that reads back as `skill`."""
    metadata = {"trigger": skill.trigger}
    if skill.plan:
        metadata["plan"] = json.dumps([step.model_dump() for step in skill.plan])
    front = {"name": skill.name, "description": skill.description, "metadata": metadata}
    return f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---\n{skill.text.strip()}\n"
