"""A harness of a run as a folder, or one line that says why not."""

from pathlib import Path

import pytest

from evoharness.cli import run_command
from evoharness.export import COMMAND
from evoharness.harness import HarnessStore, initial_harness, load_harness
from evoharness.runs import RunDirectory, RunFacts


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with RunDirectory.create(tmp_path, "mine", "", RunFacts.gather(0, made_by="evolve")) as made:
        HarnessStore(made.harnesses).put(initial_harness())
        return made.path


def export(run: Path, out: Path) -> int:
    return run_command(COMMAND, [f"run={run}", f"out={out}", f"harness={initial_harness().fingerprint[:9]}"])


def test_the_folder_loads_as_the_harness(run: Path, tmp_path: Path) -> None:
    assert export(run, tmp_path / "out") == 0
    assert load_harness(tmp_path / "out") == initial_harness()


@pytest.mark.parametrize("place", ["file", "file/out", "n" * 300, f"{'n' * 300}/out"])
def test_a_place_that_cannot_be_written_is_one_line_and_exit_2(
    run: Path, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert export(run, tmp_path / place) == 2
    said = capsys.readouterr().err
    assert said.startswith("export: ")
    assert len(said.splitlines()) == 1
    assert place in said
