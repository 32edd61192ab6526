"""A run directory is made once, by one process, and found again."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.records.interval import Interval
from evoharness.runs import DamagedRun, RunDirectory, RunFacts, find_run, safe_name


@pytest.fixture(scope="module")
def facts() -> RunFacts:
    return RunFacts.gather(seed=7, backbones=("embedded",), sandbox="process")


def test_a_run_says_what_it_was_made_with(tmp_path: Path, facts: RunFacts) -> None:
    with RunDirectory.create(tmp_path / "runs", "quick", "seed: 7\n", facts) as run:
        assert run.path.parent == tmp_path / "runs"
        assert run.path.name.endswith("-quick")
        assert (run.path / "config.yaml").read_text() == "seed: 7\n"
        written = json.loads((run.path / "run.json").read_text())
    assert written["seed"] == 7
    assert written["backbones"] == ["embedded"]
    assert "pydantic" in written["packages"]
    assert written["python"] == sys.version.split()[0]


def test_two_runs_of_one_second_do_not_share_a_folder(tmp_path: Path, facts: RunFacts) -> None:
    runs = [RunDirectory.create(tmp_path, "same", "", facts) for _ in range(4)]
    assert len({run.path for run in runs}) == 4


def test_a_folder_without_a_time_is_not_taken_twice(tmp_path: Path, facts: RunFacts) -> None:
    RunDirectory.create(tmp_path, "0", "", facts, stamped=False)
    with pytest.raises(UserError, match="cannot make a run"):
        RunDirectory.create(tmp_path, "0", "", facts, stamped=False)


def test_a_place_that_cannot_be_written_is_a_mistake_of_the_user(tmp_path: Path, facts: RunFacts) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file"):
        RunDirectory.create(tmp_path / "file" / "runs", "quick", "", facts)


@pytest.mark.parametrize("name", ["a b", "a/b", "../x", "é=ü", "", ".", "~", "x" * 300, "quick"])
def test_any_name_becomes_one_folder(tmp_path: Path, facts: RunFacts, name: str) -> None:
    run = RunDirectory.create(tmp_path, name, "", facts)
    assert run.path.parent == tmp_path
    assert "/" not in safe_name(name)


def test_what_is_saved_comes_back(tmp_path: Path, facts: RunFacts) -> None:
    run = RunDirectory.create(tmp_path, "quick", "", facts)
    assert run.load("a/b.json", Interval) is None
    assert run.load_lines("a/b.jsonl", Interval) is None
    run.save("a/b.json", Interval(start=1, end=2))
    run.save("a/b.jsonl", [Interval(start=1, end=2), Interval(start=3, end=4)])
    run.save("a/c.json", {"spans": (Interval(start=1, end=2),), "n": None})
    assert run.load("a/b.json", Interval) == Interval(start=1, end=2)
    assert run.load_lines("a/b.jsonl", Interval) == [Interval(start=1, end=2), Interval(start=3, end=4)]
    assert run.load_json("a/c.json") == {"spans": [{"start": 1.0, "end": 2.0}], "n": None}
    assert run.round_path(3) == run.path / "rounds" / "03"
    run.save(run.round_path(1) / "x.json", Interval(start=0, end=1))
    assert run.load("rounds/01/x.json", Interval) == Interval(start=0, end=1)


def test_a_run_in_a_relative_folder_is_the_same(
    tmp_path: Path, facts: RunFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunDirectory.create(Path("runs"), "quick", "", facts)
    run.save(run.round_path(1) / "x.json", Interval(start=0, end=1))
    assert run.shown == f"runs/{run.path.name}"
    reopened = RunDirectory.open(Path(run.shown), write=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert reopened.load("rounds/01/x.json", Interval) == Interval(start=0, end=1)
    assert reopened.shown == str(tmp_path / "runs" / run.path.name)


def test_a_damaged_file_is_named(tmp_path: Path, facts: RunFacts) -> None:
    run = RunDirectory.create(tmp_path, "quick", "", facts)
    (run.path / "bad.json").write_text("{")
    (run.path / "bad.jsonl").write_text('{"start": 1, "end": 2}\n{"start": 1}\n')
    (run.path / "folder.json").mkdir()
    with pytest.raises(DamagedRun, match=r"bad\.json is damaged"):
        run.load("bad.json", Interval)
    with pytest.raises(DamagedRun, match=r"bad\.json is damaged"):
        run.load_json("bad.json")
    with pytest.raises(DamagedRun, match=r"bad\.jsonl is damaged .*: line 2: end: Field required$"):
        run.load_lines("bad.jsonl", Interval)
    with pytest.raises(DamagedRun, match=r"folder\.json"):
        run.load("folder.json", Interval)
    with pytest.raises(DamagedRun, match=r"bad\.json/x\.json cannot be written"):
        run.save("bad.json/x.json", {})
    (run.path / "run.json").write_text("")
    with pytest.raises(DamagedRun, match=r"run\.json is damaged"):
        _ = RunDirectory.open(run.path, write=False).facts


def test_nothing_is_written_outside_the_run(tmp_path: Path, facts: RunFacts) -> None:
    run = RunDirectory.create(tmp_path, "quick", "", facts)
    with pytest.raises(ValueError, match="outside"):
        run.save("../x.json", {})


def test_one_process_at_a_time_writes_to_a_run(tmp_path: Path, facts: RunFacts) -> None:
    run = RunDirectory.create(tmp_path, "quick", "", facts)
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from evoharness.errors import UserError
        from evoharness.runs import DamagedRun, RunDirectory
        RunDirectory.open(Path(sys.argv[1]), write=False)
        try:
            RunDirectory.open(Path(sys.argv[1]))
        except UserError as error:
            print(error)
        """
    )
    command = [sys.executable, "-c", script, str(run.path)]
    assert "another process" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    run.close()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_only_runs_are_opened(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no run"):
        RunDirectory.open(tmp_path)


def test_runs_are_found_by_path_by_name_and_as_the_latest(tmp_path: Path, facts: RunFacts) -> None:
    with pytest.raises(UserError, match="no run"):
        find_run("latest", tmp_path)
    first = RunDirectory.create(tmp_path, "20200101-000000-a", "", facts, stamped=False).path
    second = RunDirectory.create(tmp_path, "20200102-000000-b", "", facts, stamped=False).path
    assert find_run("latest", tmp_path) == second
    evolved = facts.model_copy(update={"made_by": "evolve"})
    with pytest.raises(UserError, match="no run of evolve"):
        find_run("latest", tmp_path, "evolve")
    third = RunDirectory.create(tmp_path, "20200101-120000-c", "", evolved, stamped=False).path
    assert find_run("latest", tmp_path, "evolve") == third
    assert find_run("latest", tmp_path) == second
    assert find_run(first.name, tmp_path) == first
    assert find_run(str(first), tmp_path / "elsewhere") == first
    with pytest.raises(UserError, match="no-such-user"):
        find_run("~no-such-user/x", tmp_path)
    with pytest.raises(UserError, match="nowhere"):
        find_run("nowhere", tmp_path)
