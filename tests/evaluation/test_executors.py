"""One conformance suite for every executor, then what only processes can show."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from evoharness.evaluation import (
    Executor,
    InlineExecutor,
    Interrupted,
    JobFailed,
    ProcessExecutor,
    WorkbenchConfig,
    WorkerLost,
)
from tests.evaluation import jobs


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessExecutor]:
    executor = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path_factory.mktemp("cache")), workers=2)
    yield executor
    executor.close()


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessExecutor]:
    config = WorkbenchConfig(cache_dir=tmp_path_factory.mktemp("cache"))
    executor = ProcessExecutor(config, workers=2, in_flight=4)
    yield executor
    executor.close()


@pytest.fixture(params=["inline", "processes", "side_by_side"])
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Executor:
    if request.param == "inline":
        return InlineExecutor(WorkbenchConfig(cache_dir=tmp_path))
    executor: Executor = request.getfixturevalue(request.param)
    return executor


def test_every_item_is_done_once(executor: Executor) -> None:
    assert dict(executor.map(jobs.square, range(20))) == {n: n * n for n in range(20)}


def test_no_items_no_results(executor: Executor) -> None:
    assert list(executor.map(jobs.square, [])) == []


def test_an_error_of_the_job_is_raised_here(executor: Executor) -> None:
    with pytest.raises(ValueError, match="no such thing"):
        list(executor.map(jobs.fail, ["good", "value"]))
    assert dict(executor.map(jobs.square, [3])) == {0: 9}, "the executor can be used again"


def test_a_consumer_may_stop_early(executor: Executor) -> None:
    for _ in executor.map(jobs.square, range(10)):
        break
    assert dict(executor.map(jobs.square, [2])) == {0: 4}


def test_ctrl_c_finishes_what_is_in_flight(executor: Executor) -> None:
    done: list[int] = []
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(Interrupted):
        done.extend(result for _, result in executor.map(jobs.slow, range(50)))
    assert 1 <= len(done) < 20
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_items_of_one_key_stay_with_one_worker(processes: ProcessExecutor) -> None:
    list(processes.map(jobs.square, range(4)))  # both workers have started
    items = [f"{video}{number}" for number in range(8) for video in "ab"]
    results = [result for _, result in processes.map(jobs.who, items, key=lambda item: item[0])]
    moves = 0
    for video in "ab":
        pids = [pid for item, pid in results if item[0] == video]
        moves += sum(one != other for one, other in pairwise(pids))
    assert moves <= 1, "only a worker with nothing of its own left takes over from the other"


def test_workers_have_one_thread(processes: ProcessExecutor) -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
    assert [value for _, value in sorted(processes.map(jobs.threads, names))] == ["1", "1"]
    assert os.environ.get("OMP_NUM_THREADS") == before, "the parent keeps its own"


def test_an_error_that_cannot_travel_arrives_as_a_text(processes: ProcessExecutor) -> None:
    with pytest.raises(JobFailed, match="Unpicklable: ab"):
        list(processes.map(jobs.fail, ["unpicklable"]))


@pytest.mark.parametrize("kind", ["processes", "side_by_side"])
def test_the_item_of_a_dead_worker_is_tried_again(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    executor: ProcessExecutor = request.getfixturevalue(kind)
    items = [str(tmp_path / name) for name in "abc"]
    assert dict(executor.map(jobs.die_once, items)) == {0: "done", 1: "done", 2: "done"}


def test_an_item_that_kills_two_workers_is_given_up(processes: ProcessExecutor) -> None:
    results = dict(processes.map(jobs.die, [1, -1, 2, 3], on_lost=lambda item, lost: f"lost {item}: {lost}"))
    assert results[0] == "item 1"
    assert results[1].startswith("lost -1: a worker died (exit code -9)")
    assert results[3] == "item 3"
    with pytest.raises(WorkerLost):
        list(processes.map(jobs.die, [-1]))


def test_a_worker_that_hangs_counts_as_lost(tmp_path: Path) -> None:
    impatient = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path), workers=2, patience_s=2.0)
    results = dict(impatient.map(jobs.hang, [1, -1, 2], on_lost=lambda item, _: item * 100))
    assert results == {0: 1, 1: -100, 2: 2}
    impatient.close()


PARENT = """
import sys, time
from pathlib import Path
from evoharness.evaluation import ProcessExecutor, WorkbenchConfig
from tests.evaluation import jobs
if __name__ == "__main__":
    executor = ProcessExecutor(WorkbenchConfig(cache_dir=Path(sys.argv[1])), workers=1)
    print(next(executor.map(jobs.who, ["x"]))[1][1], flush=True)
    {then}
"""


@pytest.mark.parametrize("then", ["time.sleep(60)", "pass"], ids=["killed", "ended without close"])
def test_workers_end_with_their_parent(tmp_path: Path, then: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(then=then))
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen(
        [sys.executable, script, tmp_path], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        if "sleep" in then:
            parent.kill()
        assert parent.wait(10) is not None
    deadline = time.monotonic() + 5
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()
