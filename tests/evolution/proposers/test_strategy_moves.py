"""Moves of strategy code: legal, told apart by their titles, and applied where they fit."""

from evoharness.evolution.proposers.strategy_moves import LOOKS, strategy_moves
from evoharness.evolution.proposers.syntax_moves import (
    Look,
)
from evoharness.evolution.substance import Substance
from evoharness.harness import Harness, initial_harness
from evoharness.records.interval import Interval
from tests.evolution.proposers.asking import LOOK, STRATEGIES, Ask
from tests.evolution.scripted import question


def test_a_look_says_what_it_costs() -> None:
    assert str(LOOK) == (
        "2 places, 3 s before to 4 s after, 2 frames/s at detail_detail, 20 frames in all, "
        "unless an option scores 0.9"
    )
    assert str(Look(1, 0, 0, 4, 64)) == (
        "1 place, 4 frames/s at detail_detail, 64 frames in all, unless an option scores 0.6"
    )


def test_moves_of_strategies_are_legal_and_of_different_names(ask: Ask) -> None:
    moves = list(strategy_moves(["chunked", "overview"]))
    assert len({move.title for move in moves}) == len(moves) == len(LOOKS) + 1
    results = []
    for move in moves:
        changed = move.apply(initial_harness())
        assert isinstance(changed, Harness)
        edited = {name for name, code in changed.strategies.items() if code != STRATEGIES[name]}
        only = (
            {"chunked"} if "last look" in move.title else {"overview"} if "first look" in move.title else None
        )
        assert edited == (only or {"chunked", "overview"})
        results.append(changed.fingerprint)
        answered, _ = ask(changed.strategies["chunked"])
        assert answered.status == "ok"
    assert len(set(results)) == len(results)


def test_a_move_changes_the_strategies_that_have_the_shape_for_it() -> None:
    spared = [move for move in strategy_moves(["one_shot", "overview"]) if "last look" in move.title]
    assert [move.apply(initial_harness()) for move in spared] == [None]


def test_no_move_can_be_taken_for_copied_substance() -> None:
    """Whatever half second a question's source begins or ends at."""
    everywhere = [
        question(n).model_copy(update={"source_interval": Interval(start=n / 2, end=n / 2 + 0.5)})
        for n in range(4000)
    ]
    substance = Substance(everywhere, {})
    for move in strategy_moves(["chunked", "overview"]):
        changed = move.apply(initial_harness())
        assert changed is not None
        assert substance.copied(initial_harness(), changed) == "", move.title
