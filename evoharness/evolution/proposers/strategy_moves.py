"""Moves of strategy code: each edit of a syntax tree, at a few budgets, for each strategy in use."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from evoharness.evolution.proposers.moves import Move
from evoharness.evolution.proposers.syntax_moves import (
    Edit,
    Look,
    NotApplicable,
    coarser_first_look,
    look_at_unseen,
    look_beside,
    look_over_everything,
    look_where_options_match,
    look_where_question_matches,
)
from evoharness.records.evolution import ChangeKind

if TYPE_CHECKING:
    from evoharness.harness import Harness

UNSURE = 0.6
"""An option that scores less does not stand out."""

Looks = tuple[tuple[str, Edit, Look], ...]

WHERE_UNSURE: Looks = (
    (
        "look again where the question matches",
        look_where_question_matches,
        Look(spans=3, before=8, after=8, fps=4, frames=64, unless=UNSURE),
    ),
    (
        "look again where each option matches",
        look_where_options_match,
        Look(spans=4, before=4, after=4, fps=4, frames=64, unless=UNSURE),
    ),
    (
        "look beside what the question names",
        look_beside,
        Look(spans=2, before=20, after=20, fps=3, frames=96, unless=UNSURE),
    ),
    (
        "look at what nothing was said of",
        look_at_unseen,
        Look(spans=6, before=1, after=1, fps=2, frames=128, unless=UNSURE),
    ),
    (
        "look over everything again",
        look_over_everything,
        Look(spans=1, before=0, after=0, fps=2, frames=192, detail="overview_detail", unless=UNSURE),
    ),
    (
        "look over everything closely",
        look_over_everything,
        Look(spans=2, before=0, after=0, fps=2, frames=192, unless=UNSURE),
    ),
)
"""Looks for questions of which the first answer is unsure; each is also tried after a coarser first look."""

ALWAYS: Looks = (
    (
        "look again where each option matches",
        look_where_options_match,
        Look(spans=4, before=2, after=2, fps=4, frames=48),
    ),
    (
        "look beside what the question names",
        look_beside,
        Look(spans=2, before=15, after=15, fps=3, frames=64),
    ),
)
"""Looks for every question, with few frames."""


def strategy_moves(strategies: Iterable[str]) -> Iterator[Move]:
    """Every edit, in all of these strategies that have the shape for it."""
    names = tuple(strategies)
    for what, edit, look in (*WHERE_UNSURE, *ALWAYS):
        yield _move(f"{what}: {look}", partial(_edited, names, partial(_with, edit, look)))
    for what, edit, look in WHERE_UNSURE:
        change = partial(_edited, names, partial(_coarse_then, edit, look))
        yield _move(f"half the first look; {what}: {look}", change)


def _move(title: str, apply: "partial[Harness | None]") -> Move:
    return Move(title=title, kind=ChangeKind.STRATEGY, subject="strategies", apply=apply)


def _with(edit: Edit, look: Look, source: str) -> str:
    return edit(source, look)


def _coarse_then(edit: Edit, look: Look, source: str) -> str:
    return edit(coarser_first_look(source), look)


def _edited(names: tuple[str, ...], edit: "partial[str]", harness: "Harness") -> "Harness | None":
    changed = harness
    for name in names:
        try:
            changed = changed.with_strategy(name, edit(harness.strategies[name]))
        except NotApplicable:
            continue
    return changed if changed is not harness else None
