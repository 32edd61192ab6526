"""Which videos a round uses."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, islice, pairwise
from random import Random
from typing import TypeVar

from evoharness.records.evolution import Draw

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


def with_roles(
    videos: Sequence[str],
    before: Sequence[Draw],
    share: float,
    round_number: int,
    seed: int,
    likeness: Mapping[str, tuple[float, float]] | None = None,
) -> Draw:
    """Divide a round's videos by role: `share` of them, and at least one of two or more, for evolution.

    With `likeness` (such as size and duration, by video) both roles get videos of every sort: what is
    learned, and what looking costs, then differs less from one role to the other.

    A video that was drawn before keeps its role, so that no question about a video that proposers have
    learned from ever decides. A single video goes to evolution: nothing can then be validated.
    """
    learned = {video for draw in before for video in draw.evolution}
    judged = {video for draw in before for video in draw.validation}
    fresh = [video for video in videos if video not in learned | judged]
    rng = Random(f"{seed}/roles/{round_number}")
    rng.shuffle(fresh)
    wanted = min(max(1, round(share * len(videos))), max(1, len(videos) - 1))
    missing = max(0, wanted - len(learned.intersection(videos)))
    if likeness is not None:
        fresh.sort(key=lambda video: likeness[video])
    chosen = _spread(fresh, missing, rng) if likeness is not None else fresh[:missing]
    evolution = learned.intersection(videos).union(chosen)
    return Draw(
        evolution=tuple(video for video in videos if video in evolution),
        validation=tuple(video for video in videos if video not in evolution),
    )


def _spread(ordered: Sequence[str], number: int, rng: Random) -> list[str]:
    """`number` of them: cut into as many equal parts, of each part any one."""
    if number >= len(ordered):
        return list(ordered)
    ends = [round(index * len(ordered) / max(1, number)) for index in range(number + 1)]
    return [ordered[rng.randrange(start, end)] for start, end in pairwise(ends)]


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
