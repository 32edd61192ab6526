"""Which videos a round uses, and for what."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from evoharness.evolution.draw import draw_videos, interleaved, with_roles
from evoharness.records.evolution import Draw

POOL = [f"v{n:02d}" for n in range(10)]


@given(st.integers(1, 12), st.integers(0, 10_000), st.integers(1, 10))
def test_no_video_comes_again_before_all_were_used(number: int, seed: int, size: int) -> None:
    pool = POOL[:size]
    rounds = [draw_videos(pool, number, r, seed) for r in range(1, 8)]
    assert all(len(drawn) == len(set(drawn)) == min(number, size) for drawn in rounds)
    if number < size:
        flat = [video for drawn in rounds for video in drawn]
        for lap in range(len(flat) // size):
            begin, end = lap * size, (lap + 1) * size
            counts = {video: flat[:end].count(video) for video in pool}
            assert set(flat[:end]) == set(pool)
            assert max(counts.values()) - min(counts.values()) <= 1, (begin, counts)


def test_a_round_can_be_drawn_again_and_another_seed_draws_otherwise() -> None:
    assert draw_videos(POOL, 3, 5, 1) == draw_videos(reversed(POOL), 3, 5, 1)
    assert any(draw_videos(POOL, 3, 1, seed) != draw_videos(POOL, 3, 1, 0) for seed in range(1, 5))


def test_a_third_of_the_videos_is_for_evolution() -> None:
    draw = with_roles(POOL[:9], [], 1 / 3, 1, seed=0)
    assert (len(draw.evolution), len(draw.validation)) == (3, 6)
    assert sorted(draw.videos) == POOL[:9]


def test_few_videos() -> None:
    assert with_roles(["a"], [], 1 / 3, 1, 0) == Draw(evolution=("a",), validation=())
    two = with_roles(["a", "b"], [], 1 / 3, 1, 0)
    assert len(two.evolution) == len(two.validation) == 1
    assert with_roles([], [], 1 / 3, 1, 0) == Draw(evolution=(), validation=())


@given(st.integers(0, 1000), st.integers(2, 10))
def test_a_video_keeps_its_role_for_the_whole_run(seed: int, number: int) -> None:
    draws: list[Draw] = []
    for r in range(1, 7):
        draws.append(with_roles(draw_videos(POOL, number, r, seed), draws, 1 / 3, r, seed))
    learned = {video for draw in draws for video in draw.evolution}
    judged = {video for draw in draws for video in draw.validation}
    assert learned.isdisjoint(judged)


def test_every_beginning_holds_all_groups() -> None:
    mixed = interleaved([["a1", "a2", "a3"], ["b1"], ["c1", "c2"]], Random(3))
    assert sorted(mixed) == ["a1", "a2", "a3", "b1", "c1", "c2"]
    assert {thing[0] for thing in mixed[:3]} == {"a", "b", "c"}
    assert interleaved([], Random(0)) == []
