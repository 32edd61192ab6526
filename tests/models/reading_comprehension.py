"""Reads the tables of `tests/models/reading`: notes on a video, and questions about them.

A table has `START-END: note` lines (or notes as a strategy would write them, with their time in front), then
one question a line: `kind | question | right option | wrong option | …`. The right option comes first in the
table and moves through all positions in the test.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval

FOLDER = Path(__file__).parent / "reading"


@dataclass(frozen=True)
class Asked:
    """One question with its options in the order shown."""

    kind: str
    text: str
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True)
class Recording:
    """Notes on one video and the questions about it."""

    name: str
    evidence: tuple[Evidence, ...]
    questions: tuple[Asked, ...]


def _evidence(line: str) -> Evidence:
    match = re.match(r"([\d.]+)-([\d.]+): (.*)", line)
    if match is None:
        return Evidence(source="look", text=line)
    interval = Interval(start=float(match[1]), end=float(match[2]))
    return Evidence(source="look", interval=interval, text=match[3])


def _question(line: str, position: int) -> Asked:
    kind, text, *options = line.split(" | ")
    shift = position % len(options)
    shown = options[len(options) - shift :] + options[: len(options) - shift]
    return Asked(kind, text, tuple(shown), shown.index(options[0]))


def recordings() -> list[Recording]:
    """Every table, in order of name."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
        asked = [line for line in lines if " | " in line]
        found.append(
            Recording(
                path.stem,
                tuple(_evidence(line) for line in lines if " | " not in line),
                tuple(_question(line, position) for position, line in enumerate(asked)),
            )
        )
    return found
