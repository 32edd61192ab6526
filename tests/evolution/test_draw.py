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


SORTS = {video: (640.0 * (n % 3), 60.0) for n, video in enumerate(POOL[:9])}
"""Three sizes, three videos of each."""


def test_with_likeness_one_video_of_every_sort_is_for_evolution() -> None:
    reached: set[str] = set()
    for seed in range(60):
        draw = with_roles(POOL[:9], [], 1 / 3, 1, seed, SORTS)
        assert sorted(SORTS[video] for video in draw.evolution) == sorted(set(SORTS.values()))
        assert sorted(draw.videos) == POOL[:9]
        reached.update(draw.evolution)
    assert reached == set(POOL[:9]), "which one of its sort it is, only the seed decides"


def test_with_likeness_size_and_duration_both_make_the_sort() -> None:
    """Three long ones, three short ones; of another size, three more. Given in no order."""
    sorts = {video: ((1.0, 9.0), (2.0, 1.0), (1.0, 1.0))[n % 3] for n, video in enumerate(POOL[:9])}
    for seed in range(20):
        draw = with_roles(POOL[8::-1], [], 1 / 3, 1, seed, sorts)
        assert {sorts[video] for video in draw.evolution} == set(sorts.values())


@given(
    st.lists(st.floats(1, 1e6), min_size=2, max_size=30, unique=True),
    st.floats(0, 1),
    st.integers(0, 10_000),
)
def test_with_likeness_each_equal_part_of_the_order_gives_one(
    sizes: list[float], share: float, seed: int
) -> None:
    likeness = {f"v{n}": (size, 0.0) for n, size in enumerate(sizes)}
    draw = with_roles(list(likeness), [], share, 1, seed, likeness)
    wanted = min(max(1, round(share * len(sizes))), len(sizes) - 1)
    order = sorted(likeness, key=likeness.__getitem__)
    ranks = sorted(order.index(video) for video in draw.evolution)
    assert len(ranks) == len(set(ranks)) == wanted
    part = len(sizes) / wanted
    for index, rank in enumerate(ranks):
        assert index * part - 0.5 <= rank <= (index + 1) * part - 0.5, "parts are cut between two videos"
    assert draw == with_roles(list(likeness), [], share, 1, seed, likeness)


def test_with_likeness_every_member_of_every_part_is_reached() -> None:
    """Ten videos, all different, and four parts: of two or three each."""
    likeness = {video: (float(n), 0.0) for n, video in enumerate(POOL)}
    draws = [with_roles(POOL, [], 0.4, 1, seed, likeness) for seed in range(100)]
    assert {video for draw in draws for video in draw.evolution} == set(POOL)


@given(st.integers(0, 1000), st.integers(2, 10))
def test_with_likeness_too_a_video_keeps_its_role(seed: int, number: int) -> None:
    likeness = {video: (float(n % 4), float(n)) for n, video in enumerate(POOL)}
    draws: list[Draw] = []
    for r in range(1, 7):
        videos = draw_videos(POOL, number, r, seed)
        draws.append(with_roles(videos, draws, 1 / 3, r, seed, likeness))
        assert sorted(draws[-1].videos) == sorted(videos)
    learned = {video for draw in draws for video in draw.evolution}
    judged = {video for draw in draws for video in draw.validation}
    assert learned.isdisjoint(judged)


def test_every_beginning_holds_all_groups() -> None:
    mixed = interleaved([["a1", "a2", "a3"], ["b1"], ["c1", "c2"]], Random(3))
    assert sorted(mixed) == ["a1", "a2", "a3", "b1", "c1", "c2"]
    assert {thing[0] for thing in mixed[:3]} == {"a", "b", "c"}
    assert interleaved([], Random(0)) == []
