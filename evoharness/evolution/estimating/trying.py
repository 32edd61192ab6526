"""What the search tries, and what an answer of it takes: the moves themselves, applied to the harness."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evolution.estimating.load import Amount, Load, mean, spread_out
from evoharness.evolution.estimating.measuring import Changed, Measuring
from evoharness.evolution.proposers.moves import ROUTES, Move
from evoharness.evolution.proposers.parameter_moves import parameter_moves, used_parameters
from evoharness.evolution.proposers.search import ALLOWANCE, SAVING, SearchSettings
from evoharness.evolution.proposers.strategy_moves import strategy_moves
from evoharness.evolution.settings import GateSettings

if TYPE_CHECKING:
    from evoharness.harness import Harness

    _Move = tuple[str, Harness]

MOST_TURNS = 12
"""Steps of parameters that are counted; the others are taken to be like them."""
MOST_VIDEOS = 3
"""Videos on which changes are counted."""
SEVERAL = 1.5
"""Moves that a composition has beyond the first, on average."""


@dataclass(frozen=True)
class _Change:
    """One move: answers where the model is sure of the first answer, and where it is not."""

    sure: Changed
    unsure: Changed

    def paid(self, unsure: float, finer: float) -> Load:
        """What an answer takes when that share of the first answers is unsure."""
        return self.sure.paid + self.unsure.paid.beyond(self.sure.paid) * (unsure * finer)

    def full(self, unsure: float, finer: float) -> Load:
        """The same, with what an answer shares with that of the incumbent."""
        return self.sure.full + self.unsure.full.beyond(self.sure.full) * (unsure * finer)


@dataclass(frozen=True)
class Tries:
    """How often changes are tried on a question, and what an answer of them takes."""

    number: float
    """Harnesses that are tried on the failures."""
    wrong: Load
    """An answer to a question that the incumbent answers wrongly."""
    right: Load
    """To one that it answers rightly."""
    proposed: Load
    """Of what is proposed, to any question, where the incumbent has answered it."""
    full: Load
    """Of what is proposed, to any question."""
    looking: float
    """Share of the tries that may change an answer."""
    saving: float
    """Share of the tries that look less."""
    fitting: float
    """Share of the tries that keep to the limits of observation."""


class Trying:
    """The moves of the search on the videos of a round."""

    def __init__(
        self, measuring: Measuring, harness: "Harness", search: SearchSettings, gate: GateSettings
    ) -> None:
        self._measuring = measuring
        self._harness = harness
        self._search = search
        self._limit = (
            1 + ALLOWANCE * (gate.observation_ratio - 1) if gate.observation == "equal" else float("inf")
        )
        self._moved: dict[frozenset[str], tuple[list[_Move], list[_Move]]] = {}
        self._changes: dict[tuple[Path, str], _Change] = {}

    def tries(
        self, paths: Sequence[Path], base: Load, wrong: float, right: float, anyhow: float, finer: float
    ) -> Tries:
        """The tries on these videos.

        `base`: an answer of the incumbent. `wrong`, `right`, `anyhow`: share of the first answers that are
        unsure, among its wrong answers, the right ones, and all.
        """
        seconds = [self._measuring.duration(path) for path in paths]
        edits, turns = self._moves(seconds)
        paths = spread_out(paths, MOST_VIDEOS)
        found: list[tuple[float, _Change]] = []
        number, room = 0.0, float(self._search.tries)
        for moves, most in ((edits, len(edits)), (turns, MOST_TURNS)):
            tried = min(room, float(len(moves)))
            number, room = number + tried, room - tried
            counted = spread_out(moves, most)
            for title, harness in counted if tried else ():
                found += [
                    (tried / len(counted) / len(paths), self._change(path, title, harness)) for path in paths
                ]
        if not found:
            return Tries(0.0, Load(), Load(), base, base, 0.0, 0.0, 0.0)
        total = sum(weight for weight, _ in found)
        touched = (anyhow + wrong) / 2  # limits look at the videos that a change touches, failures above all
        fits = [self._fits(change.full(touched, finer), base) for _, change in found]
        looking = sum(weight for weight, change in found if _differs(change, base)) / total
        saving = sum(w for w, c in found if _ratio(c.full(anyhow, finer), base) < SAVING) / total
        candidates = [
            (weight * fit * _promise(change), change)
            for (weight, change), fit in zip(found, fits, strict=True)
        ]
        compositions = room if self._search.depth > 1 else 0.0
        several = 1 + SEVERAL * compositions / (number + compositions)

        def answer(unsure: float) -> Load:
            single = _weighed(found, lambda change: change.paid(unsure, finer))
            if self._measuring.kept:  # and what the moves of a composition look at is known already
                return single
            return single + single.beyond(base) * (several - 1)

        return Tries(
            number=number + compositions,
            wrong=answer(wrong),
            right=answer(right),
            proposed=_weighed(candidates, lambda change: change.paid(anyhow, finer)),
            full=_weighed(candidates, lambda change: change.full(anyhow, finer)),
            looking=looking,
            saving=saving,
            fitting=sum(weight * fit for (weight, _), fit in zip(found, fits, strict=True)) / total,
        )

    def _moves(self, seconds: Sequence[float]) -> "tuple[list[_Move], list[_Move]]":
        """Edits of strategies, and steps of parameters, as the search begins with them."""
        harness = self._harness
        routed = frozenset(
            [harness.route(duration).strategy for duration in seconds]
            + [route.strategy for route in harness.routes if not route.memory]
        )
        if routed not in self._moved:
            read = used_parameters(harness, set(routed))
            turns = [m for m in parameter_moves(harness) if m.subject == ROUTES or m.subject in read]
            self._moved[routed] = (self._applied(strategy_moves(sorted(routed))), self._applied(turns))
        return self._moved[routed]

    def _applied(self, moves: Iterable[Move]) -> "list[_Move]":
        applied = ((move.title, move.apply(self._harness)) for move in moves)
        return [(title, changed) for title, changed in applied if changed is not None]

    def _change(self, path: Path, title: str, harness: "Harness") -> _Change:
        key = (path, title)
        if key not in self._changes:
            self._changes[key] = _Change(
                *(self._measuring.changing(path, harness, sure) for sure in (True, False))
            )
        return self._changes[key]

    def _fits(self, full: Load, base: Load) -> float:
        """Probability that a change keeps to the limit: questions are few, and ratios differ among them."""
        ratio = _ratio(full, base)
        return 1.0 if ratio <= self._limit else (self._limit - 1) / (ratio - 1)


def _ratio(load: Load, base: Load) -> float:
    """The larger one of the ratios of frames and of tokens."""
    more, less = load.total, base.total
    pairs = ((more.frames, less.frames), (more.tokens, less.tokens))
    return max((m / b for m, b in pairs if b), default=1.0)


def _promise(change: _Change) -> float:
    """Weight of a change among those that are proposed: who looks at more mends more."""
    return math.sqrt(change.unsure.full.beyond(change.sure.full).total.tokens)


def _differs(change: _Change, base: Load) -> bool:
    return change.unsure.full.total != base.total and change.unsure.full.total != Amount()


def _weighed(found: Sequence[tuple[float, _Change]], of: Callable[[_Change], Load]) -> Load:
    total = sum(weight for weight, _ in found)
    if not total:
        return Load()
    return mean([of(change) * (weight * len(found) / total) for weight, change in found])
