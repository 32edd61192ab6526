"""Looking: by seconds, in spans that share their frames, never more frames in a call than the cap."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.harness import Parameters
from evoharness.models.backbone import Unparsed
from evoharness.models.perception_tasks import DescribeFrame, InspectFrames, LocalizeEvent
from evoharness.models.task import Task
from evoharness.records.interval import Interval
from evoharness.sandbox import HostCallError
from evoharness.solver import SolverLimits
from evoharness.solver import arguments as given_arguments
from evoharness.solver.looking import Looking
from evoharness.solver.meter import Meter
from evoharness.solver.spans import read_spans, shared
from evoharness.video import Video
from tests.solver.standins import Witness

Make = Callable[..., tuple[Looking, Witness]]
Look = given_arguments.Look


@pytest.fixture
def make(quarter: Video) -> Make:
    def build(
        event: Interval | None = None, instead: Callable[[Task[Any]], Any] | None = None, **values: float
    ) -> tuple[Looking, Witness]:
        backbone = Witness(event, instead=instead)
        meter = Meter(backbone, SolverLimits())
        return Looking(quarter, Parameters(**values), meter, ""), backbone

    return build


def test_without_spans_the_whole_video_is_looked_at(make: Make) -> None:
    looking, backbone = make()
    seen = looking.look(Look(fps=1, max_frames=192))
    task = backbone.of(InspectFrames)[0]
    assert (task.span.start, task.span.end) == (0, 900)
    assert len(task.frames) == 192
    assert task.frames[-1].time > 890
    assert len(seen["frames"]) == 192


def test_frames_are_shared_in_proportion_one_task_a_span(make: Make) -> None:
    looking, backbone = make()
    looking.look(Look(spans=[[0, 300], {"start": 500, "end": 600}], fps=1, max_frames=80))
    assert [len(task.frames) for task in backbone.of(InspectFrames)] == [60, 20]


def garbled(when: Callable[[Any], bool]) -> Callable[[Task[Any]], None]:
    """Makes the witness's answer unreadable for the tasks that `when` holds for."""

    def instead(task: Task[Any]) -> None:
        if when(task):
            raise Unparsed("no JSON")

    return instead


def test_spans_that_the_model_could_not_be_read_about_are_counted(make: Make) -> None:
    spans = [[0, 100], [100, 200], [200, 300]]
    whole, _ = make()
    clear = whole.look(Look(spans=spans, max_frames=30))
    assert clear["unread"] == 0
    looking, backbone = make(instead=garbled(lambda task: task.span.start == 100))
    seen = looking.look(Look(spans=spans, max_frames=30))
    assert len(backbone.of(InspectFrames)) == 3
    assert seen["unread"] == 1
    assert seen["observations"] == [clear["observations"][0], clear["observations"][2]]
    assert len(seen["frames"]) == 20


def test_passes_of_localizing_that_could_not_be_read_are_counted(make: Make) -> None:
    event, call = Interval(start=400, end=410), given_arguments.Localize(query="the red circle")
    assert make(event)[0].localize(call)["unread"] == 0
    nothing = make(event, instead=garbled(lambda _: True))[0]
    assert nothing.localize(call) == {"timeline": [], "window": None, "unread": 1}
    assert nothing.follow([], "the red circle")["unread"] == 1
    coarse = make(event, instead=garbled(lambda task: task.span.start > 0))[0].localize(call)
    assert (coarse["window"], coarse["unread"]) == ({"start": 400, "end": 410}, 1)


def test_the_cap_of_a_model_call_holds_whatever_is_asked_for(make: Make) -> None:
    looking, backbone = make(frame_cap=16)
    looking.look(Look(spans=[[0, 300], [300, 900]], fps=1, max_frames=4000))
    assert [len(task.frames) for task in backbone.of(InspectFrames)] == [16, 16]
    assert len(looking.chosen([float(t) for t in range(100)])) == 16


def test_localizing_goes_from_coarse_to_fine(make: Make) -> None:
    looking, backbone = make(Interval(start=400, end=410))
    found = looking.localize(given_arguments.Localize(query="the red circle"))
    coarse, fine = backbone.of(LocalizeEvent)
    assert (coarse.span.start, coarse.span.end, len(coarse.frames)) == (0, 900, 192)
    assert (fine.span.start, fine.span.end) == (395, 415)
    assert found["window"] == {"start": 400, "end": 410}
    assert [entry["start"] for entry in found["timeline"]] == [0, 395]


def test_an_event_that_is_not_seen_has_no_window(make: Make) -> None:
    looking, backbone = make(None)
    found = looking.localize(given_arguments.Localize(query="nothing"))
    assert found["window"] is None
    assert len(backbone.of(LocalizeEvent)) == 1


def test_a_single_frame_and_a_region_of_it(make: Make) -> None:
    looking, backbone = make()
    looking.frame(given_arguments.OneFrame(time=12.4))
    looking.frame(given_arguments.OneFrame(time=5000, box=(0, 0, 0.5, 0.5)))
    first, second = backbone.of(DescribeFrame)
    assert (first.frame.time, first.frame.box) == (12, None)
    assert (second.frame.time, second.frame.box) == (899, (0, 0, 0.5, 0.5))
    with pytest.raises(HostCallError, match="box"):
        looking.frame(given_arguments.OneFrame(time=1, box=(0.5, 0, 0.5, 1)))


def test_frames_are_named_once_and_found_again(make: Make) -> None:
    looking, _ = make()
    first = looking.look(Look(spans=[[0, 4]], fps=1))["frames"]
    again = looking.look(Look(spans=[[2, 6]], fps=1))["frames"]
    assert first[2:] == again[:2]
    assert [frame.time for frame in looking.chosen([first[1], 7.2])] == [1, 7]
    with pytest.raises(HostCallError, match="no frame"):
        looking.chosen(["f9999"])


@pytest.mark.parametrize(
    ("spans", "read"),
    [
        (None, [(0, 100)]),
        ([], [(0, 100)]),
        ([10, 20], [(10, 20)]),
        ({"start": 10, "end": 20}, [(10, 20)]),
        ([[90, 120], [-5, 5]], [(90, 100), (0, 5)]),
        ([[50, 50]], [(50, 50)]),
        ([[10, 20], [200, 300]], [(10, 20)]),
    ],
)
def test_spans_are_read_liberally(spans: object, read: list[tuple[float, float]]) -> None:
    assert [(span.start, span.end) for span in read_spans(spans, 100)] == read


@pytest.mark.parametrize("spans", ["0-10", 7, [[20, 10]], [[1]], [["a", "b"]], [[200, 300]], [{"start": 1}]])
def test_a_span_that_makes_no_sense_is_an_error(spans: object) -> None:
    with pytest.raises(HostCallError):
        read_spans(spans, 100)


@given(
    st.integers(1, 500),
    st.lists(st.floats(0, 1000, allow_nan=False, allow_subnormal=False), min_size=1, max_size=20),
)
def test_shares_add_up_and_longer_spans_get_no_less(frames: int, lengths: list[float]) -> None:
    spans = [Interval(start=0, end=length) for length in lengths]
    shares = shared(frames, spans)
    assert sum(shares) == frames
    assert min(shares) >= (1 if frames >= len(spans) else 0)
    ordered = sorted(zip(lengths, shares, strict=True))
    assert all(a[1] <= b[1] + 1 for a, b in pairwise(ordered))
