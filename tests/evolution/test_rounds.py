"""What a round does with what a killed process and earlier rounds left behind."""

from dataclasses import replace
from pathlib import Path

import pytest

from evoharness.evolution import GateSettings, Ground, rounds
from evoharness.harness import Harness, load_harness, save_harness
from evoharness.runs import RunDirectory
from tests.evolution.scripted import Killed, ScriptedProposer
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


def test_what_was_outranked_or_not_shown_may_come_again_and_what_gained_nothing_may_not(
    tmp_path: Path,
) -> None:
    """Gains too small for the gate; the incumbent stays, so that round 2 proposes the same harnesses."""
    changes: list[dict[str, float]] = [
        {"detail_fps": 3.8},
        {"detail_fps": 3.6},
        {"detail_fps": 3.8},
        {"search_results": 7},
        {"detail_fps": 5.0, "overview_fps": 2.0},
        {"detail_fps": 2.0},
    ]
    proposer = ScriptedProposer(changes)
    settings = replace(SMALL, candidates=6, finalists=1, race=[20], gate=GateSettings(alpha=0.001))
    summary = go(tmp_path, settings=settings, proposer=proposer)
    assert summary.rounds[0].harness == summary.initial
    grounds = {r.proposal.id: r.ground for r in proposer.seen[1].rejections}
    assert grounds == {
        "r1-1": Ground.NOT_SHOWN,
        "r1-2": Ground.OUTRANKED,
        "r1-3": Ground.REPEATED,
        "r1-4": Ground.NO_GAIN,
        "r1-5": Ground.LOOKS_TOO_MUCH,
        "r1-6": Ground.UNSOUND,
    }
    with RunDirectory.open(tmp_path / "run", write=False) as run:
        again = [e["candidate"]["rejected"] for e in run.ledger.events("candidate") if e["round"] == 2]
    assert again == [
        "",
        "",
        "the same as r2-1",
        "tried before: no gain: 0 won, 0 lost",
        "tried before: uses 2.00 times the frames of the initial harness, more than 1.25",
        "it changes nothing",
    ]
