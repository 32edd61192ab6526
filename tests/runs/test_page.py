"""The page of a run shows its numbers, holds everything itself and trusts no text."""

from pathlib import Path

from evoharness.records.evolution import (
    BeforeAfter,
    ChangeKind,
    Decision,
    Proposal,
    QuestionCounts,
    RoundStatus,
    RoundSummary,
    RunStatus,
    SealedNumbers,
    Summary,
    ValidationNumbers,
    Verdict,
)
from evoharness.records.spend import Spend
from evoharness.runs import RunDirectory, RunFacts
from evoharness.runs.page import render_page

PROPOSAL = Proposal(
    id="r1-02",
    kind=ChangeKind.PARAMETERS,
    title="detail_padding_s 5 → 12",
    reason="events lie <script>alert(1)</script> outside",
    proposer="search",
)
VERDICT = Verdict(
    candidate="r1-02",
    decision=Decision.RETAINED,
    reason="p = 0.0107 is at most 0.025",
    p_value=0.0107,
    threshold=0.025,
    wins=11,
    losses=2,
    pairs=180,
    dropped=0,
    delta=0.05,
    incumbent=0.5,
    candidate_reward=0.55,
    frames_ratio=1.1,
)


def summary(rounds: tuple[RoundSummary, ...], test: SealedNumbers | None = None) -> Summary:
    return Summary(
        status=RunStatus.FINISHED,
        seed=3,
        gate="paired",
        initial="a" * 64,
        final="b" * 64,
        rounds=rounds,
        test=test,
        calls=1234,
        cost_usd=None,
        seconds=200,
        spend=Spend(calls=1234, input_tokens=2_000_000, cost_usd=None),
    )


def round_summary(number: int, incumbent: float | None) -> RoundSummary:
    return RoundSummary(
        round=number,
        status=RoundStatus.RETAINED,
        videos=9,
        questions=QuestionCounts(generated=300, retained=260, evolution=80, validation=180),
        candidates=13,
        finalists=2,
        retained="r1-02",
        change=PROPOSAL.title,
        harness="b" * 64,
        validation=ValidationNumbers(incumbent=incumbent, candidate=0.55, p_value=0.0107, initial=incumbent),
    )


def make_run(folder: Path) -> RunDirectory:
    run = RunDirectory.create(folder, "quick", "seed: 3\n", RunFacts.gather(seed=3))
    run.save("rounds/01/candidates/r1-02/proposal.json", PROPOSAL)
    run.save("rounds/01/candidates/r1-02/verdict.json", VERDICT)
    run.save("rounds/01/candidates/r1-02/change.diff", "-detail_padding_s: 5\n+detail_padding_s: 12\n")
    return run


def test_the_numbers_of_rounds_verdicts_and_test_are_there(tmp_path: Path) -> None:
    test = SealedNumbers(
        questions=150,
        initial=0.52,
        final=0.613,
        p_value=0.0042,
        wins=20,
        losses=6,
        frames=BeforeAfter(initial=180, final=190),
        tokens=BeforeAfter(initial=50_000, final=52_000),
    )
    page = render_page(make_run(tmp_path), summary((round_summary(1, 0.5), round_summary(2, 0.55)), test))
    for shown in ("52.0 % → 61.3 %", "0.0042", "20 / 6 of 150", "180.0 → 190.0", "r1-02", "cost unknown"):
        assert shown in page
    assert "p = 0.0107 is at most 0.025" in page
    assert "+detail_padding_s: 12" in page
    assert page.count("<polyline") == 3


def test_what_was_paid_is_told_by_role(tmp_path: Path) -> None:
    paid = {
        "describer": Spend(calls=40, input_tokens=123_456, frames=900, cost_usd=0.42),
        "solver": Spend(calls=1000, input_tokens=50_000, output_tokens=700, cost_usd=None),
    }
    update = {"paid": paid, "cached": Spend(calls=77)}
    page = render_page(make_run(tmp_path), summary((round_summary(1, 0.5),)).model_copy(update=update))
    for shown in ("What was paid", "123,456", "$0.42", "<td>unknown</td>", "<td>1,040</td>", "77 calls were"):
        assert shown in page
    assert "What was paid" not in render_page(make_run(tmp_path), summary((round_summary(1, 0.5),)))


def test_texts_of_a_run_cannot_become_markup(tmp_path: Path) -> None:
    page = render_page(make_run(tmp_path), summary((round_summary(1, 0.5),)))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_nothing_is_loaded_from_elsewhere(tmp_path: Path) -> None:
    page = render_page(make_run(tmp_path), summary((round_summary(1, 0.5),)))
    for reference in ("http:", "https:", "src=", "@import", "url("):
        assert reference not in page


def test_a_run_in_which_nothing_was_measured_has_a_page_too(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "quick", "", RunFacts.gather(seed=3))
    empty = RoundSummary(round=1, status=RoundStatus.NO_QUESTIONS, videos=1, harness="a" * 64)
    assert "no_questions" in render_page(run, summary((empty,)))
    assert "Rounds" in render_page(run, summary(()))
