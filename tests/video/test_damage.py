"""Damaged files give the pictures that they have, or a reason: no crash, no hang, no unbounded memory.

`make verify` goes through two thousand damaged copies; every run of the tests through the first of them.
"""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.records.frame import Detail
from evoharness.video import NotAVideo, Video
from evoharness.video.damage import _around
from evoharness.video.packets import Packet
from evoharness.video.readers import relay
from tests.video.damaging import damaged
from tests.video.recordings import record
from tests.video.test_kinds import restless

KINDS = {
    "small.mp4": {},
    "small.mkv": {},
    "small.ts": {},
    "small.flv": {},
    "small.avi": {"codec": "mpeg4"},
    "small.webm": {"codec": "libvpx"},
    "hevc.mp4": {"codec": "libx265", "options": {"x265-params": "log-level=error"}},
    "plain.mp4": {"options": {"bf": "0"}},
}
CLEAR_PEAK = Path("/proc/self/clear_refs")
"""Where Linux is told to forget how much memory was used at most."""
FEW = 12
MANY = 250
"""Copies of each of the eight."""
DEADLINE_S = 60
"""Far above what any of them takes (a second, and at most a few for a reader that is replaced)."""
MOST_MEGABYTES = 300
"""By how much the memory of this process may grow, at any moment."""


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("originals")
    return {
        name: record(folder / name, restless(24), gop=8, **settings).read_bytes()  # type: ignore[arg-type]
        for name, settings in KINDS.items()
    }


@pytest.fixture(autouse=True)
def bounded_memory(originals: dict[str, bytes]) -> Iterator[None]:  # noqa: ARG001 (made before it is measured)
    """Fails a test during which the memory of this process grew beyond measure."""
    if not CLEAR_PEAK.exists():
        yield
        return
    CLEAR_PEAK.write_text("5")
    before = _peak_megabytes()
    yield
    assert _peak_megabytes() - before < MOST_MEGABYTES


def _peak_megabytes() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("the system does not tell the most memory that was used")


@pytest.mark.parametrize("name", KINDS)
def test_a_few_damaged_copies(originals: dict[str, bytes], name: str, tmp_path: Path) -> None:
    counts = _go_through(originals[name], tmp_path / name, range(FEW))
    assert counts["copies"] == FEW


@pytest.mark.verify
@pytest.mark.parametrize("name", KINDS)
def test_many_damaged_copies(originals: dict[str, bytes], name: str, tmp_path: Path) -> None:
    counts = _go_through(originals[name], tmp_path / name, range(MANY))
    assert counts["copies"] == MANY
    assert counts["read"] > MANY / 20  # else nothing but the refusal would be tested


@pytest.mark.verify
@pytest.mark.parametrize("name", ["small.mkv", "plain.mp4"])
def test_many_damaged_copies_through_decord(
    originals: dict[str, bytes], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "DECORD_COST", 0.0)
    monkeypatch.setattr(relay, "START_COST", 0.0)
    monkeypatch.setattr(relay, "PASS_COST", 0.0)
    _go_through(originals[name], tmp_path / name, range(MANY))


def _go_through(original: bytes, place: Path, seeds: range) -> "Counter[str]":
    counts: Counter[str] = Counter()
    for seed in seeds:
        place.write_bytes(damaged(original, f"{place.name} {seed}"))
        began = time.monotonic()
        video = Video(place)
        try:
            info = video.info
        except NotAVideo as error:
            counts["refused"] += 1
            counts["talkative"] += "\n" in error.reason
        else:
            assert info.frames == len(video.index) >= 1
            assert info.duration > 0
            frames = video.frames([0, 0.35, 0.9, 1.7, 2.2, info.duration], Detail.SMALL)
            got = list(video.pixels(frames))
            assert [p.shape for p in got] == [(f.height, f.width, 3) for f in frames]
            counts["read"] += 1
            counts["warned"] += bool(info.warnings)
            counts["lost"] += bool(video.losses.pictures)
            counts["replaced"] += bool(video.losses.replaced)
        assert time.monotonic() - began < DEADLINE_S, (place.name, seed)
        counts["copies"] += 1
    assert not counts["talkative"]
    return counts


def test_what_a_damaged_file_lost_is_known_after_reading(originals: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "hurt.ts"
    data = bytearray(originals["small.ts"])
    middle = len(data) // 2 // 188 * 188
    del data[middle : middle + 30 * 188]
    path.write_bytes(data)
    video = Video(path)
    assert any("damaged" in warning and "packets" in warning for warning in video.info.warnings)
    frames = video.frames([n / 10 for n in range(24)], Detail.SMALL)
    assert len(list(video.pixels(frames))) == len(frames) < 24
    hurt = video.losses.pictures | video.losses.damaged
    assert 0 < len(hurt) < 12
    assert any("could not be decoded" in line or "damaged parts" in line for line in video.reading)


def test_a_header_that_promises_giant_pictures_takes_no_memory(tmp_path: Path) -> None:
    path = record(tmp_path / "x.avi", restless(3), codec="mjpeg", pixels="yuvj420p")
    data = path.read_bytes()
    start = data.index(b"\xff\xc0") + 5  # height and width in the first picture itself
    path.write_bytes(data[:start] + b"\xff\xff\xff\xff" + data[start + 4 :])
    try:
        video = Video(path)
        list(video.pixels(video.frames([0], Detail.SMALL)))
    except NotAVideo:
        pass


def test_only_what_lies_around_damage_is_decoded_to_find_out() -> None:
    packets = [Packet(n, 1, 9, n % 100 == 0, True, hurt=n in (250, 999)) for n in range(1000)]
    assert _around(packets, {250, 999}) == {*range(200, 301), *range(900, 1000)}
    assert _around(packets, {300}) == set(range(200, 401))
    assert _around(packets, set()) == set()
    endless = [packet._replace(key=packet.pts == 0) for packet in packets] * 5
    assert len(_around(endless, {999})) <= 2001
