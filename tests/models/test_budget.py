"""Caps hold for everything that a run has in flight, in all its threads and processes."""

import pickle
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoharness.errors import UserError
from evoharness.models.budget import (
    Answers,
    Budget,
    BudgetExceeded,
    BudgetUnusable,
    Caps,
    PriceUnknown,
    Reservation,
    paying_for,
)
from evoharness.records.spend import Spend
from tests.models import sharing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.sqlite"


def a_call(tokens: int = 10, usd: float | None = 0.01) -> Spend:
    return Spend(calls=1, input_tokens=tokens // 2, output_tokens=tokens - tokens // 2, cost_usd=usd)


@pytest.mark.parametrize(
    ("caps", "named"),
    [
        (Caps(calls=3), "budget.calls=3 is used up: 3 used"),
        (Caps(tokens=35), "budget.tokens=35 is used up: 30 used, and the next call may take 10"),
        (Caps(usd=0.035), "budget.usd=0.035 is used up: 0.03 used, and the next call may take 0.01"),
    ],
)
def test_a_cap_is_reached_and_named(path: Path, caps: Caps, named: str) -> None:
    budget = Budget(path, caps)
    for _ in range(3):
        budget.settle(budget.reserve(a_call()), a_call())
    with pytest.raises(BudgetExceeded, match=named):
        budget.reserve(a_call())
    assert budget.used() == a_call() + a_call() + a_call()


def test_what_is_in_flight_counts_as_used(path: Path) -> None:
    budget = Budget(path, Caps(calls=2), patience_s=0.0)
    for _ in range(2):
        budget.reserve(a_call())
    with pytest.raises(BudgetExceeded):
        budget.reserve(a_call())


def test_a_call_waits_for_room_that_one_in_flight_may_give_back(path: Path) -> None:
    budget = Budget(path, Caps(tokens=100))
    held = budget.reserve(a_call(90))
    got: list[Reservation] = []
    waiting = threading.Thread(target=lambda: got.append(budget.reserve(a_call(50))))
    waiting.start()
    time.sleep(0.2)
    assert not got
    budget.settle(held, a_call(40))
    waiting.join(5)
    assert len(got) == 1


def test_nothing_is_waited_for_when_what_is_used_is_enough_to_refuse(path: Path) -> None:
    budget = Budget(path, Caps(tokens=100))
    budget.settle(budget.reserve(a_call(80)), a_call(80))
    budget.reserve(a_call(10))
    began = time.monotonic()
    with pytest.raises(BudgetExceeded):
        budget.reserve(a_call(30))
    assert time.monotonic() - began < 1


def test_a_call_that_failed_gives_its_room_back(path: Path) -> None:
    budget = Budget(path, Caps(calls=1, usd=0.01))
    budget.refund(budget.reserve(a_call()))
    budget.settle(budget.reserve(a_call()), a_call())
    assert budget.used().calls == 1
    assert budget.in_flight() == 0


def test_a_cap_in_dollars_needs_a_price(path: Path) -> None:
    with pytest.raises(PriceUnknown, match="set its price, or leave") as caught:
        Budget(path, Caps(usd=5)).reserve(a_call(usd=None))
    assert isinstance(caught.value, UserError)


def test_without_a_cap_in_dollars_an_unknown_price_stays_unknown(path: Path) -> None:
    budget = Budget(path, Caps(calls=5))
    budget.settle(budget.reserve(a_call(usd=None)), a_call(usd=None))
    assert budget.used().cost_usd is None


def test_without_caps_everything_is_let_through_and_booked(path: Path) -> None:
    budget = Budget(path, Caps())
    for _ in range(3):
        budget.settle(budget.reserve(a_call()), a_call())
    budget.refund(budget.reserve(a_call()))
    assert budget.used().calls == 3


def test_going_on_with_a_run_goes_on_with_its_books(path: Path) -> None:
    first = Budget(path, Caps(calls=2))
    first.settle(first.reserve(a_call()), a_call())
    first.reserve(a_call())  # its process is killed now
    second = Budget(path, Caps(calls=2))
    second.begin()
    second.settle(second.reserve(a_call()), a_call())
    with pytest.raises(BudgetExceeded):
        second.reserve(a_call())
    third = Budget(path, Caps(calls=3))
    third.begin()
    third.settle(third.reserve(a_call()), a_call())


def test_what_the_run_has_booked_elsewhere_counts(path: Path) -> None:
    budget = Budget(path, Caps(calls=5))
    budget.begin(used=Spend(calls=5))
    with pytest.raises(BudgetExceeded):
        budget.reserve(a_call())


def test_a_killed_process_holds_nothing(path: Path) -> None:
    caps = Caps(calls=8)
    process = sharing.start(sharing.die_holding, path, caps, a_call(), 8)
    process.join(30)
    assert process.exitcode == 9
    budget = Budget(path, caps)
    assert budget.in_flight() == 8
    for _ in range(8):
        budget.settle(budget.reserve(a_call()), a_call())
    assert budget.used().calls == 8


@pytest.mark.parametrize("caps", [Caps(usd=0.9), Caps(calls=400), Caps(tokens=9_000), Caps(usd=1, calls=300)])
def test_no_cap_is_passed_by_two_processes_with_32_threads_each(path: Path, caps: Caps) -> None:
    log = path.with_name("log")
    assert sharing.together(sharing.use_up, 2, path, caps, log, 32) == [0, 0]
    took = [
        Spend.model_validate_json(line)
        for file in path.parent.glob("log.*")  # one may be too late to get anything
        for line in file.read_text().splitlines()
    ]
    total = sum(took, Spend())
    assert total.calls <= (caps.calls or total.calls)
    assert total.tokens <= (caps.tokens or total.tokens)
    assert (total.cost_usd or 0.0) <= (caps.usd or float("inf")) + 1e-9
    full = (
        (caps.calls is not None and total.calls == caps.calls)
        or (caps.tokens is not None and total.tokens > caps.tokens - 100)
        or (caps.usd is not None and (total.cost_usd or 0.0) > caps.usd - 0.01)
    )
    assert full, "the room is used, not held back"
    books = Budget(path, caps)
    assert books.in_flight() == 0
    assert books.used().calls == total.calls
    assert books.used().tokens == total.tokens


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cap=st.integers(0, 60),
    calls=st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1), st.booleans()), max_size=12),
)
def test_settled_and_refunded_calls_leave_exactly_what_they_took(
    tmp_path_factory: pytest.TempPathFactory, cap: int, calls: list[tuple[int, float, bool]]
) -> None:
    budget = Budget(tmp_path_factory.mktemp("books") / "budget.sqlite", Caps(tokens=cap), patience_s=0.0)
    used = 0
    for most, share, fails in calls:
        try:
            reservation = budget.reserve(Spend(calls=1, input_tokens=most))
        except BudgetExceeded:
            assert used + most > cap
            continue
        assert used + most <= cap
        if fails:
            budget.refund(reservation)
        else:
            took = int(most * share)
            budget.settle(reservation, Spend(calls=1, input_tokens=took))
            used += took
    assert budget.used().tokens == used <= cap
    assert budget.in_flight() == 0
    budget.close()


def lost(budget: Budget, request: str = "what?", role: str = "solver") -> int:
    """A call whose reply is lost; its number."""
    with paying_for(role):
        return budget.lose(budget.sent(budget.reserve(a_call(90)), request), request)


@pytest.mark.parametrize("caps", [Caps(), Caps(tokens=1000)])
def test_a_lost_call_counts_at_the_most_until_it_is_answered(path: Path, caps: Caps) -> None:
    budget = Budget(path, caps)
    number = lost(budget)
    assert (budget.used(), budget.lost(), budget.used(lost=False)) == (a_call(90), a_call(90), Spend())
    assert (budget.used_by_role(), budget.used_by_role(lost=False)) == ({"solver": a_call(90)}, {})
    assert budget.in_flight() == 0
    again = budget.sent(budget.reserve(a_call(90)), "what?")
    with paying_for("judge"):
        budget.settle(again, a_call(30), Answers("what?", a_call(31), (number,)))
    assert (budget.used(), budget.lost()) == (a_call(30) + a_call(31), Spend())
    assert budget.used_by_role() == {"judge": a_call(30), "solver": a_call(31)}


def test_no_cap_is_passed_by_what_was_lost(path: Path) -> None:
    budget = Budget(path, Caps(tokens=200))
    number = lost(budget)
    lost(budget, "another?")
    with pytest.raises(BudgetExceeded, match="180 used, and the next call may take 30"):
        budget.reserve(a_call(30))
    budget.settle(budget.reserve(a_call(20)), a_call(20), Answers("what?", a_call(20), (number,)))
    budget.reserve(a_call(30))


def test_what_another_task_lost_is_its_own_until_it_has_ended(path: Path) -> None:
    budget, other = Budget(path, Caps()), Budget(path, Caps())
    number = lost(budget)
    other.settle(other.reserve(a_call()), a_call(), Answers("what?", a_call()))
    assert budget.lost() == a_call(90)
    budget.leave([number])
    other.settle(other.reserve(a_call()), a_call(), Answers("who?", a_call()))
    assert budget.lost() == a_call(90), "it was asked something else"
    other.settle(other.reserve(a_call()), a_call(), Answers("what?", a_call()))
    assert (budget.lost(), budget.used().calls, budget.used().tokens) == (Spend(), 4, 40)


@pytest.mark.parametrize("caps", [Caps(), Caps(tokens=1000)])
def test_what_a_killed_process_had_sent_is_lost_and_what_it_had_not_is_given_back(
    path: Path, caps: Caps
) -> None:
    process = sharing.start(sharing.die_asking, path, caps, a_call(), 3)
    process.join(30)
    assert process.exitcode == 9
    budget = Budget(path, caps)
    assert budget.in_flight() == (6 if caps else 3)
    assert budget.lost() == budget.used() == a_call() + a_call() + a_call()
    assert budget.in_flight() == 0
    budget.settle(budget.reserve(a_call(6)), a_call(6), Answers("1", a_call(6)))
    assert budget.lost() == a_call() + a_call()
    budget.begin(used=budget.used(lost=False))
    assert budget.used() == a_call() + a_call() + a_call(6) + a_call(6)
    budget.conclude()
    assert (budget.lost(), budget.used(lost=False)) == (Spend(), budget.used())
    budget.settle(budget.reserve(a_call(6)), a_call(6), Answers("2", a_call(6)))
    assert budget.used().calls == 5, "what is concluded is not corrected"


def test_a_lost_call_without_a_price_has_none_until_it_is_answered(path: Path) -> None:
    budget = Budget(path, Caps())
    number = budget.lose(budget.reserve(a_call(usd=None)), "what?")
    assert budget.used().cost_usd is None
    budget.settle(budget.reserve(a_call()), a_call(), Answers("what?", a_call(), (number,)))
    assert budget.used() == a_call() + a_call()


def test_books_of_before_are_gone_on_with(path: Path) -> None:
    with closing(sqlite3.connect(path)) as old, old:
        old.execute(
            "CREATE TABLE used (one INTEGER PRIMARY KEY, calls INTEGER NOT NULL, input_tokens INTEGER, "
            "output_tokens INTEGER, frames INTEGER, usd REAL, unpriced INTEGER)"
        )
        old.execute("INSERT INTO used VALUES (1, 2, 30, 4, 0, 0.5, 0)")
        old.execute("CREATE TABLE reservations (id INTEGER PRIMARY KEY, owner TEXT NOT NULL)")
    budget = Budget(path, Caps(calls=3))
    budget.begin()
    lost(budget)
    assert budget.used().calls == 3
    with pytest.raises(BudgetExceeded):
        budget.reserve(a_call())


def test_books_that_cannot_be_kept_are_named_in_one_line(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(BudgetUnusable, match=r"budget\.sqlite: file is not a database") as caught:
        Budget(path, Caps(calls=1)).reserve(a_call())
    assert "\n" not in str(caught.value)


def test_a_refusal_crosses_between_processes_whole() -> None:
    refused = BudgetExceeded("usd", 5, 4.99, 0.02).costing(a_call())
    back = pickle.loads(pickle.dumps(refused))
    assert (str(back), back.cap, back.limit, back.spend) == (str(refused), "usd", 5, a_call())


@pytest.mark.parametrize("bad", [{"usd": -1}, {"calls": -1}, {"tokens": -1}, {"usd": float("nan")}])
def test_a_cap_is_a_number_from_zero_up(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        Caps(**bad)
