"""Seek or read on: decided from the packet index alone, before anything is decoded."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.video.index import PacketIndex
from evoharness.video.packets import Packet
from evoharness.video.readers.plan import SEEK, plan


def index_of(count: int, keys: set[int], spare: set[int] = frozenset(), counted: bool = False) -> PacketIndex:  # type: ignore[assignment]
    """One picture a unit of time."""
    return PacketIndex(
        [Packet(n, 1, 100, n in keys, True, spare=n in spare) for n in range(count)], 0.1, counted=counted
    )


class TestPlan:
    def test_near_pictures_are_read_on_to(self) -> None:
        steps = plan(index_of(100, {0, 50}), [3, 9, 40], leave_out=False)
        assert [step.seek for step in steps] == [None, None, None]
        assert [step.cost for step in steps] == [4, 6, 31]
        assert [step.last for step in steps] == [False, False, True]

    def test_a_key_frame_in_between_is_sought(self) -> None:
        steps = plan(index_of(100, {0, 50}), [3, 60, 62], leave_out=False)
        assert [step.seek for step in steps] == [None, 50, None]
        assert [step.cost for step in steps] == [4, 11, 2]
        assert [step.last for step in steps] == [True, False, True]

    def test_a_seek_has_to_pay(self) -> None:
        index = index_of(100, {0, 50})
        assert plan(index, [49 - SEEK, 60], leave_out=False)[1].seek is None
        assert plan(index, [48 - SEEK, 60], leave_out=False)[1].seek == 50

    def test_what_is_left_out_costs_nothing(self) -> None:
        index = index_of(100, {0, 50}, spare=set(range(1, 50)))
        steps = plan(index, [0, 49, 52], leave_out=True)
        assert [step.cost for step in steps] == [1, 1, 3]
        assert steps[2].seek is None  # nothing between would have been decoded

    def test_the_same_picture_again_is_there_already(self) -> None:
        assert [step.cost for step in plan(index_of(10, {0}), [4, 4], leave_out=False)] == [5, 0]

    def test_where_pictures_are_counted_nothing_is_sought(self) -> None:
        steps = plan(index_of(100, {0, 50}, counted=True), [3, 90], leave_out=False)
        assert [step.seek for step in steps] == [None, None]

    def test_a_file_without_key_frames_is_read_from_its_beginning(self) -> None:
        assert [step.cost for step in plan(index_of(100, set()), [90], leave_out=False)] == [91]

    def test_nothing_wanted(self) -> None:
        assert plan(index_of(10, {0}), [], leave_out=True) == []

    @given(
        st.integers(1, 200),
        st.sets(st.integers(0, 199), max_size=20),
        st.sets(st.integers(0, 199), max_size=100),
        st.lists(st.integers(0, 199), min_size=1, max_size=30),
        st.booleans(),
    )
    def test_never_dearer_than_reading_on_or_than_seeking_always(
        self, count: int, keys: set[int], spare: set[int], asked: list[int], leave_out: bool
    ) -> None:
        numbers = sorted(number for number in asked if number < count) or [0]
        index = index_of(count, keys, spare - keys)
        steps = plan(index, numbers, leave_out=leave_out)
        assert [step.number for step in steps] == numbers
        total = sum(step.cost + SEEK * (step.seek is not None) for step in steps)
        needed = [n for n in range(numbers[-1] + 1) if not (leave_out and n in spare - keys)]
        assert total <= len(set(needed) | set(numbers))
        always = sum(
            number - max([k for k in keys if k <= number], default=0) + 1 + SEEK for number in numbers
        )
        assert total <= always
        for before, after in pairwise(steps):
            assert before.last == (after.seek is not None)
        assert steps[-1].last


@pytest.mark.parametrize("time", [-3.0, 0.0, 0.04, 0.1, 5.0, 9.95, 1e9, float("inf")])
def test_every_time_has_a_picture(time: float) -> None:
    index = index_of(100, {0})
    number = index.number_at(time)
    assert 0 <= number < 100
    assert index.time(number) <= max(time, 0) + 1e-6
