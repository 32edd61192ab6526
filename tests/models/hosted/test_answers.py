"""From what models write to the object that was asked for: repairs with one meaning, errors for the rest."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from evoharness.models.answers import AnswerError, parse

SCHEMA = {
    "type": "object",
    "properties": {
        "choice": {"type": "string", "enum": ["A", "B", "C", "none"]},
        "confidence": {"type": "number"},
        "seen": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["choice"],
    "additionalProperties": False,
}
ANYTHING: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
GOOD = {"choice": "B", "confidence": 0.5, "seen": ["a red ball", "a {brace}"]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        json.dumps(GOOD, indent=2),
        f"```json\n{json.dumps(GOOD)}\n```",
        f"```\n{json.dumps(GOOD)}```",
        f"Here is the answer:\n{json.dumps(GOOD)}\nI hope it helps {{really}}.",
        f'<think>perhaps {{"choice": "A"}}</think>\n{json.dumps(GOOD)}',
        f'First I thought {{"choice": "A"}}, but it is {json.dumps(GOOD)}',
        '{"choice": "B", "confidence": 0.5, "seen": ["a red ball", "a {brace}",],}',
        "{'choice': 'B', 'confidence': .5, 'seen': ['a red ball', 'a {brace}']}",
        '{choice: "B", confidence: 0.5, // nearly sure\n seen: ["a red ball", "a {brace}"]}',
        '{"choice": "b", "confidence": "0.5", "seen": ["a red ball", "a {brace}"]}',
        '{"choice": "(B).", "confidence": "0.5", "seen": ["a red ball", "a {brace}"]}',
        '{"choice": "B", "choice": "B", "confidence": 0.5, "seen": ["a red ball", "a {brace}"]}',
        '{"choice": "B", "confidence": 0.5, "seen": ["a red ball", "a {brace}"]',
        "\ufeff" + json.dumps(GOOD),
    ],
)
def test_what_has_one_meaning_is_understood(text: str) -> None:
    assert parse(text, SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("The segment shows a man with a ball.", "no JSON object"),
        ("I cannot help with that {sorry}.", "no"),
        ('{"choice": "D"}', '"D" is none of "A", "B"'),
        ('{"choice": "A", "choice": "B"}', "twice"),
        ('{"confidence": 0.4}', '"choice" missing'),
        ('{"choice": "A", "confidence": NaN}', "confidence: null is no number"),
        ('{"choice": "A", "confidence": 1e999}', "confidence"),
        ('{"choice": "A", "confidence": true}', "confidence: true is no number"),
        ('{"choice": "A", "seen": "a ball"}', "seen"),
        ('{"choice": "A", "seen": [["a"]]}', "seen[0]"),
        ('{"choice": "A', "ends before it is complete"),
        ('{"cho', "ends before it is complete"),
        ('["A"]', "no object"),
        ('"A"', "no object"),
        ("[" * 100_000, "no JSON object"),
        ('{"a":' * 100_000, "levels deep"),
        ("{" * 100_000, "key"),
        ('{"choice": ' + "9" * 10_000 + "}", "choice"),
        ('{"choice": "A", "confidence": ' + "9" * 400 + "}", "confidence"),
        ('{"choice": "A", "confidence": "' + "9" * 400 + '"}', "confidence"),
        ('{"choice": "A", "confidence": ' + "9" * 400 + ",}", "confidence"),
        ('{"choice": "A", "confidence": 18446744073709551616}', "confidence"),
        ('{"choice": "A", "more": ' + "9" * 400 + "}", "no number that can be used"),
        ('{"choice": "A", "more": [-1e999]}', "no number that can be used"),
        ('{"choice": "A", "more": ' + "[" * 960 + "]" * 960 + ', "s": "\\ud800"}', "levels deep"),
        ('{"choice": "A", "more": ' + "[" * 100 + "]" * 100 + "}", "levels deep"),
        ('{"choice": "A", "more": ' + "[" * 960 + "]" * 960 + ', "s": "\\ud800",}', "levels deep"),
        ('{"choice": "A"}' + " " * 3_000_000, "too long"),
    ],
)
def test_what_has_no_single_meaning_is_told_to_the_model(text: str, said: str) -> None:
    with pytest.raises(AnswerError) as error:
        parse(text, SCHEMA)
    assert said in str(error.value)
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


def test_a_whole_number_may_be_written_as_a_float_or_a_text() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert parse('{"n": 3.0}', schema) == {"n": 3}
    assert parse('{"n": "3"}', schema) == {"n": 3}
    with pytest.raises(AnswerError, match="whole number"):
        parse('{"n": 3.5}', schema)


def test_a_list_is_the_one_list_that_was_asked_for() -> None:
    schema = {
        "type": "object",
        "properties": {"groups": {"type": "array", "items": {"type": "object"}}},
        "required": ["groups"],
    }
    assert parse('[{"a": 1}]', schema) == {"groups": [{"a": 1}]}


def test_code_with_line_breaks_in_a_text_is_kept_to_the_letter() -> None:
    source = "def strategy(ctx, question):\n    return {'choice': 0}\n"
    written = '{"source": "' + source + '",}'
    schema = {"type": "object", "properties": {"source": {"type": "string"}}, "required": ["source"]}
    assert parse(written, schema) == {"source": source}


def test_half_a_letter_is_replaced() -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    assert parse('{"text": "\\ud83d\\ude00 \\ud83d"}', schema) == {"text": "😀 \ufffd"}
    assert parse('{"text": "\\ud83d\\ude00 \\ud83d",}', schema) == {"text": "😀 \ufffd"}


@pytest.mark.parametrize(
    "written", ["9" * 400, "1e30", "1e400", "18446744073709551616", "-9223372036854775809"]
)
def test_a_number_beyond_64_bits_is_no_answer(written: str) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    for text in (f'{{"n": {written}}}', f'{{"n": "{written}"}}', f'{{"n": {written},}}'):
        with pytest.raises(AnswerError, match=r"n: .* is no number"):
            parse(text, schema)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), VALUES, max_size=5)


@given(OBJECTS, st.booleans())
def test_valid_json_passes_unchanged(value: dict[str, Any], ascii_only: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only), ANYTHING) == value


@given(st.text() | st.text(alphabet="{}[]\",:\\ntrue1.-'/*# ").map(lambda text: "{" + text))
@example("{'\\")
@example('{"a": /*')
@example('{"a": -')
@settings(max_examples=400)
def test_nothing_but_an_answer_error_is_raised(text: str) -> None:
    for schema in (SCHEMA, ANYTHING):
        with suppress(AnswerError):
            assert isinstance(parse(text, schema), dict)


KINDS = ("integer", "number", "string", "boolean", "array", "object", "null")
HOSTILE = st.one_of(
    st.integers().map(str),
    st.integers(1, 9_000).map(lambda digits: "9" * digits),
    st.integers(1, 5_000).map(lambda power: f"-1e{power}"),
    st.integers(1, 1_200).map(lambda depth: "[" * depth + "]" * depth),
    st.integers(1, 1_200).map(lambda depth: '{"n":' * depth + "1" + "}" * depth),
    st.just('"\\ud800"'),
)


@given(st.lists(HOSTILE, min_size=1, max_size=3), st.sampled_from(KINDS), st.sampled_from(["", ","]))
def test_numbers_and_depths_without_bounds_raise_nothing_else(
    values: list[str], kind: str, comma: str
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": kind}, "m": {}}, "required": ["n"]}
    for first in (values[0], json.dumps(values[0])):
        text = f'{{"n": {first}, "m": [{", ".join(values)}]{comma}}}'
        with suppress(AnswerError):
            found = parse(text, schema)
            assert json.loads(json.dumps(found, allow_nan=False)) == found


@given(OBJECTS, st.data())
@settings(max_examples=400)
def test_a_truncated_object_gives_a_beginning_of_it_or_an_error(value: dict[str, Any], data: Any) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    assume(not cut.strip().endswith("}") or cut.count("{") != cut.count("}"))
    try:
        found = parse(cut, ANYTHING)
    except AnswerError:
        return
    assert _begins(found, value)


def _begins(part: Any, whole: Any) -> bool:
    """Whether `part` is `whole` with something missing at the end."""
    if isinstance(part, dict) and isinstance(whole, dict):
        names = list(whole)
        return list(part) == names[: len(part)] and all(_begins(part[name], whole[name]) for name in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(_begins, part, whole))
    return type(part) is type(whole) and bool(part == whole)
