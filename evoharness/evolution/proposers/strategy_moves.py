"""Moves of strategy code: looks where the answer is in doubt, in each strategy that is in use."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from evoharness.evolution.proposers.moves import Move
from evoharness.evolution.proposers.syntax_moves import (
    UNSURE,
    Edit,
    Look,
    NotApplicable,
    answer_before_last_look,
    look_at_named_times,
    look_at_unreadable,
    look_at_unseen,
    look_beside,
    look_closer_at_candidates,
    look_over_everything,
    look_where_options_match,
    look_where_question_matches,
)
from evoharness.records.evolution import ChangeKind

if TYPE_CHECKING:
    from evoharness.harness import Harness

LOOKS: tuple[tuple[str, Edit, Look], ...] = (
    (
        "look at the times that are named",
        look_at_named_times,
        Look(spans=8, before=1, after=1, fps=4, frames=48),
    ),
    (
        "look closer at what could not be made out",
        look_at_unreadable,
        Look(spans=12, before=0, after=0, fps=1, frames=12),
    ),
    (
        "look closer at what the first look points to",
        look_closer_at_candidates,
        Look(spans=3, before=2, after=2, fps=2, frames=24),
    ),
    (
        "look more often where the question matches",
        look_where_question_matches,
        Look(spans=3, before=6, after=6, fps=4, frames=64, detail="overview_detail"),
    ),
    (
        "look closer where the question matches",
        look_where_question_matches,
        Look(spans=3, before=6, after=6, fps=2, frames=24),
    ),
    (
        "look closer where each option matches",
        look_where_options_match,
        Look(spans=8, before=3, after=3, fps=1, frames=24),
    ),
    (
        "look more often beside what the question names",
        look_beside,
        Look(spans=1, before=15, after=15, fps=3, frames=64, detail="overview_detail"),
    ),
    (
        "look closer beside what the question names",
        look_beside,
        Look(spans=1, before=15, after=15, fps=1, frames=24),
    ),
    (
        "look at what nothing was said of",
        look_at_unseen,
        Look(spans=6, before=1, after=1, fps=2, frames=64, detail="overview_detail"),
    ),
    (
        "look closer at everything",
        look_over_everything,
        Look(spans=1, before=0, after=0, fps=2, frames=48),
    ),
)
"""Looks for questions of which the first answer is unsure: few frames at full size, or more small ones."""


def strategy_moves(strategies: Iterable[str]) -> Iterator[Move]:
    """Every edit, in all of these strategies that have the shape for it."""
    names = tuple(strategies)
    for what, edit, look in LOOKS:
        yield _move(what, str(look), names, partial(_with, edit, look))
    spared = f"that is spared where an option scores {UNSURE:g}"
    yield _move("answer before the last look", spared, names, answer_before_last_look)


def _move(what: str, how: str, names: tuple[str, ...], edit: Callable[[str], str]) -> Move:
    return Move(
        title=f"{what}: {how}", kind=ChangeKind.STRATEGY, subject=what, apply=partial(_edited, names, edit)
    )


def _with(edit: Edit, look: Look, source: str) -> str:
    return edit(source, look)


def _edited(names: tuple[str, ...], edit: Callable[[str], str], harness: "Harness") -> "Harness | None":
    changed = harness
    for name in names:
        try:
            changed = changed.with_strategy(name, edit(harness.strategies[name]))
        except NotApplicable:
            continue
    return changed if changed is not harness else None
