"""Making and finding the run of a command."""

import sys
from pathlib import Path

import pytest

from evoharness.cli import Call
from evoharness.cli.resume import resumed
from evoharness.cli.runs import facts_of, run_at, summary_of
from evoharness.config import EvaluateConfig, EvolveConfig
from evoharness.errors import UserError
from evoharness.runs import RunDirectory, RunFacts


def test_a_sandbox_that_cannot_be_had_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(UserError, match=r"sandbox\.backend=process cannot be used here: cannot start"):
        facts_of(EvaluateConfig(cache=str(tmp_path / "cache")), "evaluate")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run of evolve, and a later one of evaluate."""
    for name, made_by in (("20200101-000000-a", "evolve"), ("20200102-000000-b", "evaluate")):
        facts = RunFacts.gather(0, made_by=made_by)
        RunDirectory.create(tmp_path, name, "seed: 1\n", facts, stamped=False).close()
    return tmp_path


def go_on(runs: Path, run: str) -> tuple[EvolveConfig, RunDirectory]:
    config = EvolveConfig(resume=run, runs=str(runs))
    return resumed(config, Call(overrides=(f"resume={run}",), config_text="{}"), ())


def test_the_latest_run_is_the_latest_of_evolve(runs: Path) -> None:
    assert run_at("latest", str(runs)).path.name == "20200101-000000-a"
    config, run = go_on(runs, "latest")
    with run:
        assert (run.path.name, config.seed) == ("20200101-000000-a", 1)


def test_a_run_of_another_command_is_refused(runs: Path) -> None:
    with pytest.raises(UserError, match="no run of evolve but of evaluate"):
        summary_of(run_at("20200102-000000-b", str(runs)))
    with pytest.raises(UserError, match="no run of evolve but of evaluate"):
        go_on(runs, "20200102-000000-b")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [("config.yaml", "", "empty"), ("config.yaml", "a: [1", "config.yaml"), ("run.json", "{", "run.json")],
)
def test_a_damaged_run_is_a_mistake_that_can_be_named(runs: Path, file: str, content: str, said: str) -> None:
    run = runs / "20200101-000000-a"
    (run / file).write_text(content)
    with pytest.raises(UserError, match=said):
        go_on(runs, run.name)
    RunDirectory.open(run).close()


def test_a_damaged_summary_is_named(runs: Path) -> None:
    (runs / "20200101-000000-a" / "summary.json").write_text('{"status": "fini')
    with pytest.raises(UserError, match=r"summary\.json is damaged"):
        summary_of(run_at("latest", str(runs)))
