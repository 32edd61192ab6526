"""How much is under way at a time and in a minute, over threads and over processes."""

import math
import multiprocessing
import os
import signal
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.limiter import Limiter
from evoharness.models.reasoning_tasks import Reason
from evoharness.models.settings import Rates
from tests.models.hosted.conftest import Waits
from tests.models.hosted.server import Connection, Request, ScriptedServer, answers

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
NOTHING = Rates(concurrency=None)


def limiter(rates: Rates, clock: Clock, folder: Path | None = None) -> Limiter:
    return Limiter(rates, folder, "openai/scripted http://x", clock)


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(begin <= time < begin + 60 for time in times) for begin in times)


def test_limits_that_cannot_be_shared_leave_no_file_open(tmp_path: Path) -> None:
    gate = limiter(Rates(concurrency=9), Waits().clock, tmp_path)
    assert gate._path is not None
    gate._path.with_suffix(".8").mkdir(parents=True)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with gate.admit(0):
        assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("shared", [False, True])
def test_no_minute_has_more_requests_than_allowed(tmp_path: Path, shared: bool) -> None:
    waits = Waits()
    rates = Rates(concurrency=None, requests_a_minute=30)
    gate = limiter(rates, waits.clock, tmp_path if shared else None)
    begun: list[float] = []
    for _ in range(120):
        with gate.admit(0):
            begun.append(waits.time)
    assert most_in_a_minute(begun) <= 30
    # ... and not many fewer: four minutes' worth takes less than four and a half.
    assert begun[-1] - begun[0] < 270


def test_no_minute_has_more_tokens_than_allowed_once_they_are_known() -> None:
    waits = Waits()
    gate = limiter(Rates(concurrency=None, tokens_a_minute=10_000), waits.clock)
    used: list[tuple[float, int]] = []
    for _ in range(60):
        with gate.admit(1_000) as admission:
            used.append((waits.time, 500))
            admission.used(500)
    for begin, _ in used:
        assert sum(tokens for at, tokens in used if begin <= at < begin + 60) <= 10_000
    assert used[-1][0] - used[0][0] < 60 * 60 * 500 / 10_000 * 1.25


def test_a_pause_that_was_asked_for_holds_everybody_up() -> None:
    waits = Waits()
    gate = limiter(NOTHING, waits.clock)
    begun = waits.time
    gate.hold(30)
    gate.hold(10)
    with gate.admit(0):
        assert waits.time == pytest.approx(begun + 30)
    with gate.admit(0):
        assert waits.time == pytest.approx(begun + 30)


def test_what_another_clock_wrote_is_not_believed(tmp_path: Path) -> None:
    ahead, behind = Waits(time=5_000_000.0), Waits(time=1_000_000.0)
    rates = Rates(concurrency=None, requests_a_minute=6)
    for _ in range(5):
        with limiter(rates, replace(ahead.clock, whose=lambda: "before"), tmp_path).admit(0):
            pass
    assert ahead.slept
    with limiter(rates, replace(behind.clock, whose=lambda: "after"), tmp_path).admit(0):
        assert behind.slept == []


@pytest.mark.parametrize(
    "damage", [b"odd", b"", b"\xff" * 40, b"limits-2" + struct.pack("4d", math.nan, math.inf, 0, 0)]
)
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, damage: bytes) -> None:
    waits = Waits()
    rates = Rates(concurrency=None, requests_a_minute=60)
    with limiter(rates, waits.clock, tmp_path).admit(0):
        pass
    (file,) = tmp_path.rglob("*.rate")
    file.write_bytes(damage)
    with limiter(rates, waits.clock, tmp_path).admit(0):
        assert waits.slept == []


def test_a_backlog_of_hours_is_not_forgotten(tmp_path: Path) -> None:
    waits = Waits()
    gate = limiter(Rates(tokens_a_minute=3_000), waits.clock, tmp_path)
    gate._share()
    begins = [gate._turn(12_000) - waits.time for _ in range(16)]
    assert begins == sorted(begins)
    assert begins[-1] > 3_600
    assert begins[-1] - begins[-2] == pytest.approx(begins[2] - begins[1])


def test_what_killed_processes_had_booked_is_not_waited_for_without_end(tmp_path: Path) -> None:
    waits = Waits()
    rates = Rates(concurrency=2, tokens_a_minute=600)
    killed = limiter(rates, waits.clock, tmp_path)
    killed._share()
    for _ in range(500):
        killed._turn(60)
    gate = limiter(rates, waits.clock, tmp_path)
    gate._share()
    assert gate._turn(60) - waits.time < 2 * 2 * 60 * 60 / (600 * 0.9) + 7


def test_a_clock_that_is_set_back_holds_nobody_up() -> None:
    clock = Clock()
    assert clock.now() <= Clock().now()
    assert abs(clock.now() - time.time()) > 1_000_000  # it is not the time of day
    assert clock.whose() == Clock().whose() != ""


def test_the_files_of_clocks_that_are_gone_are_removed_after_a_while(tmp_path: Path) -> None:
    waits = Waits()
    for whose, days in (("first", 9), ("second", 2), ("third", 0)):
        with limiter(NOTHING, replace(waits.clock, whose=lambda name=whose: name), tmp_path).admit(0):  # type: ignore[misc]
            pass
        (file,) = tmp_path.rglob(f"*.{whose}.rate")
        os.utime(file, (time.time() - days * 86_400,) * 2)
    assert {file.name.split(".")[1] for file in tmp_path.rglob("*.rate")} == {"second", "third"}


@pytest.mark.parametrize("shared", [False, True])
def test_threads_never_have_more_calls_in_flight_than_allowed(
    server: ScriptedServer, make: Callable[..., LiteLLMBackbone], tmp_path: Path, shared: bool
) -> None:
    def slowly(request: Request, connection: Connection) -> None:
        time.sleep(0.02)
        answers({"text": "x"})(request, connection)

    server.will(slowly)
    backbone = make(
        rates=Rates(concurrency=4), limits_dir=tmp_path if shared else None, clock=Clock(), seed=shared
    )
    tasks = [Reason(prompt=f"Number {k}.", evidence=()) for k in range(40)]
    with ThreadPoolExecutor(32) as pool:
        replies = list(pool.map(backbone.run, tasks))
    assert all(reply.output.text == "x" for reply in replies)
    assert len(server.requests) == 40
    assert server.most_at_once == 4
    assert len({thread.name for thread in threading.enumerate()}) < 80


def _hold_places(folder: Path, ready: str, seconds: float) -> None:
    gate = limiter(Rates(concurrency=3), Clock(), folder)
    with gate.admit(0), gate.admit(0):
        Path(ready).touch()
        time.sleep(seconds)


def test_processes_share_the_places_and_a_killed_one_leaves_its_own(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    process = multiprocessing.get_context("spawn").Process(
        target=_hold_places, args=(tmp_path, str(ready), 60.0)
    )
    process.start()
    while not ready.exists():
        time.sleep(0.02)
    gate = limiter(Rates(concurrency=3), Clock(), tmp_path)
    got: list[float] = []

    def take() -> None:
        with gate.admit(0):
            got.append(time.monotonic())
            time.sleep(0.3)

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.15)
    assert len(got) == 1  # the other process has two of the three places
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    killed = time.monotonic()
    for thread in threads:
        thread.join(5)
    assert len(got) == 3
    assert max(got) - killed < 0.3


def test_another_model_has_limits_of_its_own(tmp_path: Path) -> None:
    waits = Waits()
    one = Limiter(NOTHING, tmp_path, "openai/one http://x", waits.clock)
    other = Limiter(NOTHING, tmp_path, "openai/other http://x", waits.clock)
    one.hold(30)
    with other.admit(0):
        assert waits.slept == []
    assert not [path for path in tmp_path.rglob("*") if "openai" in path.name]


def test_a_folder_that_cannot_be_used_is_gone_without(tmp_path: Path) -> None:
    (tmp_path / "limits").write_text("a file where the folder should be")
    waits = Waits()
    gate = limiter(Rates(concurrency=2, requests_a_minute=10), waits.clock, tmp_path)
    for _ in range(4):
        with gate.admit(0):
            pass
    assert waits.slept
