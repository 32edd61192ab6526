"""The wrapper around every command: help, one line for a mistake, tracebacks for defects, sweeps."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evoharness.cli import Call, Command, run_command
from evoharness.cli.help import options_of_groups
from evoharness.cli.schema import keys
from evoharness.config import CONFIGS, EvolveConfig
from evoharness.errors import UserError

Run = Callable[..., int]
seen: list[Any] = []


def job(config: Any, call: Call) -> dict[str, float]:  # noqa: ARG001
    """Stands for the work of a command: keeps what it was given, and fails when told to."""
    seen.append(config)
    if config.harness.source == "mistake":
        raise UserError("the harness\nis a mistake")
    if config.harness.source == "defect":
        raise ZeroDivisionError("a defect")
    if config.seed == 13:
        raise UserError("13 is unlucky")
    return {"seed": config.seed, "half": config.seed / 2}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    seen.clear()
    return lambda *arguments: run_command(Command("evolve", "Tries things.", job), arguments)


def test_settings_arrive_typed(run: Run) -> None:
    assert run("preset=tiny", "gate=argmax", "gate.alpha=0.5", "seed=3", "harness.parameters.x=64") == 0
    (config,) = seen
    assert isinstance(config, EvolveConfig)
    assert (config.gate.name, config.gate.alpha, config.seed) == ("argmax", 0.5, 3)
    assert config.evolution.gate == config.gate
    assert config.harness.parameters == {"x": 64}


def test_a_preset_gives_way_to_the_command_line(run: Run) -> None:
    assert run("evolution.rounds=7", "preset=tiny") == 0
    assert seen[0].evolution.rounds == 7


def test_nothing_is_left_in_the_folder(run: Run, tmp_path: Path) -> None:
    run()
    run("--cfg", "job")
    run("nonsense=1")
    run("-m", "nonsense=1,2")
    run("-m", "gate=none,paired")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sede=3"], "there is no setting 'sede': did you mean seed?"),
        (["gate=nonsense"], "gate has no option 'nonsense': choose from argmax, margin, paired, sequential"),
        (["preset=nonsense"], "preset has no option 'nonsense'"),
        (["preset="], "preset has no option ''"),
        (["gate=null"], "one of its options"),
        (["hydra/launcher=nonsense"], "choose from basic"),
        (["evolution.rounds=many"], "evolution.rounds: "),
        (["gate.alfa=1"], "there is no setting 'gate.alfa': did you mean gate.alpha?"),
        (["gate.nonsense=1"], "there is no setting 'gate.nonsense': gate has name, alpha, "),
        (["backbone.timeout_s=1"], "there is no setting 'backbone.timeout_s': did you mean backbone.rates."),
        (["backbone.nonsense=1"], ", rates, "),
        (["budget.calls=1.5"], "budget.calls: '1.5' is not a whole number"),
        (["budget.usd=much"], "budget.usd: 'much' is not a number"),
        (["seed=1,2"], "-m"),
        (["seed=["], "cannot be read"),
        (["harness=mistake"], "the harness is a mistake"),
        (["--nonsense"], "unknown option --nonsense"),
    ],
)
def test_a_mistake_is_one_clear_line(
    run: Run, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("evolve: ")
    assert said in captured.err


def test_a_defect_keeps_its_traceback(run: Run) -> None:
    with pytest.raises(ZeroDivisionError):
        run("harness=defect")


def test_a_sweep_survives_its_jobs_and_ends_with_a_table(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("-m", "gate=paired,argmax", "seed=1,13", "name=a, b") == 2
    assert [(c.gate.name, c.seed, c.name) for c in seen] == [
        ("paired", 1, "a, b"),
        ("paired", 13, "a, b"),
        ("argmax", 1, "a, b"),
        ("argmax", 13, "a, b"),
    ]
    (sweep,) = (tmp_path / "runs" / "sweeps").iterdir()
    reports = [json.loads((sweep / f"{number}.json").read_text()) for number in range(4)]
    assert [report["status"] for report in reports] == ["done", "refused", "done", "refused"]
    table = capsys.readouterr().out.split("4 jobs in ")[1]
    assert "gate=paired seed=1 " in table
    assert "0.5" in table
    assert "job 1: 13 is unlucky" in table


def test_a_crashed_job_makes_the_sweep_end_with_1(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-m", "seed=1,2", "harness=defect") == 1
    assert capsys.readouterr().err.count("ZeroDivisionError: a defect") == 2


def test_a_sweep_that_cannot_be_written_is_a_mistake(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run("-m", "seed=1,2", "runs=file") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_help_names_every_setting(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(Command(name, "Does it.", job), ["--help"]) == 0
    shown = capsys.readouterr().out
    for key in keys(CONFIGS[name]):
        assert (key.alias or key.name) in shown


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_no_setting_has_the_name_of_a_group(name: str) -> None:
    """Hydra would take its value for the name of an option."""
    assert {key.name for key in keys(CONFIGS[name])}.isdisjoint(options_of_groups())
