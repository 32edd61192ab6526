"""Caps hold for everything that a run has in flight, in all its threads and processes."""

import pickle
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoharness.errors import UserError
from evoharness.models.budget import Budget, BudgetExceeded, BudgetUnusable, Caps, PriceUnknown, Reservation
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
        for number in range(2)
        for line in log.with_suffix(f".{number}").read_text().splitlines()
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
