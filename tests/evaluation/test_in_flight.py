"""Several items at once in each worker: what is gained, and that nothing is mixed up or lost by it."""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from evoharness.evaluation import (
    Evaluator,
    ProcessExecutor,
    WorkbenchConfig,
    WorkerLost,
)
from evoharness.evaluation.kept import Kept
from evoharness.evaluation.meter import MeteredBackbone
from evoharness.harness import initial_harness
from evoharness.models.backbone import Reply
from evoharness.models.reasoning_tasks import SummarizeVideo, VideoSummary
from evoharness.models.task import Output, Task
from evoharness.records.frame import Detail
from evoharness.records.outcome import Outcome
from evoharness.records.spend import Spend
from evoharness.retrieval import TextIndex, WordLlamaEmbedder
from evoharness.sandbox import HostApi, HostMethod, ProcessSandbox, SandboxLimits
from evoharness.solver import behaviour
from evoharness.video import Video
from tests.evaluation import jobs
from tests.evolution.colour_world import ColourConfig, write_video
from tests.evolution.scripted import question

THREADS = 16
Result = TypeVar("Result")


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessExecutor]:
    config = WorkbenchConfig(cache_dir=tmp_path_factory.mktemp("cache"))
    executor = ProcessExecutor(config, workers=2, in_flight=8)
    list(executor.map(jobs.square, range(16)))
    yield executor
    executor.close()


def at_once(work: Callable[[int], Result], times: int = THREADS) -> list[Result]:
    """What `work` returns to so many threads that begin together."""
    gate = threading.Barrier(times)

    def begin(number: int) -> Result:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(begin, range(times)))


def test_jobs_that_wait_do_so_together(executor: ProcessExecutor) -> None:
    began = time.monotonic()
    assert dict(executor.map(jobs.slow, range(32))) == {n: n for n in range(32)}
    assert time.monotonic() - began < 32 * 0.3 / 2 / 2, "16 at once take a tenth of that"


def test_what_an_item_used_is_booked_however_many_run_beside_it(executor: ProcessExecutor) -> None:
    before = executor.used
    assert dict(executor.map(jobs.used_by, [1, 2, 3, 4, 5, 6, 7, 8])) == {n: n + 1 for n in range(8)}
    assert executor.used.spend.calls - before.spend.calls == 36


def test_the_item_that_kills_is_found_among_those_in_flight(executor: ProcessExecutor) -> None:
    items = [1, 2, 3, -4, 5, 6, 7, 8, 9]
    results = dict(executor.map(jobs.slow_or_die, items, on_lost=lambda item, _: item * 100))
    assert results == {n: item if item > 0 else item * 100 for n, item in enumerate(items)}
    with pytest.raises(WorkerLost, match="a worker died"):
        list(executor.map(jobs.slow_or_die, [1, -2, 3]))
    assert dict(executor.map(jobs.square, [2])) == {0: 4}


def test_only_the_item_that_hangs_is_given_up(tmp_path: Path) -> None:
    impatient = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path), workers=1, patience_s=2.0, in_flight=4)
    results = dict(impatient.map(jobs.hang, [1, -1, 2, 3], on_lost=lambda item, _: item * 100))
    impatient.close()
    assert results == {0: 1, 1: -100, 2: 2, 3: 3}


def test_an_error_of_one_job_ends_all_and_the_executor_goes_on(executor: ProcessExecutor) -> None:
    with pytest.raises(ValueError, match="no such thing as -2"):
        list(executor.map(jobs.slow_or_fail, [1, -2, 3]))
    assert dict(executor.map(jobs.square, [3])) == {0: 9}


def test_questions_are_answered_as_if_one_after_the_other(tmp_path: Path) -> None:
    videos = {
        "one": write_video(tmp_path / "one.mp4", [("grey", 4.0), ("red", 2.0)]),
        "two": write_video(tmp_path / "two.mp4", [("blue", 4.0), ("grey", 2.0)]),
    }
    harness = initial_harness()
    alike = [harness, *(harness.with_parameters(replay_padding_s=float(n)) for n in range(2, 12))]
    questions = [
        question(n, "one" if n % 2 else "two", text=f"Which colour is it ({n})?", options=("red", "blue"))
        for n in range(12)
    ]

    def answers(in_flight: int) -> tuple[dict[str, list[Outcome]], Spend]:
        config = ColourConfig(cache_dir=tmp_path / str(in_flight))
        executor = ProcessExecutor(config, workers=1, in_flight=in_flight)
        found = Evaluator(executor, videos).evaluate(alike, questions)
        executor.close()
        return found, executor.used.spend

    (one, paid_one), (many, paid_many) = answers(1), answers(8)

    def comparable(found: dict[str, list[Outcome]]) -> list[object]:
        return [
            (print_, o.question, o.answered.choice, o.reward, o.answered.spend, len(o.answered.trace.steps))
            for print_, outcomes in found.items()
            for o in outcomes
        ]

    assert comparable(one) == comparable(many)
    assert paid_one == paid_many, "harnesses that must answer alike share an answer, even in flight"


class Litter:
    """Garbage that lets other threads run while it is collected."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0)


def test_threads_read_strategies_while_garbage_is_collected() -> None:
    harness = initial_harness()
    name = harness.route(10.0).strategy
    versions = [
        [harness.with_strategy(name, f"{harness.strategies[name]}\n# {thread} {n}\n") for n in range(40)]
        for thread in range(THREADS)
    ]

    def work(number: int) -> int:
        found = set()
        for version in versions[number]:
            Litter()
            found.add(behaviour(version, 10.0))
        return len(found)

    before = gc.get_threshold()
    gc.set_threshold(40)
    try:
        assert at_once(work) == [40] * THREADS
    finally:
        gc.set_threshold(*before)


class CostlyBackbone:
    """Each thread asks for something that costs as much as its number."""

    id = "costly"

    def run(self, task: Task[Output]) -> Reply[Output]:
        assert isinstance(task, SummarizeVideo)
        time.sleep(0.002)
        output: object = VideoSummary(text="")
        return Reply(output, Spend(calls=1, input_tokens=int(task.super_events[0])))  # type: ignore[arg-type]


def test_the_meter_keeps_threads_apart() -> None:
    meter = MeteredBackbone(CostlyBackbone())

    def work(number: int) -> Spend:
        for _ in range(20):
            meter.run(SummarizeVideo(super_events=(str(number),)))
        return meter.take().spend

    assert at_once(work) == [Spend(calls=20, input_tokens=20 * number) for number in range(THREADS)]
    assert meter.take().spend == Spend()


def test_a_part_is_made_once_for_all_threads(tmp_path: Path) -> None:
    bench = ColourConfig(cache_dir=tmp_path).build()
    parts = at_once(lambda _: (bench.embedder, bench.backbone, bench.sandbox, bench.solver_bench))
    assert len({tuple(map(id, each)) for each in parts}) == 1
    bench.close()


def test_a_value_is_made_by_one_thread_while_the_others_wait() -> None:
    kept: Kept[int] = Kept(capacity=2)
    made: list[int] = []

    def make() -> int:
        time.sleep(0.05)
        made.append(7)
        return 7

    assert at_once(lambda _: kept.get("x", make)) == [7] * THREADS
    assert made == [7]
    assert kept.get("y", lambda: 8, worth=lambda _: False) == 8
    assert kept.get("y", lambda: 9) == 9, "what was not worth keeping is made again"
    kept.get("z", lambda: 10)
    kept.get("x", make)
    assert made == [7, 7], "the one used longest ago has gone"


def test_whoever_waited_for_a_failure_tries_for_itself() -> None:
    kept: Kept[int] = Kept(capacity=2)
    tries: list[int] = []

    def make() -> int:
        time.sleep(0.01)
        tries.append(1)
        if len(tries) < 4:
            raise ValueError("not yet")
        return 1

    def work(_: int) -> int | str:
        try:
            return kept.get("x", make)
        except ValueError as error:
            return str(error)

    assert sorted(map(str, at_once(work, 6))) == ["1", "1", "1", "not yet", "not yet", "not yet"]


def test_threads_read_one_video_side_by_side(tmp_path: Path) -> None:
    shown = [(colour, 1.0) for colour in ("red", "blue", "green", "grey") * 4]
    path = write_video(tmp_path / "one.mp4", shown)

    def picture(video: Video, number: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
        frames = video.frames([float(number), number + 0.5, number / 2], Detail.NORMAL)
        return np.stack(list(video.pixels(frames)))

    shared = Video(path)
    for number, pixels in enumerate(at_once(lambda number: picture(shared, number))):
        assert np.array_equal(pixels, picture(Video(path), number))


def test_threads_search_an_index_that_is_just_being_built() -> None:
    texts = [f"the {colour} ball rolls over line {n}" for n in range(300) for colour in ("red", "blue")]
    expected = TextIndex(texts, WordLlamaEmbedder()).search("blue ball line 7", 5)
    index = TextIndex(texts, WordLlamaEmbedder())
    assert at_once(lambda _: index.search("blue ball line 7", 5)) == [expected] * THREADS


def test_threads_run_code_in_one_sandbox() -> None:
    source = "def strategy(ctx, question):\n    return [ctx.double(n=question) for _ in range(3)]\n"
    sandbox = ProcessSandbox()

    def work(number: int) -> object:
        def double(_: object) -> int:
            time.sleep(0.02)
            return 2 * number

        api = HostApi({"double": HostMethod(double, jobs.Number)})
        return sandbox.run(source, "strategy", {"question": number}, api, SandboxLimits()).value

    assert at_once(work) == [[2 * number] * 3 for number in range(THREADS)]
    sandbox.close()
