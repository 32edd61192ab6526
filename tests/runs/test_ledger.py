"""The ledger keeps every event, whatever happens to the process that writes it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.records.interval import Interval
from evoharness.runs import DamagedRun, Ledger

NUMBERS = st.dictionaries(
    st.text(min_size=1).filter(lambda name: name not in {"at", "event", "self"}),
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text(),
    max_size=4,
)


def test_events_come_back_in_order_with_their_numbers(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "events.jsonl")
    ledger.append("drawn", videos=["a", "b"])
    ledger.append("verdict", p=0.25, span=Interval(start=1, end=2))
    assert [event["event"] for event in ledger.events()] == ["drawn", "verdict"]
    (verdict,) = ledger.events("verdict")
    assert verdict["p"] == 0.25
    assert verdict["span"] == {"start": 1.0, "end": 2.0}


def test_no_event_before_the_first(tmp_path: Path) -> None:
    assert list(Ledger(tmp_path / "events.jsonl").events()) == []


def test_a_torn_last_line_is_ignored_and_the_next_event_starts_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    Ledger(path).append("first", n=1)
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole + whole[:cut])
        assert [event["event"] for event in Ledger(path).events()] == ["first"]
        reopened = Ledger(path)
        reopened.append("second", n=2)
        assert [event["event"] for event in reopened.events()] == ["first", "second"]


def test_damage_in_the_middle_is_not_hidden(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "a"}\n{"eve\n{"event": "b"}\n')
    with pytest.raises(DamagedRun, match=r"events\.jsonl is damaged .*line 2"):
        list(Ledger(path).events())


def test_not_a_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        Ledger(tmp_path / "events.jsonl").append("odd", value=float("nan"))


@given(numbers=NUMBERS)
def test_any_text_and_number_survives(
    tmp_path_factory: pytest.TempPathFactory, numbers: dict[str, object]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "events.jsonl"
    ledger = Ledger(path)
    ledger.append("event", **numbers)
    (event,) = ledger.events()
    assert {name: event[name] for name in numbers} == json.loads(json.dumps(numbers))
