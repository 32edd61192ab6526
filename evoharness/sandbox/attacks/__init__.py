"""Attacks on the sandbox that ship with it, and ordinary code that must run, as data.

Each YAML file is one group: `about`, then `attacks`, each with an `id`, what it `tries`, and either a whole
`source` or the `body` of `strategy(ctx, question)`. An attack got through when its answer begins with PWNED
or something outside changed. `raw: true`: run without the language layer, so that only the system holds it.
`ordinary: true`: no attacks but code that must run, with the `value` that it must return where one is given.
"""

import platform
from importlib.resources import files
from textwrap import indent
from typing import Any

import yaml

from evoharness.records.base import Record
from evoharness.sandbox.result import Kind

SUCCESS = "PWNED"
"""What the answer of a successful attack begins with."""


class Attack(Record):
    """One source, and what may become of it."""

    group: str
    """Name of the file that it is from."""
    id: str
    """Its name in the group."""
    tries: str
    """What it tries, in one line."""
    source: str
    """What is run, before `filled` puts in the things to attack."""
    kinds: tuple[Kind, ...] = ()
    """The ways in which it may end; empty: in any."""
    value: Any = None
    """What ordinary code must return; None: anything."""
    raw: bool = False
    """Whether it is run without the language layer."""
    ordinary: bool = False
    """Whether it is no attack."""
    not_in: tuple[str, ...] = ()
    """Backends in which this ordinary code is known not to run."""

    def filled(self, targets: dict[str, str]) -> str:
        """The source with names such as `{folder}` replaced by the things to attack."""
        source = self.source
        for name, value in targets.items():
            source = source.replace("{" + name + "}", value)
        return source


def groups() -> list[str]:
    """Names of the groups, in the order in which they are run."""
    return sorted(name.removesuffix(".yaml") for name in _names() if name.endswith(".yaml"))


def load_attacks() -> list[Attack]:
    """All attacks of all groups, ordinary code included."""
    return [attack for group in groups() for attack in load_group(group)]


def load_group(group: str) -> list[Attack]:
    """The attacks of one group."""
    text = (files(__name__) / f"{group}.yaml").read_text(encoding="utf-8")
    content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    raw, ordinary = content.get("raw", False), content.get("ordinary", False)
    before = content.get("prelude", "")
    if raw:
        numbers = content.get("numbers", {}).get(platform.machine(), {})
        before = f"NUMBERS = {numbers!r}\n{before}"
    return [_read(group, entry, before, raw, ordinary) for entry in content["attacks"]]


def _read(group: str, entry: dict[str, Any], before: str, raw: bool, ordinary: bool) -> Attack:
    if "body" in entry:
        source = f"{before}\ndef strategy(ctx, question):\n{indent(entry['body'], '    ')}".lstrip("\n")
    else:
        source = before + entry["source"]
    for place, (text, count) in entry.get("repeat", {}).items():
        source = source.replace(place, text * count)
    return Attack(
        group=group,
        id=entry["id"],
        tries=entry["tries"],
        source=source,
        kinds=tuple(entry.get("kinds", ())),
        value=entry.get("value"),
        raw=raw,
        ordinary=ordinary,
        not_in=tuple(entry.get("not_in", ())),
    )


def _names() -> list[str]:
    return [item.name for item in files(__name__).iterdir()]
