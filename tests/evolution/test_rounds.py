"""What a round does with what earlier sittings and earlier rounds left behind."""

from pathlib import Path

import pytest

from evoharness.evolution import rounds
from evoharness.harness import Harness, load_harness, save_harness
from tests.evolution.scripted import Killed
from tests.evolution.test_run import SMALL, comparable, go


def test_a_run_killed_while_it_files_candidates_files_them_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = go(tmp_path / "whole", settings=SMALL)

    def killed_after(harness: Harness, folder: Path) -> None:
        save_harness(harness, folder)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(rounds, "save_harness", killed_after)
        with pytest.raises(Killed):
            go(tmp_path / "killed", settings=SMALL)
    left = tmp_path / "killed" / "run" / "rounds" / "01" / "candidates"
    assert [path.name for path in left.iterdir()] == ["r1-1"], "the first is filed, and no list of them all"
    (left / "r1-1" / ".harness.half").mkdir()
    assert comparable(go(tmp_path / "killed", settings=SMALL)) == comparable(expected)
    assert sorted(path.name for path in left.iterdir()) == ["candidates.json", "r1-1", "r1-2", "r1-3", "r1-4"]
    assert not (left / "r1-1" / ".harness.half").exists()
    assert load_harness(left / "r1-1" / "harness").parameters.detail_fps == 2.5
