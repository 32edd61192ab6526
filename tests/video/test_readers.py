"""Every reader gives the pictures of a full decode, and none of them can stop the others."""

import contextlib
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evoharness.records.frame import Detail
from evoharness.video import Video
from evoharness.video.readers import Losses, Reader, ReaderFailed, Wanted
from evoharness.video.readers import apart as apart_module
from evoharness.video.readers.apart import ApartReader
from evoharness.video.readers.choice import decord_is_there
from evoharness.video.readers.pyav import PyAVReader
from evoharness.video.readers.relay import Relay
from evoharness.video.readers.worker import SPARE_S
from tests.video.reference import every_picture

needs_decord = pytest.mark.skipif(not decord_is_there(), reason="decord has no wheel here")
pytestmark = pytest.mark.skipif(
    not Path("/proc/self").is_dir(), reason="looks at processes as Linux shows them"
)

Make = Callable[[Video], Reader]


def in_process(threads: int) -> Make:
    return lambda video: PyAVReader(video.path, video.index, threads=threads)


def apart(name: str, losses: Losses | None = None) -> Make:
    return lambda video: ApartReader(
        name,
        video.path,
        video.index,
        pixels=video.info.width * video.info.height,
        sound=True,
        threads=1,
        losses=losses or Losses(),
    )


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(in_process(1), id="pyav, one thread"),
        pytest.param(in_process(4), id="pyav, four threads"),
        pytest.param(apart("pyav"), id="pyav, apart"),
        pytest.param(apart("decord"), id="decord", marks=needs_decord),
    ],
)
class TestEveryReader:
    @pytest.mark.parametrize("recording", ["plain", "one_key"])
    def test_gives_the_pictures_of_a_full_decode(
        self, make: Make, recording: str, request: pytest.FixtureRequest
    ) -> None:
        video = Video(request.getfixturevalue(recording))
        truth = every_picture(video.path)
        stamps = video.index.pts
        reader = make(video)
        rng = random.Random(3)
        for count in (1, 2, 7, len(stamps)):
            chosen = sorted(rng.sample(range(len(stamps)), count))
            wanted = [Wanted(number, 320, 192, None) for number in chosen]
            for number, pixels in zip(chosen, reader.read(wanted), strict=True):
                assert np.array_equal(pixels, truth[stamps[number]]), number

    def test_the_same_picture_at_several_sizes(self, make: Make, plain: Path) -> None:
        reader = make(Video(plain))
        wanted = [
            Wanted(31, 320, 192, None),
            Wanted(31, 64, 32, None),
            Wanted(31, 96, 64, (0, 0, 0.5, 0.5)),
            Wanted(32, 320, 192, None),
        ]
        shapes = [pixels.shape for pixels in reader.read(wanted)]
        assert shapes == [(192, 320, 3), (32, 64, 3), (64, 96, 3), (192, 320, 3)]

    def test_nothing_wanted_is_nothing_read(self, make: Make, plain: Path) -> None:
        assert list(make(Video(plain)).read([])) == []


def warm_up(name: str, path: Path) -> None:
    """Start a process for what follows: how long that takes is not what is looked at."""
    list(apart(name)(Video(path)).read([Wanted(0, 32, 32, None)]))


class TestApart:
    """What happens when the process of a reader does not do what it should."""

    @pytest.fixture(autouse=True)
    def fresh(self) -> Iterator[None]:
        apart_module._dismiss_all()
        yield
        apart_module._dismiss_all()

    def test_its_process_is_kept_for_the_next_request(self, plain: Path) -> None:
        reader = apart("pyav")(Video(plain))
        wanted = [Wanted(5, 320, 192, None)]
        list(reader.read(wanted))
        first = _children()
        list(reader.read(wanted))
        assert _children() == first
        assert len(first) == 1

    def test_who_stops_asking_leaves_nothing_behind(self, plain: Path) -> None:
        pictures = apart("pyav")(Video(plain)).read([Wanted(n, 320, 192, None) for n in range(100)])
        next(pictures)
        pictures.close()  # type: ignore[attr-defined]
        assert not _children()

    def test_one_that_hangs_is_ended_at_the_deadline(
        self, plain: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        warm_up("pyav", plain)
        monkeypatch.setattr(apart_module, "PATIENCE_S", 2.0)
        pictures = apart("pyav")(Video(plain)).read([Wanted(n, 1280, 704, None) for n in range(100)])
        next(pictures)
        (child,) = _children()
        os.kill(child, signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(ReaderFailed, match="no picture came within"):
            list(pictures)
        assert time.monotonic() - began < 10
        assert child not in _children()

    def test_whoever_is_busy_with_a_picture_is_waited_for(
        self, plain: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        warm_up("pyav", plain)
        monkeypatch.setattr(apart_module._Process, "picture", _patiently(apart_module._Process.picture))
        given = apart("pyav")(Video(plain)).read([Wanted(n, 1280, 704, None) for n in range(12)])
        with monkeypatch.context() as hasty:
            hasty.setattr(apart_module, "PATIENCE_S", 3.0 - SPARE_S)  # three seconds, for the kernel
            next(given)
        time.sleep(5)
        assert len(list(given)) == 11, "more than the pipe holds"

    def test_one_that_crashes_says_how(self, plain: Path) -> None:
        pictures = apart("pyav")(Video(plain)).read([Wanted(n, 1280, 704, None) for n in range(100)])
        next(pictures)
        os.kill(_children()[0], signal.SIGKILL)
        with pytest.raises(ReaderFailed, match="signal 9"):
            list(pictures)

    def test_one_that_died_while_idle_is_not_missed(self, plain: Path) -> None:
        reader = apart("pyav")(Video(plain))
        wanted = [Wanted(5, 320, 192, None)]
        list(reader.read(wanted))
        os.kill(_children()[0], signal.SIGKILL)
        assert len(list(reader.read(wanted))) == 1

    def test_it_is_told_no_keys(self, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        list(apart("pyav")(Video(plain)).read([Wanted(5, 320, 192, None)]))
        (child,) = _children()
        told = Path(f"/proc/{child}/environ").read_bytes()
        assert b"PATH=" in told
        assert b"OPENAI_API_KEY" not in told

    def test_requests_of_several_threads_do_not_wait_for_each_other(self, plain: Path) -> None:
        video = Video(plain)
        begun = threading.Barrier(3, timeout=60)
        counts = []

        def look() -> None:
            pictures = apart("pyav")(video).read([Wanted(n, 1280, 704, None) for n in range(60)])
            next(pictures)
            begun.wait()  # all have their first picture before anybody gets the second
            counts.append(1 + sum(1 for _ in pictures))

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts == [60, 60, 60]
        assert len(_children()) == apart_module.MOST_IDLE


@needs_decord
class TestRelay:
    @pytest.fixture(autouse=True)
    def fresh(self) -> Iterator[None]:
        apart_module._dismiss_all()
        yield
        apart_module._dismiss_all()

    @pytest.mark.parametrize("ending", [signal.SIGSTOP, signal.SIGKILL])
    def test_where_decord_gives_out_pyav_goes_on(
        self, plain: Path, monkeypatch: pytest.MonkeyPatch, ending: signal.Signals
    ) -> None:
        monkeypatch.setattr("evoharness.video.readers.relay.DECORD_COST", 0.0)
        monkeypatch.setattr("evoharness.video.readers.relay.START_COST", 0.0)
        monkeypatch.setattr("evoharness.video.readers.relay.PASS_COST", 0.0)
        warm_up("decord", plain)
        monkeypatch.setattr(apart_module, "PATIENCE_S", 3.0)
        video = Video(plain)
        frames = video.frames([n / 10 for n in range(100)], Detail.NORMAL)
        truth = every_picture(plain)
        pictures = video.pixels(frames)
        got = [next(pictures)]
        monkeypatch.setattr(apart_module, "PATIENCE_S", 60.0)  # for the one that takes over
        os.kill(_children()[0], ending)
        got += pictures
        for number, pixels in enumerate(got):
            assert np.array_equal(pixels, truth[video.index.pts[number]]), number
        assert len(got) == 100
        assert len(video.losses.replaced) == 1
        assert video.losses.replaced[0].startswith("decord: ")
        assert not video.losses.pictures
        assert video.reading[1:] == ("requests read: 1 by pyav", f"replaced: {video.losses.replaced[0]}")

    def test_one_process_of_decord_at_a_time_is_enough(
        self, plain: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evoharness.video.readers.relay.DECORD_COST", 0.0)
        monkeypatch.setattr("evoharness.video.readers.relay.START_COST", 0.0)
        monkeypatch.setattr("evoharness.video.readers.relay.PASS_COST", 0.0)
        first, second = Video(plain), Video(plain)
        frames = first.frames([n / 10 for n in range(50)], Detail.NORMAL)
        pictures = first.pixels(frames)
        next(pictures)
        assert len(_children()) == 1
        assert len(list(second.pixels(second.frames([1, 2], Detail.NORMAL)))) == 2
        assert len(_children()) == 1
        assert len(list(pictures)) == 49

    def test_where_all_give_out_the_last_picture_stands_in(
        self, plain: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", str(plain.with_name("no python here")))
        video = Video(plain)
        nature = video._examined.nature
        hurt = replace(nature, damage="cut")
        losses = Losses()
        relay = Relay(plain, video.index, hurt, pixels=320 * 192, threads=1, losses=losses)
        got = list(relay.read([Wanted(3, 64, 32, None), Wanted(4, 32, 32, None)]))
        assert [pixels.shape for pixels in got] == [(32, 64, 3), (32, 32, 3)]
        assert losses.pictures == {3, 4}
        assert [failure.split(":")[0] for failure in losses.replaced] == ["pyav", "pyav", "decord"]


def _children() -> list[int]:
    """Processes of readers that this process started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if (
                parent == os.getpid()
                and b"evoharness.video.readers.worker" in (folder / "cmdline").read_bytes()
            ):
                found.append(int(folder.name))
    return found


def _patiently(picture: Callable[..., Any]) -> Callable[..., Any]:
    """The same, that waits for as long as it takes."""
    return lambda process, want, _: picture(process, want, 60.0)
