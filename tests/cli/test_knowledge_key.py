"""`knowledge=FILE`: told early when it does not do, and kept with the run that uses it."""

from pathlib import Path

import pytest

from evoharness.cli.inputs import keep_knowledge
from evoharness.cli.parts import workbench_config
from evoharness.cli.schema import keys
from evoharness.config import CONFIGS, AskConfig, MemorizeConfig
from evoharness.errors import UserError
from evoharness.knowledge import load_passages
from evoharness.runs import RunDirectory, RunFacts


@pytest.fixture
def background(tmp_path: Path) -> Path:
    path = tmp_path / "my, background=1.jsonl"
    path.write_text('{"text": "A trocar lets the camera in."}\n', encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["ask", "evaluate", "evolve"])
def test_the_commands_that_answer_take_it_literally(command: str) -> None:
    assert [key.text for key in keys(CONFIGS[command]) if key.name == "knowledge"] == [True]


def test_workers_get_the_file_by_its_full_path(
    tmp_path: Path, background: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cache = str(tmp_path / "cache")
    assert workbench_config(AskConfig(cache=cache, knowledge=background.name)).knowledge == background
    assert workbench_config(AskConfig(cache=cache)).knowledge is None
    assert workbench_config(MemorizeConfig(cache=cache)).knowledge is None


def test_a_file_that_does_not_do_is_told_before_any_work(tmp_path: Path, background: Path) -> None:
    background.write_text('{"text": ""}\n', encoding="utf-8")
    for path, says in ((background, "line 1: the field `text`"), (tmp_path / "none", "no file of knowledge")):
        with pytest.raises(UserError, match=says):
            workbench_config(AskConfig(cache=str(tmp_path), knowledge=str(path)))


def test_a_run_goes_on_with_the_passages_it_began_with(tmp_path: Path, background: Path) -> None:
    passages = load_passages(background)
    with RunDirectory.create(tmp_path / "runs", "mine", "", RunFacts.gather(0)) as run:
        assert keep_knowledge(run, None) is None
        kept = keep_knowledge(run, str(background))
        background.unlink()
        assert keep_knowledge(run, str(background)) == kept
        assert kept is not None
        assert load_passages(Path(kept)) == passages
