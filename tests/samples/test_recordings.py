"""Recordings show what their timelines say, when and where they say it."""

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from evoharness.samples import SampleSet, Timeline, plan_timeline, render_samples
from evoharness.samples.scene import thing_state
from evoharness.samples.vocabulary import COLOURS
from tests.samples.conftest import MINUTES, SEED

pytestmark = pytest.mark.xdist_group("samples")


def decoded(path: Path) -> tuple[list[float], list[NDArray[np.uint8]]]:
    with av.open(str(path)) as container:
        frames = list(container.decode(video=0))
    return [float(f.time or 0) for f in frames], [f.to_ndarray(format="rgb24") for f in frames]


def presented(path: Path) -> list[float]:
    """When each frame of a file comes up, from its packets alone."""
    with av.open(str(path)) as container:
        packets = container.demux(container.streams.video[0])
        return sorted(float(p.pts * p.time_base) for p in packets if p.pts is not None)


@pytest.fixture(scope="module")
def pictures(recordings: SampleSet) -> dict[str, tuple[list[float], list[NDArray[np.uint8]]]]:
    return {key: decoded(path) for key, path in recordings.videos.items()}


def on_display(pictures: tuple[list[float], list[NDArray[np.uint8]]], time: float) -> NDArray[np.uint8]:
    times, frames = pictures
    return frames[int(np.searchsorted(times, time + 1e-3, side="right")) - 1]


def probes(timeline: Timeline) -> Iterator[tuple[float, float, float, str, bool]]:
    """Instants and points (fractions) at which a thing is, with its colour; or is not any more."""
    for thing in timeline.things:
        events = tuple(e for e in timeline.events if e.thing == thing.id)
        for shown in thing.shown:
            for time in (shown.start, shown.middle, shown.end - 1.5 / timeline.fps):
                state = thing_state(thing, tuple(sorted(events, key=lambda e: e.interval.start)), time)
                if state is None:
                    continue
                # a ring is hollow, and the middle of a heart is below its cleft
                y = state.y - 0.79 * state.radius if state.shape == "ring" else state.y
                if 0.02 < state.x < 0.98 and 0.02 < y < 0.98:
                    yield time, state.x, y, state.colour, True
                    yield shown.end, state.x, y, state.colour, False


def test_things_have_their_colour_at_their_place_and_time(
    recordings: SampleSet, pictures: dict[str, tuple[list[float], list[NDArray[np.uint8]]]]
) -> None:
    count = 0
    for key, timeline in recordings.timelines.items():
        for time, x, y, colour, there in probes(timeline):
            frame = on_display(pictures[key], time)
            height, width, _ = frame.shape
            pixel = frame[round(y * height), round(x * width)].astype(int)
            same = np.abs(pixel - np.array(COLOURS[colour])).max() < 40
            if there:
                assert same, (key, time, x, y, colour, pixel)
                count += 1
            elif time < timeline.duration - 0.1:
                assert not same, (key, time, x, y, colour, pixel)
    assert count > 50


def test_texts_come_and_go_when_they_should(
    recordings: SampleSet, pictures: dict[str, tuple[list[float], list[NDArray[np.uint8]]]]
) -> None:
    for key, timeline in recordings.timelines.items():
        for text in timeline.texts:
            if text.role not in ("caption", "label", "reading", "blink", "stop"):
                continue
            frame = on_display(pictures[key], text.interval.start)
            before = on_display(pictures[key], text.interval.start - 1.5 / timeline.fps)
            height, width, _ = frame.shape
            rows = slice(round(text.y * height) - text.size // 2, round(text.y * height) + text.size // 2)
            columns = slice(round(text.x * width) - 2 * text.size, round(text.x * width) + 2 * text.size)
            drawn = np.abs(frame[rows, columns].astype(int) - before[rows, columns]).max()
            assert drawn > 30, (key, text)


def test_brief_events_meet_a_frame_every_half_second() -> None:
    for index in range(20):
        timeline = plan_timeline(3, index)
        for thing in timeline.things:
            for shown in thing.shown:
                assert shown.duration >= 0.499
                first = np.ceil((shown.start - 1e-3) * 2) / 2
                assert first < shown.end


def test_a_constant_rate_file_has_every_frame(recordings: SampleSet) -> None:
    for key, timeline in recordings.timelines.items():
        if not timeline.variable_rate:
            times = presented(recordings.videos[key])
            assert len(times) == round(timeline.duration * timeline.fps)
            assert np.allclose(np.diff(times), 1 / timeline.fps, atol=1e-3)


def test_a_variable_rate_file_has_the_promised_times(recordings: SampleSet) -> None:
    variable = [t for t in recordings.timelines.values() if t.variable_rate]
    assert variable
    for timeline in variable:
        times = presented(recordings.videos[timeline.video])
        gaps = np.diff(times)
        assert gaps.max() <= 1.001
        assert gaps.max() > 3 * gaps.min()
        promised = {text.interval.start for text in timeline.texts}
        promised |= {shown.start for thing in timeline.things for shown in thing.shown}
        promised |= {shown.end for thing in timeline.things for shown in thing.shown}
        for moment in promised - {timeline.duration}:
            nearest = times[int(np.argmin(np.abs(np.array(times) - moment)))]
            assert nearest == pytest.approx(moment, abs=2e-3)


def test_files_last_as_long_as_their_timelines(recordings: SampleSet) -> None:
    for key, timeline in recordings.timelines.items():
        with av.open(str(recordings.videos[key])) as container:
            assert container.duration is not None
            assert container.duration / 1e6 == pytest.approx(timeline.duration, abs=0.15)
            stream = container.streams.video[0]
            assert (stream.width, stream.height) == (timeline.width, timeline.height)
            keys = [
                float(p.pts * p.time_base)
                for p in container.demux(stream)
                if p.pts is not None and p.is_keyframe
            ]
        assert np.diff([*keys, timeline.duration]).max() <= 4.01


def test_the_same_recording_whatever_its_company(recordings: SampleSet, tmp_path: Path) -> None:
    alone = render_samples(tmp_path, 1, SEED, longest_minutes=MINUTES, workers=2)
    key = alone.keys[0]
    assert key == recordings.keys[0]
    assert alone.timelines[key] == recordings.timelines[key]
    assert alone.videos[key].read_bytes() == recordings.videos[key].read_bytes()


def test_complete_recordings_are_kept_and_broken_ones_made_again(tmp_path: Path) -> None:
    told: list[tuple[str, bool]] = []

    def render() -> SampleSet:
        told.clear()
        return render_samples(
            tmp_path, 2, 9, longest_minutes=0.5, workers=1, on_video=lambda key, new: told.append((key, new))
        )

    samples = render()
    assert {new for _, new in told} == {True}
    first, second = samples.videos.values()
    whole = first.read_bytes()
    first.write_bytes(whole[: len(whole) // 2])
    stamp = second.stat().st_mtime_ns
    render()
    assert sorted(told) == sorted([(samples.keys[0], True), (samples.keys[1], False)])
    assert first.read_bytes() == whole
    assert second.stat().st_mtime_ns == stamp
    assert not list(tmp_path.glob(".unfinished*"))


def test_plans_are_varied_and_as_long_as_promised() -> None:
    timelines = [plan_timeline(seed, index) for seed in range(4) for index in range(20)]
    minutes = [t.duration / 60 for t in timelines]
    assert min(minutes) > 1.9
    assert max(minutes) <= 8
    assert 3.2 < np.mean(minutes) < 4.2
    assert sum(t.height == 720 for t in timelines) == 0.5 * len(timelines)
    assert sum(t.variable_rate for t in timelines) == 0.5 * len(timelines)
    assert len({t.field for t in timelines}) >= 6
    assert len({t.video for t in timelines}) == len(timelines)


def test_nothing_covers_anything_else() -> None:
    for index in range(10):
        timeline = plan_timeline(5, index)
        shows = [
            (s, t.x, t.y) for t in timeline.things for s in t.shown if t.role not in ("visitor", "toucher")
        ]
        shows += [(t.interval, t.x, t.y) for t in timeline.texts if t.role in ("reading", "blink", "caption")]
        for i, (span, x, y) in enumerate(shows):
            for other, x2, y2 in shows[i + 1 :]:
                if span.start < other.end and other.start < span.end:
                    assert abs(x - x2) > 0.1 or abs(y - y2) > 0.1


def test_the_narration_is_well_formed_and_gives_something_away(recordings: SampleSet) -> None:
    spoken = ""
    for key, timeline in recordings.timelines.items():
        blocks = (recordings.folder / f"{key}.srt").read_text(encoding="utf-8").strip().split("\n\n")
        last = 0.0
        for number, block in enumerate(blocks, start=1):
            first, times, *said = block.split("\n")
            assert int(first) == number
            start, end = (
                sum(
                    float(part) * unit
                    for part, unit in zip(stamp.replace(",", ".").split(":"), (3600, 60, 1), strict=True)
                )
                for stamp in times.split(" --> ")
            )
            assert last <= start <= end <= timeline.duration + 1e-3
            last = end
            spoken += " ".join(said)
    assert "reading is" in spoken or "Did you see" in spoken
