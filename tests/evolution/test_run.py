"""The whole loop on scripted harnesses: what it decides, how it ends, and that it ends so after any kill."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.evolution import EvolutionSettings, GateSettings, evolve
from evoharness.harness import Harness, load_harness
from evoharness.records.evolution import RoundStatus, RunStatus, Summary
from evoharness.records.question import Question
from evoharness.runs import RunDirectory, RunFacts, SilentProgress
from tests.evolution.scripted import (
    Killed,
    Material,
    ScriptedExecutor,
    ScriptedProposer,
    harness,
    question,
    questions,
)

FACTS = RunFacts.gather(0)
BETTER = {"detail_fps": 4.0}
"""Answers 20 % more of the questions."""
CHANGES: list[dict[str, float]] = [
    {"detail_fps": 2.5},
    BETTER,
    {"search_results": 7},
    {"detail_fps": 1.0},
    {"overview_fps": 2.0},
]
SETTINGS = EvolutionSettings(
    rounds=2,
    videos_per_round=12,
    evolution_questions=60,
    validation_questions=160,
    candidates=5,
    finalists=2,
    race=[20, 40, 60],
)


def material(videos: int = 12, each: int = 20) -> Material:
    sealed = [question(n, "sealed", text=f"What comes as number {n}?") for n in range(80)]
    return Material(
        videos={f"v{n}": Path(f"v{n}.mp4") for n in range(videos)},
        questions=questions(videos, each),
        sealed_videos={"sealed": Path("sealed.mp4")},
        sealed_questions=sealed,
    )


def go(
    folder: Path,
    executor: ScriptedExecutor | None = None,
    settings: EvolutionSettings = SETTINGS,
    proposer: ScriptedProposer | None = None,
    initial: Harness | None = None,
    on: Material | None = None,
) -> Summary:
    """Run, or go on with the run in that folder."""
    if (folder / "run").exists():
        run = RunDirectory.open(folder / "run")
    else:
        run = RunDirectory.create(folder, "run", "", FACTS, stamped=False)
    with run:
        return evolve(
            settings,
            on or material(),
            initial or harness(),
            executor or ScriptedExecutor(),
            run,
            SilentProgress(),
            proposer=proposer or ScriptedProposer(CHANGES),
        )


def test_what_helps_is_kept_and_found_again_on_the_sealed_test(tmp_path: Path) -> None:
    summary = go(tmp_path)
    first = summary.rounds[0]
    assert summary.status is RunStatus.FINISHED
    assert first.status is RoundStatus.RETAINED
    assert first.retained == "r1-2", "the change that helps most"
    assert first.validation.p_value is not None
    assert first.validation.p_value <= 0.05 / 2 / first.finalists
    assert (
        load_harness(tmp_path / "run" / "harnesses" / summary.rounds[0].harness).parameters.detail_fps == 4.0
    )
    assert summary.test is not None
    assert summary.test.final > summary.test.initial
    assert summary.test.frames.final == summary.test.frames.initial
    assert summary.test.questions == 80


def test_summary_json_has_the_promised_shape(tmp_path: Path) -> None:
    go(tmp_path)
    found = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert {"status", "seed", "rounds", "test", "calls", "cost_usd", "seconds"} <= found.keys()
    one = found["rounds"][0]
    assert {"videos", "questions", "quality", "candidates", "retained", "validation"} <= one.keys()
    assert {"generated", "retained", "evolution", "validation"} <= one["questions"].keys()
    assert {"J", "blind", "oracle", "coverage", "difficulty", "removed"} <= one["quality"].keys()
    assert {"incumbent", "candidate", "p_value"} <= one["validation"].keys()
    assert {"questions", "initial", "final", "p_value", "frames"} <= found["test"].keys()
    assert found["test"]["frames"].keys() == {"initial", "final"}
    assert found["calls"] > 0


def test_every_decision_is_in_the_ledger_and_in_the_folder_of_its_candidate(tmp_path: Path) -> None:
    go(tmp_path)
    run = RunDirectory.open(tmp_path / "run", write=False)
    events = {event["event"] for event in run.ledger.events()}
    assert {"draw", "questions", "diagnosis", "candidate", "screening", "gate", "round", "finished"} <= events
    folder = run.round_path(1) / "candidates" / "r1-2"
    assert {path.name for path in folder.iterdir()} == {
        "proposal.json",
        "change.diff",
        "harness",
        "verdict.json",
    }
    assert "+  detail_fps: 4.0" in (folder / "change.diff").read_text()


def test_proposers_see_evolution_questions_and_past_rejections_only(tmp_path: Path) -> None:
    proposer = ScriptedProposer(CHANGES)
    go(tmp_path, proposer=proposer)
    run = RunDirectory.open(tmp_path / "run", write=False)
    for number, context in enumerate(proposer.seen, start=1):
        folder = f"rounds/{number:02d}/questions"
        evolution = run.load_lines(f"{folder}/evolution.jsonl", Question)
        validation = run.load_lines(f"{folder}/validation.jsonl", Question)
        assert evolution is not None
        assert validation is not None
        assert list(context.questions) == evolution
        assert {q.video for q in evolution}.isdisjoint(q.video for q in validation)
        assert context.videos.keys() == {q.video for q in evolution}
    assert proposer.seen[0].rejections == []
    rejected = {rejection.proposal.id: rejection for rejection in proposer.seen[1].rejections}
    assert rejected.keys() == {"r1-1", "r1-3", "r1-4", "r1-5"}
    assert rejected["r1-5"].reason == "uses 2.00 times the frames of the initial harness, more than 1.25"


def test_a_useless_change_is_not_kept(tmp_path: Path) -> None:
    summary = go(tmp_path, proposer=ScriptedProposer([{"search_results": 7}, {"memory_rounds": 2}]))
    assert [each.status for each in summary.rounds] == [RoundStatus.NO_FINALISTS, RoundStatus.NO_CANDIDATES]
    assert summary.final == summary.initial
    assert summary.test is not None
    assert summary.test.p_value == 1.0


def test_a_change_that_was_tried_before_is_not_tried_again(tmp_path: Path) -> None:
    go(tmp_path, proposer=ScriptedProposer([{"search_results": 7}]))
    run = RunDirectory.open(tmp_path / "run", write=False)
    (event,) = (e for e in run.ledger.events("candidate") if e["round"] == 2)
    assert event["candidate"]["rejected"] == "tried before: no gain: 0 won, 0 lost"


@pytest.mark.parametrize("gate", ["sequential", "argmax", "margin"])
def test_the_other_gates_keep_what_helps_too(tmp_path: Path, gate: str) -> None:
    settings = EvolutionSettings(**{**vars(SETTINGS), "rounds": 1, "gate": GateSettings(name=gate)})
    summary = go(tmp_path, settings=settings, proposer=ScriptedProposer([{"detail_fps": 2.5}, BETTER]))
    assert summary.rounds[0].status is RoundStatus.RETAINED
    kept = load_harness(tmp_path / "run" / "harnesses" / summary.final)
    assert kept.parameters.detail_fps == 4.0


def test_observation_can_be_freed(tmp_path: Path) -> None:
    both = {"overview_fps": 2.0, "detail_fps": 5.0}
    free = EvolutionSettings(
        **{**vars(SETTINGS), "rounds": 1, "gate": GateSettings(observation="free", observation_ratio=1.25)}
    )
    assert (
        go(tmp_path / "free", settings=free, proposer=ScriptedProposer([both])).rounds[0].retained == "r1-1"
    )
    equal = EvolutionSettings(**{**vars(SETTINGS), "rounds": 1})
    kept = go(tmp_path / "equal", settings=equal, proposer=ScriptedProposer([both]))
    assert kept.rounds[0].status is RoundStatus.NO_FINALISTS


def test_no_questions(tmp_path: Path) -> None:
    nothing = Material(videos={"v0": Path("v0.mp4")}, questions=[])
    summary = go(tmp_path, on=nothing)
    assert summary.status is RunStatus.NO_QUESTIONS
    assert summary.message
    assert summary.test is None


@pytest.mark.parametrize(("videos", "each"), [(1, 20), (4, 2)], ids=["one video", "few questions"])
def test_underpowered_says_how_many_would_do(tmp_path: Path, videos: int, each: int) -> None:
    executor = ScriptedExecutor()
    on = Material(videos={f"v{n}": Path("v.mp4") for n in range(videos)}, questions=questions(videos, each))
    summary = go(tmp_path, executor=executor, on=on)
    assert summary.status is RunStatus.UNDERPOWERED
    assert "to show a gain of 5% needs about" in summary.message
    assert "videos" in summary.message
    assert all(each.retained is None for each in summary.rounds)


def test_a_run_that_is_finished_is_read_back(tmp_path: Path) -> None:
    first = go(tmp_path)
    executor = ScriptedExecutor()
    assert go(tmp_path, executor) == first
    assert executor.asked == 0


def test_a_run_goes_on_with_the_harness_it_began_with(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        go(tmp_path, ScriptedExecutor(dies_after=30))
    summary = go(tmp_path, initial=harness(overview_fps=2.0))
    assert summary.initial == harness().fingerprint


def comparable(summary: Summary) -> object:
    return summary.model_dump(exclude={"seconds"})


SMALL = EvolutionSettings(
    rounds=2,
    videos_per_round=6,
    evolution_questions=20,
    validation_questions=60,
    candidates=4,
    finalists=2,
    race=[10, 20],
)


def test_a_run_killed_anywhere_ends_the_same_and_pays_no_kept_answer_twice(tmp_path: Path) -> None:
    whole = ScriptedExecutor()
    expected = go(tmp_path / "whole", whole, SMALL)
    for dies_after in range(1, whole.asked, 61):
        folder = tmp_path / f"killed-{dies_after}"
        with pytest.raises(Killed):
            go(folder, ScriptedExecutor(dies_after=dies_after), SMALL)
        rest = ScriptedExecutor()
        resumed = go(folder, rest, SMALL)
        assert comparable(resumed) == comparable(expected) or _differs_in_calls_only(resumed, expected)
        assert dies_after + rest.asked <= whole.asked + 40, "only the diagnosis, kept as a whole, is repeated"


def _differs_in_calls_only(one: Summary, other: Summary) -> bool:
    """A diagnosis that was killed half-way is paid again, and said to be so."""
    paid = {"seconds", "calls", "spend", "paid", "cached"}
    return one.model_dump(exclude=paid) == other.model_dump(exclude=paid) and one.calls > other.calls


def test_a_run_killed_again_and_again_ends_the_same(tmp_path: Path) -> None:
    expected = go(tmp_path / "whole", settings=SMALL)
    folder = tmp_path / "killed"
    for _ in range(200):
        try:
            resumed = go(folder, ScriptedExecutor(dies_after=50), SMALL)
            break
        except Killed:
            continue
    assert resumed.model_dump(exclude={"seconds", "calls", "spend", "paid", "cached"}) == expected.model_dump(
        exclude={"seconds", "calls", "spend", "paid", "cached"}
    )


def test_the_sealed_test_shares_nothing_with_what_is_learned_from(tmp_path: Path) -> None:
    apart = material()
    with pytest.raises(UserError, match=r"v3\.mp4 is in the sealed test"):
        go(tmp_path / "video", on=replace(apart, sealed_videos={"sealed": Path("v3.mp4")}))
    shared = apart.sealed_questions[5]
    with pytest.raises(UserError, match=f"{shared.id} is in the sealed test"):
        go(tmp_path / "question", on=replace(apart, questions=[*(apart.questions or ()), shared]))
