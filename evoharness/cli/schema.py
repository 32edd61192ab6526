"""Reads the dataclasses of the configuration: which keys are texts, their short names, what they mean."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_type_hints

_TEXT = "evoharness.text"
_ALIAS = "evoharness.alias"
_OPEN = "evoharness.open"

OPEN = {_OPEN: True}
"""Metadata of a field for a mapping to which any key can be added."""


def text(default: str | None = None, alias: str | None = None) -> Any:
    """A field for a path or a text: its value on the command line is taken literally.

    `alias` is a short name under which it can be given too.
    """
    return field(default=default, metadata={_TEXT: True, _ALIAS: alias})


@dataclass(frozen=True)
class Key:
    """One leaf of a configuration."""

    name: str
    """Dotted path."""
    kind: Any
    """Its type."""
    default: Any
    """Its default."""
    text: bool
    alias: str | None
    open: bool
    description: str
    """First paragraph of the line of documentation under the field."""


def keys(config: type) -> Iterator[Key]:
    """Every leaf of a configuration dataclass, in order."""
    return _leaves(config, config(), "")


def _leaves(config: type, values: Any, prefix: str) -> Iterator[Key]:
    hints = get_type_hints(config)
    descriptions = _descriptions(config)
    for item in fields(config):
        value = getattr(values, item.name)
        if isinstance(value, str) and value.startswith("${"):
            continue  # another section under a second name
        kind = hints[item.name]
        name = prefix + item.name
        if isinstance(kind, type) and is_dataclass(kind):
            yield from _leaves(kind, value, name + ".")
        else:
            yield Key(
                name=name,
                kind=kind,
                default=value,
                text=bool(item.metadata.get(_TEXT)),
                alias=item.metadata.get(_ALIAS),
                open=bool(item.metadata.get(_OPEN)),
                description=descriptions.get(item.name, ""),
            )


def _descriptions(config: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in reversed(config.__mro__):
        if not is_dataclass(base):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for statement, after in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                found[statement.target.id] = " ".join(after.value.value.split("\n\n")[0].split())
    return found
