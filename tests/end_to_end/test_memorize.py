"""`memorize`: killed at any moment and run again, it comes to the same memories and asks nothing twice."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest

from evoharness.records.memory import VideoMemory
from tests.memory.counted import NAME, install, lines_of
from tests.video.recordings import record

ROOT = Path(__file__).parents[2]
SCENES = {"first film": 24, "it's the second": 20}
"""Of each video, as many segments or more."""
SECONDS = 0.4
"""That a description takes."""


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two videos that change every ten seconds."""
    folder = tmp_path_factory.mktemp("videos")
    rng = np.random.default_rng(1)
    for name, count in SCENES.items():
        pictures = []
        for _ in range(count):
            scene = rng.integers(0, 256, (4, 6, 3), dtype=np.uint8).repeat(16, axis=0).repeat(16, axis=1)
            for shift in range(5):
                picture = scene.copy()
                picture[8:24, 16 * shift : 16 * shift + 16] = 255
                pictures.append(picture)
        record(folder / f"{name}.mp4", pictures, [2.0 * n for n in range(len(pictures))], gop=5)
    return folder


@dataclass(frozen=True)
class Place:
    """Where memories are built, and what is asked for them is written down."""

    folder: Path
    videos: Path

    @property
    def cache(self) -> Path:
        """The cache folder."""
        return self.folder / "cache"

    @property
    def log(self) -> Path:
        """What the backbone was asked."""
        return self.folder / "log"

    def start(self, *more: str, seconds: float = SECONDS) -> "subprocess.Popen[str]":
        """Begin to remember, in a group of processes of its own."""
        plugin = self.folder / "plugin"
        if not plugin.exists():
            install(plugin)
        path = os.pathsep.join([str(plugin), str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "evoharness.memorize",
                f"videos={self.videos}",
                f"backbone.name={NAME}",
                f"backbone.options.log={self.log}",
                f"backbone.options.seconds={seconds}",
                "memory.scene_fps=0.5",
                "memory.minimum_s=8",
                "memory.maximum_s=12",
                f"cache={self.cache}",
                "executor.workers=2",
                "executor.in_flight=3",
                "display=plain",
                *more,
            ],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )

    def finish(self, *more: str) -> str:
        """Remember to the end; what was printed."""
        with self.start(*more, seconds=0.0) as process:
            said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said
        return said

    def memories(self) -> dict[str, tuple[bytes, bytes]]:
        """Name of each memory's folder → what it says, and its small pictures."""
        return {
            path.parent.name: (path.read_bytes(), path.with_name("thumbnails.json").read_bytes())
            for path in self.cache.glob("memories/*/memory.json")
        }

    def finished(self) -> int:
        """Segments that are written down."""
        of_memories = [VideoMemory.model_validate_json(said) for said, _ in self.memories().values()]
        written = len(list(self.cache.glob("memories/*/steps/s*.json")))
        return written + sum(len(memory.segments) for memory in of_memories)

    def asked(self) -> "Counter[str]":
        """How often each thing was asked so far."""
        return Counter(name for what, name in lines_of(self.log) if what == "begin")

    def answered(self) -> "Counter[str]":
        """How often it was answered."""
        return Counter(name for what, name in lines_of(self.log) if what == "end")


@pytest.fixture(scope="module")
def undisturbed(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("undisturbed"), videos)
    place.finish()
    return place


def kill(place: Place, rng: Random) -> None:
    """Start to remember, and kill it: anywhere from its start on, or while segments are described."""
    before = sum(place.asked().values())
    with place.start() as process:
        if rng.random() < 0.25:
            time.sleep(rng.uniform(0.0, 3.0))
        else:
            while sum(place.asked().values()) == before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.uniform(0.0, 1.2))
        if rng.random() < 0.3:
            process.kill()  # and leave its workers to themselves
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)  # until nobody holds the other end any more, the workers included


def check_kills(place: Place, undisturbed: Place, kills: int, seed: int) -> None:
    rng = Random(seed)
    in_flight = 0
    for _ in range(kills):
        kill(place, rng)
        in_flight = sum(place.asked().values()) - sum(place.answered().values())
    place.finish()
    assert place.memories() == undisturbed.memories()
    assert not list(place.cache.glob("memories/*/steps"))
    print(f"{kills} kills: {sum(place.asked().values())} asked, {sum(place.answered().values())} answered, ")
    print(f"{len(place.asked())} different things")
    twice = {name: count for name, count in place.answered().items() if count > 1}
    assert sum(twice.values()) - len(twice) <= kills // 10, "in the moment between an answer and its file"
    assert set(place.asked()) == set(undisturbed.asked())
    repeated = sum(place.asked().values()) - len(place.asked())
    assert repeated <= in_flight + len(twice), "what was in flight is asked again, and nothing else"


def test_an_undisturbed_run_asks_everything_once(undisturbed: Place) -> None:
    asked = undisturbed.asked()
    assert max(asked.values()) == 1
    assert sum(name.startswith("DescribeSegment:") for name in asked) == undisturbed.finished() >= 40
    assert len(undisturbed.memories()) == 2


def test_killed_and_run_again(videos: Path, undisturbed: Place, tmp_path: Path) -> None:
    check_kills(Place(tmp_path, videos), undisturbed, kills=3, seed=5)


def test_memories_are_shown_as_trees_and_pages(undisturbed: Place, tmp_path: Path) -> None:
    before = undisturbed.asked()
    said = undisturbed.finish("show=true", f"out={tmp_path / 'my pages'}")
    assert undisturbed.asked() == before
    assert "first film: a video of " in said
    assert "\n  s0000 00:00.0–" in said
    for key in SCENES:
        page = tmp_path / "my pages" / f"{key}.html"
        assert f"page of {key}: {page}" in said
        assert page.read_text(encoding="utf-8").count("<article") >= 20


def test_progress_counts_segments_and_videos(videos: Path, tmp_path: Path) -> None:
    place = Place(tmp_path, videos)
    said = place.finish()
    segments = place.finished()
    assert f"segments: {segments}/{segments}" in said
    assert "1 of 2 videos: " in said
    assert "2 of 2 videos: " in said


def test_what_is_in_flight_is_finished_when_the_user_asks_to_stop(
    videos: Path, undisturbed: Place, tmp_path: Path
) -> None:
    place = Place(tmp_path, videos)
    with place.start() as process:
        while sum(place.asked().values()) < 8:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert place.asked() == place.answered()
    assert 6 <= place.finished() == len(place.asked()) < 30
    place.finish()
    assert max(place.asked().values()) == 1
    assert place.memories() == undisturbed.memories()


@pytest.mark.verify
def test_killed_at_twenty_moments(videos: Path, undisturbed: Place, tmp_path: Path) -> None:
    check_kills(Place(tmp_path, videos), undisturbed, kills=20, seed=11)
