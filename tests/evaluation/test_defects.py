"""An error that nobody foresaw: it costs the item that meets it, unless everything meets it."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.evaluation import (
    Evaluator,
    InlineExecutor,
    Interrupted,
    ProcessExecutor,
    TooManyFailed,
    Workbench,
    evaluator,
)
from evoharness.harness import initial_harness
from evoharness.models.backbone import Backbone, BackboneUnavailable, Reply
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.models.task import Output, Task
from evoharness.records.outcome import APPARATUS
from evoharness.records.question import Question
from tests.evaluation import jobs
from tests.evolution.colour_world import ColourBackbone, ColourConfig, write_video
from tests.evolution.scripted import question


class Defective(ColourBackbone):
    """Breaks over questions that are `bad`."""

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        if isinstance(task, AnswerQuestion) and "bad" in task.text:
            raise OverflowError("int too large to convert to float")
        return super().run(task)


class DefectiveConfig(ColourConfig):
    """Builds workbenches with a defective backbone."""

    def build(self) -> Workbench:
        """See `WorkbenchConfig`."""
        return DefectiveBench(self)


class DefectiveBench(Workbench):
    """A workbench like any other, but for its backbone."""

    def make_backbone(self) -> Defective:
        """The one that breaks."""
        return Defective()


@pytest.fixture(params=["inline", "processes", "several in flight"])
def executor(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[InlineExecutor | ProcessExecutor]:
    monkeypatch.setattr(evaluator, "SECONDS_BEFORE_RETRY", 0.0)
    config = DefectiveConfig(cache_dir=tmp_path)
    made: InlineExecutor | ProcessExecutor
    if request.param == "inline":
        made = InlineExecutor(config)
    else:
        made = ProcessExecutor(config, workers=1, in_flight=1 if request.param == "processes" else 4)
    yield made
    made.close()


def asked(*kinds: str) -> list[Question]:
    return [
        question(n, "one", text=f"Which colour is number {n}, {kind}?", options=("red", "pink"), answer=0)
        for n, kind in enumerate(kinds)
    ]


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"one": write_video(tmp_path_factory.mktemp("videos") / "one.mp4", [("red", 2.0)])}


def test_one_answer_that_meets_a_defect_is_lost_alone(
    executor: InlineExecutor | ProcessExecutor, videos: dict[str, Path]
) -> None:
    told: list[str] = []
    executor.on_note = told.append
    (found,) = (
        Evaluator(executor, videos).evaluate([initial_harness()], asked("good", "bad", "good")).values()
    )
    assert [outcome.status for outcome in found] == ["ok", APPARATUS, "ok"]
    message = found[1].answered.message
    assert message.startswith("OverflowError: int too large to convert to float (evoharness/")
    assert ", line " in message
    assert told
    assert set(told) == {f"an answer met a defect: {message}"}


def test_a_defect_that_every_answer_meets_ends_the_work(
    executor: InlineExecutor | ProcessExecutor, videos: dict[str, Path]
) -> None:
    with pytest.raises(TooManyFailed, match=r"4 of 5 questions came to nothing.*OverflowError") as error:
        Evaluator(executor, videos).evaluate([initial_harness()], asked("bad", "bad", "good", "bad", "bad"))
    assert "\n" not in str(error.value)


def test_an_item_whose_job_breaks_is_tried_again_and_then_lost(
    executor: InlineExecutor | ProcessExecutor,
) -> None:
    told: list[str] = []
    executor.on_note = told.append
    jobs.FAILED_ONCE.clear()
    assert dict(executor.map(jobs.fail_once, ["a"], on_lost=lambda _, error: str(error))) == {0: "a"}
    assert "SystemError: AST constructor recursion depth mismatch" in told[0]
    items = ["value", *(f"good {n}" for n in range(3))]
    results = dict(executor.map(jobs.fail, items, on_lost=lambda _, error: str(error)))
    assert results.pop(0).startswith("ValueError: no such thing as 'value' (")
    assert sorted(results.values()) == items[1:]
    with pytest.raises(TooManyFailed, match="3 of 3 items"):
        dict(executor.map(jobs.fail, ["value", "unpicklable", "value"], on_lost=lambda _, e: str(e)))
    assert dict(executor.map(jobs.square, [3])) == {0: 9}


class DownBench(Workbench):
    """A workbench whose provider answers nobody."""

    def make_backbone(self) -> Backbone:
        """The one that is down."""
        return Down()


class Down:
    """Answers nobody."""

    id = "down"

    def run(self, task: Task[Output]) -> Reply[Output]:  # noqa: ARG002
        """See `Backbone`."""
        raise BackboneUnavailable("503")


class DownConfig(ColourConfig):
    """Builds workbenches with it."""

    def build(self) -> Workbench:
        """See `WorkbenchConfig`."""
        return DownBench(self)


def test_ctrl_c_ends_the_wait_for_a_provider(tmp_path: Path, videos: dict[str, Path]) -> None:
    executor = ProcessExecutor(DownConfig(cache_dir=tmp_path, outage_s=60.0), workers=1, in_flight=4)
    told: list[str] = []

    def stop(said: str) -> None:
        told.append(said)
        os.kill(os.getpid(), signal.SIGINT)

    executor.on_note = stop
    began = time.monotonic()
    with pytest.raises(Interrupted):
        Evaluator(executor, videos).evaluate([initial_harness()], asked("a", "b", "c", "d"))
    assert time.monotonic() - began < 30
    assert told == ["503: waiting for it, for 60 s at most (executor.outage_s= sets how long)"]
    executor.close()


def test_threads_find_everything_imported(tmp_path: Path, videos: dict[str, Path]) -> None:
    executor = ProcessExecutor(ColourConfig(cache_dir=tmp_path), workers=1, in_flight=4)
    ((_, before),) = executor.map(jobs.modules, [0])
    (found,) = Evaluator(executor, videos).evaluate([initial_harness()], asked("good", "good")).values()
    ((_, after),) = executor.map(jobs.modules, [0])
    executor.close()
    assert [outcome.status for outcome in found] == ["ok", "ok"]
    assert set(after) - set(before) == set()
