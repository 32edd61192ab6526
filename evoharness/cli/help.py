"""The help of a command, from its configuration: nothing here has to be kept in step by hand."""

import re
import shutil
import textwrap
from importlib.resources import files

from evoharness.cli.command import Command
from evoharness.cli.schema import Key, keys


def help_text(command: Command, config: type) -> str:
    """What `--help` prints."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    parts = [f"usage: python -m evoharness.{command.name} [key=value …]", "", command.purpose, ""]
    top = [key for key in keys(config) if "." not in key.name or key.alias]
    parts += ["settings:", *_table([(_shown(key), key.description) for key in top], width), ""]
    groups = options_of_groups()
    rows = [(f"{name}=…", " | ".join(groups[name])) for name in chosen_groups(command.name) if name in groups]
    if rows:
        parts += ["groups (a whole section at once):", *_table(rows, width), ""]
    nested = [key for key in keys(config) if "." in key.name and not key.alias]
    if nested:
        parts += ["single settings of the sections:"]
        parts += [*_table([(_shown(key), key.description) for key in nested], width), ""]
    if command.examples:
        parts += [
            "examples:",
            *(f"  python -m evoharness.{command.name} {e}".rstrip() for e in command.examples),
            "",
        ]
    parts += [
        "Values shown are those without a preset. Paths and texts are taken literally, whatever is in them.",
        "--cfg job prints the configuration; -m runs one job for each combination of key=a,b values.",
    ]
    return "\n".join(parts)


def options_of_groups() -> dict[str, list[str]]:
    """The folders of configs/ and what can be chosen in each."""
    groups = {}
    for folder in files("evoharness.configs").iterdir():
        if folder.is_dir() and not folder.name.startswith(("_", ".")):
            names = sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".yaml"))
            if names:
                groups[folder.name] = names
    return groups


def chosen_groups(command: str) -> list[str]:
    """The groups that a command composes its configuration from, by its file in configs/."""
    file = files("evoharness.configs").joinpath(f"{command}.yaml")
    if not file.is_file():
        return []
    return re.findall(r"^ +- ([a-z_]+): ", file.read_text(encoding="utf-8"), re.MULTILINE)


def _shown(key: Key) -> str:
    name = key.alias or key.name
    if key.open:
        return f"{name}.KEY=VALUE"
    if key.default is None:
        return f"{name}="
    return f"{name}={str(key.default).lower() if isinstance(key.default, bool) else key.default}"


def _table(rows: list[tuple[str, str]], width: int) -> list[str]:
    column = min(max((len(name) for name, _ in rows), default=0), 34)
    lines = []
    for name, description in rows:
        wrapped = textwrap.wrap(description, max(30, width - column - 4)) or [""]
        if len(name) > column:
            lines.append(f"  {name}")
        else:
            lines.append(f"  {name:<{column}}  {wrapped.pop(0)}".rstrip())
        lines += [f"  {'':<{column}}  {line}" for line in wrapped if line]
    return lines
