"""Schemas that every strict mode takes, and times that go from a clip to its video and back."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evoharness.models.evolution_tasks import RevisePolicy
from evoharness.models.prompting import render
from evoharness.models.reasoning_tasks import AnswerQuestion, ChooseAction
from evoharness.models.task import Task
from evoharness.models.wire import Clock, Wire, WireSpan, parsed, schema_of
from evoharness.records.interval import Interval
from tests.models.examples import ANSWERS, EXAMPLES

KINDS = pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
STRICT = {
    "object": {"type", "properties", "required", "additionalProperties"},
    "array": {"type", "items"},
    "string": {"type", "enum"},
    "number": {"type"},
    "integer": {"type"},
    "boolean": {"type"},
}
"""Keywords that the strict modes of all providers have in common, by type."""


def nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every schema in a schema, with itself."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])


@KINDS
def test_schemas_are_within_every_strict_mode(kind: type[Task[Any]]) -> None:
    schema = render(EXAMPLES[kind]).schema
    Draft202012Validator.check_schema(dict(schema))
    assert schema["type"] == "object"
    for node in nodes(schema):
        assert set(node) <= STRICT[node["type"]]
        if node["type"] == "object":
            assert node["required"] == list(node["properties"])
            assert node["properties"]
            assert node["additionalProperties"] is False
        if "enum" in node:
            assert len(set(node["enum"])) == len(node["enum"]) > 0
            assert all(type(word) is str for word in node["enum"])


@KINDS
def test_the_examples_of_answers_fit_their_schemas(kind: type[Task[Any]]) -> None:
    Draft202012Validator(dict(render(EXAMPLES[kind]).schema)).validate(ANSWERS[kind])


def test_words_that_depend_on_the_task_are_the_only_ones_allowed() -> None:
    def allowed(kind: type[Task[Any]], *path: str) -> Any:
        node = render(EXAMPLES[kind]).schema["properties"]
        for name in path:
            node = node[name]
        return node["enum"]

    assert allowed(AnswerQuestion, "choice") == ["A", "B", "C"]
    assert allowed(ChooseAction, "action") == ["look", "STOP"]
    assert allowed(RevisePolicy, "kinds", "items", "properties", "distractors") == [
        "far",
        "same_segment",
        "neighbouring",
    ]


def test_the_thought_comes_before_what_follows_from_it() -> None:
    assert next(iter(render(EXAMPLES[AnswerQuestion]).schema["properties"])) == "reason"


def test_a_wire_model_with_something_that_may_be_missing_has_no_strict_schema() -> None:
    class Loose(Wire):
        word: Literal["a"] | None

    with pytest.raises(TypeError, match="no strict schema"):
        schema_of(Loose)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"start": 1}, "end: Field required"),
        ({"start": "soon", "end": 2}, "start: Input should be a valid number"),
        ({"start": float("nan"), "end": 2}, "start: Input should be a finite number"),
    ],
)
def test_what_does_not_fit_is_named(answer: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parsed(WireSpan, answer)


SPANS = st.tuples(st.integers(0, 7200), st.integers(1, 1800)).map(
    lambda pair: Interval(start=float(pair[0]), end=float(pair[0] + pair[1]))
)


@settings(deadline=None)
@given(SPANS, st.floats(0, 1), st.floats(0, 1))
def test_times_of_a_clip_go_to_the_video_and_back(span: Interval, one: float, other: float) -> None:
    start, end = sorted((one * span.duration, other * span.duration))
    there = Clock(span, [start, end]).interval(WireSpan(start=start, end=end))
    assert there.start - span.start == pytest.approx(start, abs=1e-5)
    assert there.end - span.start == pytest.approx(end, abs=1e-5)
    assert span.start <= there.start <= there.end <= span.end


@settings(deadline=None)
@given(SPANS, st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_no_time_leaves_its_clip(span: Interval, start: float, end: float) -> None:
    there = Clock(span, [start, end]).interval(WireSpan(start=start, end=end))
    assert span.start <= there.start <= there.end <= span.end


def test_a_model_that_counted_from_the_start_of_the_video_is_understood() -> None:
    span = Interval(start=300.0, end=360.0)
    clock = Clock(span, [300.0, 312.5, 360.2])
    assert clock.interval(WireSpan(start=312.5, end=360.2)) == Interval(start=312.5, end=360.0)


@pytest.mark.parametrize(
    "times",
    [
        [10.0, 312.5],  # one of them fits the clip: nobody counted from the start of the video
        [312.5, 400.0],  # behind the end of the clip either way
        [],
    ],
)
def test_single_times_are_never_guessed_at(times: list[float]) -> None:
    clock = Clock(Interval(start=300.0, end=360.0), times)
    assert clock.raw(10.0) == 310.0


def test_at_the_start_of_a_video_both_ways_of_counting_are_one() -> None:
    assert Clock(Interval(start=0.0, end=60.0), [70.0]).at(70.0) == 60.0
