"""What the benchmark over seeds makes of runs: a table, and a verdict."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import seeds
from benchmarks.seeds import SeedResult, evolve_command, main, run_seed, shortcomings, table
from evoharness.records.evolution import BeforeAfter, RunStatus, SealedNumbers, Summary
from evoharness.records.spend import Spend


def result(seed: int, initial: float, final: float, ratio: float = 1.0, questions: int = 301) -> SeedResult:
    test = SealedNumbers(
        questions=questions,
        initial=initial,
        final=final,
        p_value=0.04,
        wins=30,
        losses=10,
        frames=BeforeAfter(initial=200, final=200 * ratio),
        tokens=BeforeAfter(initial=40_000, final=50_000),
    )
    return SeedResult(seed, test, ("detail_fps 2 → 4", "–"), 5.5)


def test_the_table_has_a_line_for_each_seed_and_one_of_means() -> None:
    lines = table([result(1, 0.5, 0.6), result(2, 0.6, 0.64, 1.5)]).splitlines()
    assert len(lines) == 2 + 2 + 1
    assert len({line.count("|") for line in lines}) == 1
    assert "| 50.0% | 60.0% | +10.0 | 0.0400 | 200 → 200 | 1.00 | 40,000 → 50,000 |" in lines[2]
    assert lines[3].endswith("| detail_fps 2 → 4; – | 5.5 |")
    assert "| mean | 301 | 55.0% | 62.0% | +7.0 |" in lines[4]
    assert "| 1.25 |" in lines[4]


def test_a_gain_of_five_points_on_average_is_enough() -> None:
    assert shortcomings([result(1, 0.50, 0.58), result(2, 0.60, 0.63, 1.4)]) == []


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([result(1, 0.50, 0.54), result(2, 0.60, 0.65)], "mean gain"),
        ([result(1, 0.50, 0.70), result(2, 0.60, 0.57)], "seed 2 loses 3.0 points"),
        ([result(1, 0.50, 0.60, 1.2), result(2, 0.60, 0.70, 1.4)], "frames is 1.30"),
        ([result(1, 0.50, 0.60, questions=280)], "280 questions"),
    ],
)
def test_what_does_not_hold_is_named(results: list[SeedResult], said: str) -> None:
    (shortcoming,) = shortcomings(results)
    assert said in shortcoming


def test_arguments_are_seeds_and_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eleven"]) == 2
    assert "usage" in capsys.readouterr().err


def test_each_seed_has_a_cache_of_its_own_unless_one_is_given(tmp_path: Path) -> None:
    own = evolve_command(7, ["preset=tiny"], tmp_path, tmp_path / "cache-7")
    assert f"cache={tmp_path / 'cache-7'}" in own
    given = evolve_command(7, ["preset=tiny", "cache=mine"], tmp_path, tmp_path / "cache-7")
    assert [word for word in given if word.startswith("cache=")] == ["cache=mine"]


def test_what_evolve_refuses_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="seed 7: evolve ended with 2"):
        run_seed(7, ["preset=none"], tmp_path)


RUN = """
import pathlib, sys
runs, cache, summary, status = sys.argv[1:]
pathlib.Path(cache, "videos").mkdir(parents=True)
run = pathlib.Path(runs, "20260101-000000-seed-7")
run.mkdir()
if summary:
    (run / "summary.json").write_text(summary, encoding="utf-8")
sys.exit(int(status))
"""
"""Leaves behind what a run does: a cache, and a summary if it came so far."""


def ends(monkeypatch: pytest.MonkeyPatch, summary: str, status: int = 0) -> None:
    """Every run ends so."""

    def command(seed: int, settings: Sequence[str], runs: Path, cache: Path) -> list[str]:
        assert (seed, settings) == (7, ["preset=tiny"])
        return [sys.executable, "-c", RUN, str(runs), str(cache), summary, str(status)]

    monkeypatch.setattr(seeds, "evolve_command", command)


def summary_of(test: SealedNumbers | None) -> str:
    return Summary(
        status=RunStatus.FINISHED if test else RunStatus.NO_QUESTIONS,
        message="" if test else "the videos gave no usable questions",
        seed=7,
        gate="paired",
        initial="a",
        final="b",
        rounds=(),
        test=test,
        calls=0,
        cost_usd=0.0,
        seconds=1.0,
        spend=Spend(),
    ).model_dump_json()


@pytest.mark.parametrize("keep", [False, True])
def test_the_cache_of_a_seed_goes_when_it_is_done_unless_it_is_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    test = result(7, 0.5, 0.6).test
    ends(monkeypatch, summary_of(test))
    done = run_seed(7, ["preset=tiny"], tmp_path, keep)
    assert (done.seed, done.test, done.retained) == (7, test, ())
    assert (tmp_path / "cache-7" / "videos").exists() is keep


@pytest.mark.parametrize(
    ("summary", "status", "said"),
    [
        (summary_of(None), 0, r"seed 7: no sealed test \(no_questions: the videos gave no usable questions"),
        (summary_of(result(7, 0.5, 0.6).test), 1, "seed 7: evolve ended with 1"),
        ("", 0, "seed 7: evolve ended with 0"),
    ],
    ids=["no sealed test", "failed", "no summary"],
)
def test_the_cache_of_a_seed_that_failed_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, summary: str, status: int, said: str
) -> None:
    ends(monkeypatch, summary, status)
    with pytest.raises(RuntimeError, match=said):
        run_seed(7, ["preset=tiny"], tmp_path)
    assert (tmp_path / "cache-7" / "videos").exists()


@pytest.mark.verify
@pytest.mark.parametrize("keep", [False, True])
def test_the_cache_of_a_whole_run_goes_with_it_unless_it_is_to_be_kept(tmp_path: Path, keep: bool) -> None:
    done = run_seed(7, ["preset=tiny"], tmp_path, keep)
    assert done.seed == 7
    assert done.test.questions > 0
    assert (tmp_path / "cache-7").exists() is keep
