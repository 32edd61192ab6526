"""Which videos a round uses."""

from collections.abc import Iterable, Sequence
from itertools import count, islice
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")


def draw_videos(videos: Iterable[str], number: int, round_number: int, seed: int) -> list[str]:
    """The videos of a round (from 1): none again before all were used, none twice in a round.

    One shuffled pass over the pool follows another; each round takes the next `number` of them. A pass
    that ends within a round is filled up from the next one. Depends on its arguments alone, so that a
    round can be drawn again without knowing the ones before it.
    """
    pool = sorted(set(videos))
    if number >= len(pool):
        return pool
    passed: list[str] = []
    for lap in count():
        order = list(pool)
        Random(f"{seed}/videos/{lap}").shuffle(order)
        # What the current round already took from the pass before goes to the end of this one.
        taken = set(passed[len(passed) - len(passed) % number :])
        passed += [v for v in order if v not in taken] + [v for v in order if v in taken]
        if len(passed) >= number * round_number:
            return passed[number * (round_number - 1) : number * round_number]
    raise AssertionError("unreachable")


def interleaved(groups: Iterable[Sequence[Thing]], rng: Random) -> list[Thing]:
    """One thing of each group in turn, each group shuffled: every beginning of it holds all groups."""
    shuffled = []
    for group in groups:
        order = list(group)
        rng.shuffle(order)
        shuffled.append(order)
    rng.shuffle(shuffled)
    longest = max(map(len, shuffled), default=0)
    return [thing for i in range(longest) for group in shuffled for thing in islice(group, i, i + 1)]
