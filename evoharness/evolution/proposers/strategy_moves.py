"""Moves of strategy code: each edit of a syntax tree, at a few budgets, for each strategy in use."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from evoharness.evolution.proposers.moves import Move
from evoharness.evolution.proposers.syntax_moves import (
    Edit,
    Look,
    NotApplicable,
    look_at_unseen,
    look_beside,
    look_over_everything,
    look_where_options_match,
    look_where_question_matches,
    split_first_look,
)
from evoharness.records.evolution import ChangeKind

if TYPE_CHECKING:
    from evoharness.harness import Harness

UNSURE = 0.6
"""An option that scores less does not stand out."""

LOOKS: tuple[tuple[str, Edit, tuple[Look, ...]], ...] = (
    (
        "look again where the question matches",
        look_where_question_matches,
        (
            Look(spans=3, before=3, after=3, fps=4, frames=64),
            Look(spans=3, before=10, after=10, fps=4, frames=128, unless=UNSURE),
        ),
    ),
    (
        "look again where each option matches",
        look_where_options_match,
        (
            Look(spans=4, before=2, after=2, fps=4, frames=64),
            Look(spans=4, before=5, after=5, fps=4, frames=128, unless=UNSURE),
        ),
    ),
    (
        "look beside what the question names",
        look_beside,
        (
            Look(spans=2, before=15, after=15, fps=3, frames=96),
            Look(spans=3, before=20, after=20, fps=3, frames=128, unless=UNSURE),
        ),
    ),
    (
        "look at what nothing was said of",
        look_at_unseen,
        (
            Look(spans=4, before=1, after=1, fps=2, frames=96),
            Look(spans=6, before=1, after=1, fps=2, frames=128, unless=UNSURE),
        ),
    ),
    (
        "look over everything again",
        look_over_everything,
        (
            Look(spans=1, before=0, after=0, fps=2, frames=192, detail="overview_detail", unless=UNSURE),
            Look(spans=2, before=0, after=0, fps=2, frames=300, detail="overview_detail", unless=UNSURE),
            Look(spans=2, before=0, after=0, fps=2, frames=192, unless=UNSURE),
        ),
    ),
)
"""Each edit with the budgets at which it is tried: few frames always, or more where the answer is unsure."""

PARTS = (2, 4)


def strategy_moves(strategies: Iterable[str]) -> Iterator[Move]:
    """Every edit at every budget, in all of these strategies that have the shape for it."""
    names = tuple(strategies)
    for what, edit, looks in LOOKS:
        for look in looks:
            yield _move(f"{what}: {look}", partial(_edited, names, partial(_with, edit, look)))
    for parts in PARTS:
        yield _move(f"first look in {parts} spans", partial(_edited, names, partial(_split, parts)))


def _move(title: str, apply: "partial[Harness | None]") -> Move:
    return Move(title=title, kind=ChangeKind.STRATEGY, subject="strategies", apply=apply)


def _with(edit: Edit, look: Look, source: str) -> str:
    return edit(source, look)


def _split(parts: int, source: str) -> str:
    return split_first_look(source, parts)


def _edited(names: tuple[str, ...], edit: "partial[str]", harness: "Harness") -> "Harness | None":
    changed = harness
    for name in names:
        try:
            changed = changed.with_strategy(name, edit(harness.strategies[name]))
        except NotApplicable:
            continue
    return changed if changed is not harness else None
