"""The manifest of a tool: every mistake is told with its place and with what would be right."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.records.json_values import VALUE_TYPES
from evoharness.records.question import QuestionKind
from evoharness.records.tool import EXPECTATIONS, ManifestError, ToolManifest, ToolTest, read_manifest

GOOD: dict[str, Any] = {
    "signature": {"start": "number: seconds", "kind": "text"},
    "purpose": "count things",
    "kinds": ["counting"],
    "tests": [
        {"arguments": {"start": 0, "kind": "person"}, "at_least": 0},
        {"arguments": {"start": 1.5}, "type": "integer"},
    ],
}


def problems(**fields: Any) -> tuple[str, ...]:
    content = {name: value for name, value in {**GOOD, **fields}.items() if value is not ...}
    with pytest.raises(ManifestError) as caught:
        read_manifest(json.dumps(content))
    assert str(caught.value) == caught.value.problems[0]
    return caught.value.problems


def with_test(**test: Any) -> list[Any]:
    return [GOOD["tests"][0], test]


def test_a_manifest_says_what_a_tool_takes_and_what_its_tests_expect() -> None:
    manifest = read_manifest(json.dumps(GOOD))
    assert manifest.types == {"start": "number", "kind": "text"}
    assert manifest.head == "def tool(memory, start, kind)"
    assert manifest.kinds == (QuestionKind.COUNTING,)
    assert [test.expects for test in manifest.tests] == [("at_least", 0), ("type", "integer")]


@pytest.mark.parametrize(
    "test", [{"equals": None}, {"equals": [1, {"a": "b"}]}, {"non_empty": True}, {"at_least": -1.5}]
)
def test_written_as_it_was_given(test: dict[str, Any]) -> None:
    manifest = read_manifest(json.dumps({**GOOD, "tests": with_test(**test)}))
    assert manifest.tests[1].expects == next(iter(test.items()))
    assert json.loads(manifest.model_dump_json())["tests"][1] == test
    assert read_manifest(manifest.model_dump_json()) == manifest


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"arguments": {}}, "arguments: is no field here (fields are: signature, purpose, kinds, tests)"),
        ({"purpose": ...}, "purpose: is missing"),
        ({"purpose": ""}, "purpose: "),
        ({"purpose": "two\nlines"}, "purpose: needs one line"),
        ({"purpose": 3}, "purpose: expected a text"),
        ({"kinds": []}, "kinds: needs at least one"),
        ({"kinds": ["count"]}, "'counting', 'entities_attributes'"),
        ({"kinds": ["counting", "counting"]}, "kinds: names a kind twice"),
        ({"signature": ["start"]}, "signature: expected an object"),
        ({"signature": {"start": "float"}}, "begin with one of text, number, integer, boolean, list, object"),
        ({"signature": {"from": "number"}}, "signature: 'from' is no name for an argument"),
        ({"signature": {"memory": "number"}}, "signature: 'memory' is no name for an argument"),
        ({"signature": {f"a{i}": "number" for i in range(9)}}, "at most 8 items"),
        ({"signature": {**GOOD["signature"], "end": "number"}}, "no test uses the argument end"),
        ({"tests": []}, "tests: needs at least one"),
        ({"tests": [GOOD["tests"][0]] * 11}, "at most 10 items"),
        ({"tests": {}}, "tests: expected a list"),
        (
            {"tests": with_test()},
            "test 2: expects nothing: give exactly one of equals, at_least, non_empty, type",
        ),
        ({"tests": with_test(equals=1, type="text")}, "test 2: expects equals and type: give exactly one"),
        ({"tests": with_test(is_=1)}, "(fields are: arguments, equals, at_least, non_empty, type)"),
        (
            {"tests": with_test(type="float")},
            "test 2, type: is one of text, number, integer, boolean, list, ",
        ),
        ({"tests": with_test(type=None)}, "test 2, type: is one of"),
        ({"tests": with_test(type=["text"])}, "test 2, type: is one of"),
        ({"tests": with_test(at_least="3")}, 'test 2, at_least: needs a number, such as 0, and not "3"'),
        ({"tests": with_test(at_least=True)}, "test 2, at_least: needs a number"),
        ({"tests": with_test(at_least=None)}, "test 2, at_least: needs a number"),
        ({"tests": with_test(non_empty=False)}, "test 2, non_empty: can only be true"),
        ({"tests": with_test(non_empty=1)}, "test 2, non_empty: can only be true"),
        ({"tests": with_test(equals="x" * 5000)}, "test 2, equals: not a small JSON value"),
        ({"tests": with_test(equals=1, arguments=[1])}, "test 2, arguments: expected an object"),
        (
            {"tests": with_test(equals=1, arguments={"end": 1})},
            "test 2, arguments: there is no argument 'end'",
        ),
        (
            {"tests": with_test(equals=1, arguments={"start": True})},
            "start is of the type number, and not boolean",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_way_out(fields: dict[str, Any], said: str) -> None:
    (found,) = problems(**fields)
    assert said in found


def test_all_mistakes_are_told() -> None:
    found = problems(purpose=..., kinds=["count"], tests=with_test(at_least="3"))
    assert [problem.partition(":")[0] for problem in found] == [
        "purpose",
        "kinds, item 1",
        "test 2, at_least",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2]",
        "null",
        "[" * 30_000,
        '{"a":' * 6000,
        "9" * 5000,
        "x" * 40_000,
        '{"purpose": NaN}',
        '{"purpose": 1e999}',
        '{"purpose": "a", "purpose": "b"}',
        '{"\\ud800": "\\ud800"}',
        json.dumps({**GOOD, "tests": [{"equals": 1}]}).replace("1}", "1e999}"),
    ],
)
def test_hostile_texts_are_one_error_in_a_line(text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read_manifest(text)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) <= 400
    str(caught.value).encode()


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_VALUES = st.recursive(
    _LEAVES | st.sampled_from(VALUE_TYPES) | st.sampled_from(list(QuestionKind)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_TESTS = st.dictionaries(st.sampled_from(["arguments", "more", *EXPECTATIONS]), _VALUES)
_MANIFESTS = st.fixed_dictionaries(
    {},
    optional={
        "signature": _VALUES | st.dictionaries(st.text(max_size=8), _VALUES, max_size=9),
        "purpose": _VALUES,
        "kinds": _VALUES | st.lists(st.sampled_from(list(QuestionKind))),
        "tests": _VALUES | st.lists(_TESTS, max_size=4),
        "other": _VALUES,
    },
)


@given(_MANIFESTS | _VALUES)
def test_any_json_is_a_sound_manifest_or_a_list_of_problems(content: Any) -> None:
    try:
        manifest = read_manifest(json.dumps(content))
    except ManifestError as error:
        told = error.problems
    else:
        assert manifest.tests
        assert not any(manifest.misfit(test.arguments) for test in manifest.tests)
        return
    assert told
    assert all(1 <= len(problem) <= 400 and problem.isprintable() for problem in told)


@given(st.text())
def test_any_text_too(text: str) -> None:
    with pytest.raises(ManifestError):
        read_manifest(text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"start": 1, "kind": "person"}, ""),
        ({}, ""),
        ({"START": 1}, "there is no argument 'START' (there is: start, kind)"),
        ({"start": "1"}, "start is of the type number, and not text"),
        ({"start": float("inf")}, "numbers are finite"),
        ({"kind": "x" * 70_000}, "larger than 64 KB"),
    ],
)
def test_a_call_is_checked_against_the_signature(arguments: dict[str, Any], said: str) -> None:
    assert read_manifest(json.dumps(GOOD)).misfit(arguments) == said


@given(st.dictionaries(st.sampled_from(["start", "kind", "\ud800"]) | st.text(), _VALUES))
def test_any_call_fits_or_is_told_why_not(arguments: dict[str, Any]) -> None:
    said = read_manifest(json.dumps(GOOD)).misfit(arguments)
    said.encode()
    if not said:
        json.dumps(arguments, allow_nan=False).encode()
        assert arguments.keys() <= {"start", "kind"}


def test_records_made_in_code_are_held_to_the_same() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        ToolTest()
    with pytest.raises(ValueError, match="no test uses"):
        ToolManifest(
            signature={"a": "text"}, purpose="p", kinds=(QuestionKind.COUNTING,), tests=(ToolTest(equals=1),)
        )
