"""Randomly damaged copies of a file: bytes changed, cut, spliced and moved."""

import random

NUMBERS = (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\1\0\0")


def damaged(data: bytes, seed: str) -> bytes:
    """The copy that belongs to a seed."""
    rng = random.Random(seed)
    copy = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice((_flip, _flip, _flip_head, _cut, _cut_out, _splice, _zero, _number))(copy, rng)
    return bytes(copy)


def _flip(copy: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 10, 100, 1000))):
        if copy:
            copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)


def _flip_head(copy: bytearray, rng: random.Random) -> None:
    """Where most containers keep what they are and what they promise."""
    edge = min(len(copy), 4096)
    for _ in range(rng.choice((1, 4, 16))):
        if edge:
            copy[rng.choice((rng.randrange(edge), len(copy) - 1 - rng.randrange(edge)))] = rng.randrange(256)


def _cut(copy: bytearray, rng: random.Random) -> None:
    del copy[rng.randrange(len(copy) + 1) :]


def _cut_out(copy: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(copy) + 1)
    del copy[start : start + rng.randrange(1, 20_000)]


def _splice(copy: bytearray, rng: random.Random) -> None:
    """A part of the file is found again at another place."""
    start, length, to = rng.randrange(len(copy) + 1), rng.randrange(1, 20_000), rng.randrange(len(copy) + 1)
    piece = copy[start : start + length]
    if rng.random() < 0.5:
        copy[to:to] = piece
    else:
        copy[to : to + len(piece)] = piece


def _zero(copy: bytearray, rng: random.Random) -> None:
    start, length = rng.randrange(len(copy) + 1), rng.randrange(1, 20_000)
    copy[start : start + length] = bytes(len(copy[start : start + length]))


def _number(copy: bytearray, rng: random.Random) -> None:
    """A large or a senseless number where a size or a count may stand."""
    for _ in range(rng.choice((1, 3, 9))):
        if len(copy) > 8:
            at = rng.randrange(min(len(copy) - 4, rng.choice((3000, len(copy)))))
            copy[at : at + 4] = rng.choice(NUMBERS)
