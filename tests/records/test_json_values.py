"""JSON values: what type they are of, when they are the same, and which are let in."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.records.json_values import VALUE_TYPES, fault, fits, one_line, same, shown, type_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)
ANYTHING = JSON | st.floats() | st.integers() | st.text() | st.binary() | st.lists(st.floats() | st.binary())


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ("", {"text"}),
        (0, {"number", "integer"}),
        (3.0, {"number", "integer"}),
        (3.5, {"number"}),
        (10**400, {"number", "integer"}),
        (True, {"boolean"}),
        ([], {"list"}),
        ({}, {"object"}),
        (None, set()),
    ],
)
def test_types(value: Any, kinds: set[str]) -> None:
    assert {kind for kind in VALUE_TYPES if fits(value, kind)} == kinds
    assert type_of(value) in (kinds or {"null"})


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        ([True], [1], False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}, True),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ({"a": None}, {}, False),
        (None, False, False),
        ("1", 1, False),
        (2**53 + 1, float(2**53), False),
        ([], {}, False),
    ],
)
def test_equality_is_that_of_json(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal


@given(JSON)
def test_a_value_is_the_same_after_its_way_through_json(value: Any) -> None:
    assert same(json.loads(json.dumps(value)), value)
    assert fault(value, deepest=40, largest=10**6) == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("inf"), "finite"),
        ([float("nan")], "finite"),
        ({"a": 2**63 + 1}, "64 bits"),
        ("\ud800", "Unicode"),
        ({"\ud800": 1}, "Unicode"),
        ({1: 1}, "keys"),
        (b"x", "bytes"),
        ([object()], "object"),
        ("x" * 70_000, "64 KB"),
    ],
)
def test_what_is_no_bounded_json_is_told(value: Any, said: str) -> None:
    assert said in fault(value)


def test_depth_is_counted_from_the_outside() -> None:
    value: Any = 1
    for _ in range(3):
        value = [value]
    assert fault(value, deepest=3) == ""
    assert "2 levels" in fault(value, deepest=2)


@given(ANYTHING, st.integers(1, 50))
def test_anything_can_be_shown_in_one_line(value: Any, longest: int) -> None:
    for text in (shown(value, longest), one_line(str(value), longest)):
        assert len(text) <= longest
        assert len(text.splitlines()) <= 1
        text.encode()
