"""With `gate=margin`: what becomes of several changes of a round that all pass, each alone."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from evoharness.evolution import Candidate, EvolutionSettings, GateSettings, Ground, ProposalContext
from evoharness.harness import Route, load_harness
from evoharness.records.evolution import (
    CandidateRecord,
    ChangeKind,
    Decision,
    Proposal,
    RoundStatus,
    Summary,
    Verdict,
)
from evoharness.runs import RunDirectory
from evoharness.runs.page import render_page
from tests.evolution.scripted import STRATEGY, Killed, ScriptedExecutor, ScriptedProposer, harness
from tests.evolution.test_run import SMALL, comparable, go, material

MARGIN = replace(SMALL, rounds=1, noise_floor=False, gate=GateSettings(name="margin"))
FASTER: dict[str, float] = {"detail_fps": 4.0}
"""Answers 20 % more."""
WIDER: dict[str, float] = {"replay_intervals": 4}
"""Answers 10 % more, with 1.1 times the frames."""


def margin(
    folder: Path,
    *changes: dict[str, float],
    settings: EvolutionSettings = MARGIN,
    executor: ScriptedExecutor | None = None,
) -> Summary:
    return go(folder, executor, settings, ScriptedProposer([*changes, {"search_results": 7}]))


def verdicts(folder: Path) -> dict[str, Verdict]:
    """By candidate, as they were filed."""
    found = (folder / "run" / "rounds" / "01" / "candidates").glob("*/verdict.json")
    return {path.parent.name: Verdict.model_validate_json(path.read_bytes()) for path in found}


def test_the_combination_is_a_candidate_of_its_own_that_was_measured(tmp_path: Path) -> None:
    summary = margin(tmp_path, WIDER, FASTER)
    (only,) = summary.rounds
    assert (only.status, only.retained) == (RoundStatus.RETAINED, "r1-combined")
    assert only.change == f"{FASTER}; {WIDER}", "the larger gain first"
    assert (only.candidates, only.finalists) == (3, 3), "it is not one of those that were proposed"
    kept = harness(**FASTER, **WIDER)
    assert summary.final == only.harness == kept.fingerprint
    judged = verdicts(tmp_path)
    assert judged.keys() == {"r1-1", "r1-2", "r1-3", "r1-combined"}
    whole = judged["r1-combined"]
    assert whole.decision is Decision.RETAINED
    assert whole.wins > max(judged["r1-1"].wins, judged["r1-2"].wins)
    measured = only.validation
    assert (measured.candidate, measured.wins, measured.losses) == (whole.candidate_reward, whole.wins, 0)
    assert measured.frames == {"incumbent": 100.0, "candidate": 110.0}
    assert judged["r1-1"].reason.endswith("; kept in r1-combined")
    folder = tmp_path / "run" / "rounds" / "01" / "candidates" / "r1-combined"
    assert load_harness(folder / "harness") == kept
    assert "+  detail_fps: 4.0" in (folder / "change.diff").read_text()
    record = CandidateRecord.model_validate_json((folder / "proposal.json").read_bytes())
    assert record.proposal.kind is ChangeKind.COMBINATION
    assert record.proposal.details == {"parts": ["r1-2", "r1-1"]}
    with RunDirectory.open(tmp_path / "run", write=False) as run:
        assert "r1-combined" in render_page(run, summary)
        events = [event["candidate"]["proposal"]["id"] for event in run.ledger.events("candidate")]
    assert events[-1] == "r1-combined"


def test_a_combination_that_breaks_is_turned_down_and_the_best_part_kept_alone(tmp_path: Path) -> None:
    summary = margin(tmp_path, {"replay_intervals": 5}, {"detail_fps": 5.0})
    (only,) = summary.rounds
    assert (only.status, only.retained) == (RoundStatus.RETAINED, "r1-2")
    assert summary.final == harness(detail_fps=5.0).fingerprint
    judged = verdicts(tmp_path)
    assert judged["r1-2"].decision is Decision.RETAINED
    assert only.validation.candidate == judged["r1-2"].candidate_reward
    assert judged["r1-1"].decision is Decision.REJECTED
    assert judged["r1-1"].reason.endswith(
        "r1-combined was turned down: its first question ended in sandbox:strategy_error: too much at once, "
        "and r1-2 is kept alone"
    )
    filed = tmp_path / "run" / "rounds" / "01" / "candidates" / "r1-combined"
    assert sorted(path.name for path in filed.iterdir()) == ["change.diff", "harness", "proposal.json"]
    assert "too much at once" in json.loads((filed / "proposal.json").read_text())["rejected"]


def test_a_combination_that_looks_too_much_is_not_kept(tmp_path: Path) -> None:
    summary = margin(tmp_path, {**FASTER, "overview_fps": 1.2}, {"replay_intervals": 5})
    assert summary.rounds[0].retained == "r1-1"
    whole = verdicts(tmp_path)["r1-combined"]
    assert whole.decision is Decision.REJECTED
    assert whole.frames_ratio == pytest.approx(1.4)
    assert verdicts(tmp_path)["r1-2"].reason.endswith("r1-combined did not pass, and r1-1 is kept alone")


def test_changes_that_collide_are_no_combination(tmp_path: Path) -> None:
    summary = margin(tmp_path, {"detail_fps": 3.0}, FASTER)
    assert summary.rounds[0].retained == "r1-2"
    assert verdicts(tmp_path)["r1-1"].reason.endswith(
        "what it changes, r1-2 changes too, and r1-2 is kept alone"
    )
    assert not (tmp_path / "run" / "rounds" / "01" / "candidates" / "r1-combined").exists()


@dataclass
class Contradicting:
    """One change leads to a strategy that the other one takes away."""

    def propose(self, context: ProposalContext) -> list[Candidate]:
        old = context.incumbent
        fields = {name: getattr(old, name) for name in type(old).model_fields}
        other = (Route(until_s=10.0, strategy="other"), Route(strategy="plain"))
        changed = [
            old.with_parameters(**FASTER).with_routes(other),
            type(old)(**{**fields, "strategies": {"plain": STRATEGY}}).with_parameters(**WIDER),
        ]
        return [
            Candidate(Proposal(kind=ChangeKind.STRATEGY, title="t", reason="r", proposer="script"), each)
            for each in changed
        ]


def test_changes_that_make_no_harness_together_end_no_run(tmp_path: Path) -> None:
    initial = harness().with_strategy("other", STRATEGY)
    summary = go(tmp_path, settings=MARGIN, proposer=Contradicting(), initial=initial)  # type: ignore[arg-type]
    assert summary.rounds[0].retained == "r1-1"
    said = verdicts(tmp_path)["r1-2"].reason
    assert "they make no harness together" in said
    assert "there is no strategy 'other'" in said


@pytest.mark.parametrize(
    ("changes", "kept", "grounds"),
    [
        ((WIDER, FASTER), "r1-combined", {}),
        (
            ({"replay_intervals": 5}, {"detail_fps": 5.0}),
            "r1-2",
            {"r1-1": ("gate", Ground.OUTRANKED), "r1-combined": ("verification", Ground.UNSOUND)},
        ),
        (
            ({**FASTER, "overview_fps": 1.2}, {"replay_intervals": 5}),
            "r1-1",
            {"r1-2": ("gate", Ground.OUTRANKED), "r1-combined": ("gate", Ground.LOOKS_TOO_MUCH)},
        ),
        (({"detail_fps": 3.0}, FASTER), "r1-2", {"r1-1": ("gate", Ground.OUTRANKED)}),
    ],
    ids=["kept", "turned down", "not let pass", "collide"],
)
def test_the_next_round_knows_what_became_of_the_parts_and_of_the_whole(
    tmp_path: Path,
    changes: tuple[dict[str, float], ...],
    kept: str,
    grounds: dict[str, tuple[str, Ground]],
) -> None:
    """A part that passed was not refused by the gate; a combination that failed is not to be made again."""
    proposer = ScriptedProposer([*changes, {"detail_fps": 1.0}])
    summary = go(tmp_path, settings=replace(MARGIN, rounds=2), proposer=proposer)
    assert summary.rounds[0].retained == kept
    worse = {"r1-3": ("gate", Ground.NOT_SHOWN)}
    rejections = proposer.seen[1].rejections
    assert {r.proposal.id: (r.stage, r.ground) for r in rejections} == grounds | worse
    filed = tmp_path / "run" / "rounds" / "01" / "candidates"
    assert all(load_harness(filed / r.proposal.id / "harness").fingerprint == r.harness for r in rejections)


@pytest.mark.parametrize(
    ("changes", "kept", "last"),
    [
        ((WIDER, FASTER), "r1-combined", (1, 2, 12, 30, 31)),
        (({"replay_intervals": 5}, {"detail_fps": 5.0}), "r1-2", (1,)),
    ],
    ids=["kept", "turned down"],
)
def test_a_run_killed_while_it_combines_ends_the_same(
    tmp_path: Path, changes: tuple[dict[str, float], ...], kept: str, last: tuple[int, ...]
) -> None:
    """The last answers are its own: one to verify it, then, when it works, 30 for validation."""

    def run(name: str, executor: ScriptedExecutor) -> Summary:
        settings = replace(MARGIN, evolution_questions=10, validation_questions=30)
        on = replace(material(6, 10), sealed_questions=())
        return go(tmp_path / name, executor, settings, ScriptedProposer(changes), on=on)

    whole = ScriptedExecutor()
    expected = run("whole", whole)
    assert expected.rounds[0].retained == kept
    for left in last:
        name = f"killed {left} before the end"
        with pytest.raises(Killed):
            run(name, ScriptedExecutor(dies_after=whole.asked - left))
        rest = ScriptedExecutor()
        assert comparable(run(name, rest)) == comparable(expected)
        assert rest.asked == left


def test_a_combination_that_was_half_filed_is_filed_anew(tmp_path: Path) -> None:
    expected = margin(tmp_path, WIDER, FASTER)
    run = tmp_path / "run"
    filed = run / "rounds" / "01" / "candidates" / "r1-combined"
    for path in ("summary.json", "rounds/01/summary.json", "rounds/01/gate.json"):
        (run / path).unlink()
    (filed / "harness" / "harness.yaml").unlink()
    again = ScriptedExecutor()
    assert comparable(margin(tmp_path, WIDER, FASTER, executor=again)) == comparable(expected)
    assert again.asked == 0
    assert load_harness(filed / "harness").fingerprint == expected.final
