"""When the budget ends, the work ends well: what is in flight is waited for, what was answered is kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.evaluation import Evaluator, InlineExecutor, OutcomesInMemory, ProcessExecutor, remembered
from evoharness.harness import initial_harness
from evoharness.models.budget import Budget, BudgetExceeded, Caps, PriceUnknown
from evoharness.records.question import Question
from evoharness.records.spend import total
from tests.evaluation.jobs import spend_or_wait
from tests.evolution.colour_world import ColourConfig, write_video
from tests.evolution.scripted import question


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("videos")
    return {
        "one": write_video(folder / "one.mp4", [("grey", 4.0), ("red", 2.0)]),
        "two": write_video(folder / "two.mp4", [("blue", 4.0), ("grey", 2.0)]),
    }


def questions(count: int) -> list[Question]:
    options = ("red", "blue", "pink")
    return [
        question(n, ("one", "two")[n % 2], text=f"Which colour is number {n}?", options=options, answer=0)
        for n in range(count)
    ]


@pytest.fixture(params=["inline", "processes", "several in flight"])
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InlineExecutor | ProcessExecutor]:
    config = ColourConfig(
        cache_dir=tmp_path / "cache", budget=Caps(calls=13), budget_file=tmp_path / "budget.sqlite"
    )
    made: InlineExecutor | ProcessExecutor
    if request.param == "inline":
        made = InlineExecutor(config)
    else:
        made = ProcessExecutor(config, workers=2, in_flight=1 if request.param == "processes" else 4)
    yield made
    made.close()


def test_what_was_answered_within_the_budget_is_kept(
    executor: InlineExecutor | ProcessExecutor, videos: dict[str, Path], tmp_path: Path
) -> None:
    store = OutcomesInMemory()
    initial = initial_harness()
    others = [initial.with_parameters(overview_fps=fps) for fps in (2.0, 3.0)]
    with pytest.raises(BudgetExceeded, match=r"budget\.calls=13 is used up"):
        Evaluator(executor, videos, store).evaluate([initial, *others], questions(6))
    kept = [
        outcome
        for harness in (initial, *others)
        for q in questions(6)
        if (outcome := store.get(harness.fingerprint, q.public().id)) is not None
    ]
    books = Budget(tmp_path / "budget.sqlite", Caps(calls=13))
    assert total(executor.used.paid) == books.used()
    assert books.used().calls == 13
    assert books.in_flight() == 0
    assert all(outcome.status == "ok" for outcome in kept)
    # an answer takes two calls; a worker in the middle of one may have lost the first
    assert 2 * len(kept) >= 13 - (1 if isinstance(executor, InlineExecutor) else 8)


def test_going_on_with_more_asks_only_what_is_missing(videos: dict[str, Path], tmp_path: Path) -> None:
    store = OutcomesInMemory()
    initial = initial_harness()
    asked = questions(6)

    def go(calls: int) -> int:
        config = ColourConfig(cache_dir=tmp_path, budget=Caps(calls=calls), budget_file=tmp_path / "budget")
        executor = InlineExecutor(config)
        try:
            Evaluator(executor, videos, store).evaluate([initial], asked)
        except BudgetExceeded:
            pass
        finally:
            executor.close()
        return total(executor.used.paid).calls

    assert go(4) == 4
    assert go(100) == 8
    assert go(100) == 0


def test_jobs_in_flight_are_waited_for(tmp_path: Path) -> None:
    executor = ProcessExecutor(ColourConfig(cache_dir=tmp_path), workers=2)
    done: list[int] = []
    with pytest.raises(BudgetExceeded):
        done.extend(index for index, _ in executor.map(spend_or_wait, ["wait", "spend", *["wait"] * 4]))
    assert done[:1] == [0], "the one in flight came back"
    assert len(done) <= 2, "none was begun after it"
    assert dict(executor.map(spend_or_wait, ["wait"])) == {0: "wait"}, "the executor can be used again"
    executor.close()


def test_a_video_is_not_left_out_because_nothing_can_be_paid(videos: dict[str, Path], tmp_path: Path) -> None:
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path, budget=Caps(calls=0)))
    with pytest.raises(BudgetExceeded):
        list(remembered(executor, videos))
    executor.close()


def test_a_cap_in_dollars_refuses_a_model_without_a_price(videos: dict[str, Path], tmp_path: Path) -> None:
    config = ColourConfig(cache_dir=tmp_path, backbone="of another package", budget=Caps(usd=1))
    executor = InlineExecutor(config)
    with pytest.raises(PriceUnknown):
        Evaluator(executor, videos).evaluate([initial_harness()], questions(1))
    executor.close()
