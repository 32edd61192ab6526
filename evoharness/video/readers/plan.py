"""How to come to the pictures that are wanted: seek, or read on.

Decoding is what reading costs, so costs are counted in pictures that have to be decoded. They come out of
the packet index alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

from evoharness.video.index import PacketIndex

SEEK = 6
"""What a seek costs, in pictures: it throws the decoder's state away."""


class Step(NamedTuple):
    """The way from one wanted picture to the next."""

    number: int
    """The picture that is wanted."""
    seek: int | None
    """Where decoding starts anew (time of a key frame, in units of the time base); None: read on."""
    last: bool
    """Nothing is read on from here: a seek follows, or the end."""
    cost: int
    """Pictures that are decoded on the way, this one included."""


def plan(index: PacketIndex, numbers: Sequence[int], *, leave_out: bool) -> list[Step]:
    """The cheapest steps through pictures wanted in ascending order.

    `leave_out`: whether the decoder passes over pictures that no other one is built from.
    """
    steps: list[Step] = []
    position = -1  # the last picture that is decoded already
    for number in numbers:
        key = index.key_before(index.pts[number])
        start = index.number_of(key) if key is not None else 0
        start = max(0, start)
        saved = _decoded(index, position + 1, start - 1, leave_out)
        seek = key if key is not None and not index.counted and saved > SEEK else None
        first = start if seek is not None else position + 1
        if seek is not None and steps:
            steps[-1] = steps[-1]._replace(last=True)
        cost = 0 if number <= position else _decoded(index, first, number - 1, leave_out) + 1
        steps.append(Step(number, seek, last=False, cost=cost))
        position = number
    if steps:
        steps[-1] = steps[-1]._replace(last=True)
    return steps


def _decoded(index: PacketIndex, first: int, last: int, leave_out: bool) -> int:
    if last < first:
        return 0
    return index.needed(first, last) if leave_out else last - first + 1
