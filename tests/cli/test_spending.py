"""Caps from a configuration, and how a run ends that has used them up."""

from pathlib import Path

import pytest

from evoharness.cli.spending import (
    all_used,
    budget_of,
    caps_of,
    check_responses,
    cut_short,
    paid_table,
    print_used,
)
from evoharness.config import AskConfig, BudgetSection, EvolveConfig
from evoharness.errors import UserError
from evoharness.evolution.workshop import enter_untold, used_in
from evoharness.models.budget import (
    BUDGET_FILE,
    Answers,
    Budget,
    BudgetExceeded,
    CannotPay,
    Caps,
    PriceUnknown,
    paying_for,
)
from evoharness.records.spend import Spend, Used, total
from evoharness.runs import RunDirectory, RunFacts


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "a run", "", RunFacts.gather(0), stamped=False)


def test_caps_are_those_of_the_configuration() -> None:
    assert caps_of(AskConfig()) == Caps()
    assert caps_of(AskConfig(budget=BudgetSection(usd=2.5, calls=10))) == Caps(usd=2.5, calls=10)


def test_what_is_no_cap_is_named() -> None:
    with pytest.raises(UserError, match=r"budget\.calls=-1: "):
        caps_of(AskConfig(budget=BudgetSection(calls=-1)))


def test_what_a_run_has_paid_before_counts(run: RunDirectory) -> None:
    paid = {"solver": Spend(calls=7, input_tokens=70)}
    run.ledger.append("stage", round=1, stage="answering", seconds=1, spend=paid["solver"], paid=paid)
    file = budget_of(EvolveConfig(budget=BudgetSection(calls=10)), run)
    budget = Budget(file, Caps(calls=10))
    assert budget.used().calls == 7
    with pytest.raises(BudgetExceeded):
        budget.reserve(Spend(calls=4))


def test_without_caps_a_run_has_no_books_of_its_own(run: RunDirectory) -> None:
    assert not budget_of(EvolveConfig(), run).exists()


def test_what_a_killed_stage_paid_is_told_when_the_run_goes_on(run: RunDirectory) -> None:
    paid = {"solver": Spend(calls=7, input_tokens=70)}
    run.ledger.append("stage", round=1, stage="answering", seconds=1, spend=paid["solver"], paid=paid)
    books = Budget(run.path / BUDGET_FILE, Caps())
    books.settle(books.reserve(Spend(calls=9)), Spend(calls=9, input_tokens=90))
    for _ in range(2):
        budget_of(EvolveConfig(), run)
        assert used_in(run.ledger).paid == {**paid, "not told": Spend(calls=2, input_tokens=20)}
    assert books.used().calls == 9


def test_the_books_tell_what_killed_workers_paid_for(run: RunDirectory) -> None:
    paid = {"judge": Spend(calls=1, input_tokens=10), "solver": Spend(calls=7, input_tokens=70)}
    run.ledger.append("stage", round=1, stage="answering", seconds=1, spend=Spend(), paid=paid)
    books = Budget(run.path / BUDGET_FILE, Caps())
    one = Spend(calls=1, input_tokens=10)
    for role, calls in {"judge": 1, "solver": 9, "video_expert": 2}.items():
        with paying_for(role):
            for _ in range(calls):
                books.settle(books.reserve(one), one)
    books.settle(books.reserve(one), one)
    assert books.used_by_role()["video_expert"] == Spend(calls=2, input_tokens=20)
    everything = all_used(Used(paid=paid), run).paid
    assert {role: spend.calls for role, spend in everything.items()} == {
        "judge": 1,
        "not told": 1,
        "solver": 9,
        "video_expert": 2,
    }
    for _ in range(2):
        enter_untold(run)
        assert used_in(run.ledger).paid == everything
    assert total(everything) == books.used()


def test_what_was_lost_is_told_when_nobody_can_answer_it_any_more(
    run: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    one, most = Spend(calls=1, input_tokens=10), Spend(calls=1, input_tokens=10, output_tokens=90)
    books = Budget(run.path / BUDGET_FILE, Caps())
    with paying_for("solver"):
        books.settle(books.reserve(one), one)
        books.leave([books.lose(books.reserve(most), request) for request in ("this", "that")])
    for _ in range(2):
        enter_untold(run)
        assert used_in(run.ledger) == Used(paid={"solver": one})
    assert all_used(used_in(run.ledger), run) == Used(paid={"solver": one + most + most}, lost=most + most)
    books.settle(books.reserve(one), one, Answers("this", one))  # by a role that nobody named
    for _ in range(2):
        enter_untold(run, finished=True)
        told = used_in(run.ledger)
        assert told.paid == {"not told": one, "solver": one + one + most}
        assert total(told.paid) == books.used()
        assert told.lost == most
    print_used(told)
    assert "1 of these calls lost its reply, and is booked with 100 tokens" in capsys.readouterr().out


def test_a_file_of_responses_that_cannot_be_read_is_told_before_any_work(tmp_path: Path) -> None:
    file = tmp_path / "responses.sqlite"
    check_responses(file, "on")
    assert not file.exists()
    file.write_bytes(b"no database" * 500)
    with pytest.raises(UserError, match=r"responses\.sqlite cannot be used .*: move it away, or .*cache=off"):
        check_responses(file, "read")
    check_responses(file, "off")


@pytest.mark.parametrize(
    ("error", "ends"),
    [
        (BudgetExceeded("calls", 100, 98, 4), "budget.calls=200"),
        (BudgetExceeded("tokens", 10, 0, 5000), "budget.tokens=5000"),
        (BudgetExceeded("usd", 0.5, 0.49, 0.02), "budget.usd=1.00"),
        (PriceUnknown("no price"), "budget.usd=null"),
        (CannotPay("the account is empty"), "/a-run"),
    ],
)
def test_the_way_to_go_on_is_said_in_one_line(run: RunDirectory, error: CannotPay, ends: str) -> None:
    said = str(cut_short(error, run))
    assert str(error) in said
    assert f"go on with: python -m evoharness.evolve resume={run.shown}" in said
    assert said.endswith(ends)
    assert "\n" not in said


def test_the_table_tells_an_unknown_price_from_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    paid_table({"judge": Spend(calls=2, cost_usd=None), "solver": Spend(calls=1000, cost_usd=0.0)}).print()
    out = capsys.readouterr().out
    assert "unknown" in out
    assert "$0.00" in out
    assert "1,000" in out
    assert "all" in out
