"""A picture that stayed counts as seen for as long as it did."""

from dataclasses import replace

import pytest

from evoharness.models.embedded.lasting import sightings
from tests.models.examples import frame


def test_frames_of_which_nothing_is_known_are_seen_once() -> None:
    assert sightings([frame(1.0), frame(3.0)]) == [(0, 1.0), (1, 3.0)]


def test_a_frame_that_lasted_is_seen_at_the_distance_of_the_others() -> None:
    frames = [frame(0.0), replace(frame(2.0), until=8.0), frame(10.0)]
    assert sightings(frames) == [(0, 0.0), (1, 2.0), (1, 4.0), (1, 6.0), (1, 8.0), (2, 10.0)]


@pytest.mark.parametrize("until", [12.0, 50.0])
def test_a_single_frame_is_seen_at_both_ends(until: float) -> None:
    assert sightings([replace(frame(2.0), until=until)]) == [(0, 2.0), (0, until)]


def test_what_lasts_since_before_the_span_counts_from_its_start() -> None:
    frames = [replace(frame(0.0), until=104.0), frame(106.0)]
    assert sightings(frames, start=100.0) == [(0, 100.0), (0, 102.0), (0, 104.0), (1, 106.0)]
    assert sightings([frame(99.0), frame(101.0)], start=100.0) == [(0, 99.0), (1, 101.0)]


def test_times_never_go_back() -> None:
    frames = [replace(frame(0.0), until=0.01), replace(frame(3.0), until=2.0), frame(4.0)]
    times = [time for _, time in sightings(frames)]
    assert times == sorted(times)
    assert times[-1] == 4.0
