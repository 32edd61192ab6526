"""Evidence is taken as it comes: text, dicts, results of calls, lists of them."""

from hypothesis import given
from hypothesis import strategies as st

from evoharness.records.interval import Interval
from evoharness.solver.evidence import gathered

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["text", "start", "end", "source", "events", "x"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


def test_results_of_calls_are_evidence_as_they_are() -> None:
    look = {
        "observations": [{"start": 1, "end": 2, "text": "a star"}, {"start": 2, "end": 3, "text": ""}],
        "candidates": [{"start": 1, "end": 2}],
        "frames": ["f0001"],
        "unread": 2,
    }
    pieces = gathered([look, "a note", {"text": "said"}, [{"start": 5, "end": 1, "text": "late"}], None, ""])
    assert [(piece.text, piece.interval) for piece in pieces] == [
        ("a star", Interval(start=1, end=2)),
        ("a note", None),
        ("said", None),
        ("late", Interval(start=5, end=5)),
    ]


def test_a_record_comes_with_what_lies_below_it_and_nothing_twice() -> None:
    record = {
        "id": "s0000",
        "start": 0,
        "end": 30,
        "text": "a summary",
        "events": [{"start": 1, "end": 2, "text": "it moves", "subject": "it"}],
    }
    pieces = gathered([record, record], source="records")
    assert [piece.text for piece in pieces] == ["a summary", "it moves"]
    assert {piece.source for piece in pieces} == {"records"}


@given(JSON)
def test_no_value_is_too_strange(value: object) -> None:
    pieces = gathered(value)
    assert all(piece.text.strip() for piece in pieces)
    assert len({(piece.text, repr(piece.interval)) for piece in pieces}) == len(pieces)
