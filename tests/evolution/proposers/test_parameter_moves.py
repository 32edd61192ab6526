"""A step up and a step down of everything that is declared, and nothing else."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.evolution.proposers.parameter_moves import parameter_moves, used_parameters
from evoharness.harness import Harness, Parameters, ParameterSpec, Route, initial_harness, parameter_specs
from evoharness.records.evolution import ChangeKind

INITIAL = initial_harness()


def values(spec: ParameterSpec) -> st.SearchStrategy[Any]:
    if spec.kind == "choice":
        return st.sampled_from(spec.choices)
    assert spec.low is not None
    assert spec.high is not None
    if spec.kind == "integer":
        return st.integers(int(spec.low), int(spec.high))
    return st.floats(spec.low, spec.high)


ANY_PARAMETERS = st.fixed_dictionaries({spec.name: values(spec) for spec in parameter_specs()})


@given(ANY_PARAMETERS)
@settings(max_examples=30, deadline=None)
def test_from_anywhere_every_step_is_allowed_and_touches_its_subject_only(parameters: dict[str, Any]) -> None:
    harness = INITIAL.with_parameters(**parameters)
    moves = [move for move in parameter_moves(harness) if move.subject != "routes"]
    assert {move.subject for move in moves} == set(Parameters.model_fields), "none is stuck"
    for move in moves:
        changed = move.apply(harness)
        assert changed is not None
        before, after = harness.parameters.model_dump(), changed.parameters.model_dump()
        assert {name for name in before if before[name] != after[name]} == {move.subject}
        assert changed.routes == harness.routes
        assert move.kind is ChangeKind.PARAMETERS


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("detail_fps", 2.0, [1.0, 4.0]),
        ("overview_fps", 4.0, [2.0]),
        ("overview_fps", 0.05, [0.1]),
        ("frame_cap", 300, [150, 512]),
        ("detail_intervals", 1, [0, 2]),
        ("detail_intervals", 0, [1]),
        ("memory_rounds", 0, [1]),
        ("detail_merge_gap_s", 0.0, [3.0]),
        ("search_results", 1, [2]),
        ("overview_detail", "small", ["normal"]),
    ],
)
def test_steps_halve_and_double_inside_the_bounds(name: str, old: Any, new: list[Any]) -> None:
    harness = INITIAL.with_parameters(**{name: old})
    steps = [move.apply(harness) for move in parameter_moves(harness) if move.subject == name]
    assert [getattr(step.parameters, name) for step in steps if step] == new
    titles = [move.title for move in parameter_moves(harness) if move.subject == name]
    assert titles == [f"{name} {old} → {value}" for value in new]


def test_a_step_that_is_taken_already_does_not_apply() -> None:
    up = next(move for move in parameter_moves(INITIAL) if move.title == "detail_fps 2.0 → 4.0")
    assert up.apply(INITIAL.with_parameters(detail_fps=4)) is None


def test_titles_are_unique() -> None:
    titles = [move.title for move in parameter_moves(INITIAL)]
    assert len(set(titles)) == len(titles)


def routes_after(harness: Harness) -> dict[str, list[tuple[float | None, str, bool]] | None]:
    found: dict[str, list[tuple[float | None, str, bool]] | None] = {}
    for move in parameter_moves(harness):
        if move.subject == "routes":
            changed = move.apply(harness)
            found[move.title] = None
            if changed is not None:
                found[move.title] = [(r.until_s, r.strategy, r.memory) for r in changed.routes]
    return found


def test_routes_end_sooner_or_later_or_give_way_to_the_next() -> None:
    found = routes_after(INITIAL)
    last = (None, "memory", True)
    assert found["overview up to 150 s, then chunked (was 300 s)"] == [
        (150, "overview", False),
        (1800, "chunked", False),
        last,
    ]
    assert found["overview up to 600 s, then chunked (was 300 s)"] is not None
    assert found["chunked instead of overview up to 300 s"] == [
        (300, "chunked", False),
        (1800, "chunked", False),
        last,
    ]
    assert found["memory instead of chunked up to 1800 s"] is None, "there is no memory on that route"
    assert len(found) == 6


@given(st.lists(st.floats(0.1, 5000), min_size=1, max_size=4, unique=True))
def test_routes_stay_in_order(ends: list[float]) -> None:
    names = ["overview", "chunked", "one_shot", "orchestrated", "memory"]
    routes = [Route(until_s=end, strategy=name) for end, name in zip(sorted(ends), names, strict=False)]
    harness = INITIAL.with_routes((*routes, Route(strategy="memory", memory=True)))
    for after in routes_after(harness).values():
        if after is not None:
            limits = [until for until, _, _ in after[:-1] if until is not None]
            assert limits == sorted(set(limits))
            assert len(limits) == len(ends)


def test_moves_of_routes_do_not_apply_where_the_route_is_gone() -> None:
    short = INITIAL.with_routes((Route(strategy="overview"),))
    moves = [move for move in parameter_moves(INITIAL) if move.subject == "routes" and "then" in move.title]
    assert [move.apply(short) for move in moves] == [None] * 4


def test_used_parameters_are_those_that_sources_name_and_the_frame_cap() -> None:
    assert used_parameters(INITIAL, {"overview"}) == {"overview_fps", "overview_detail", "frame_cap"}
    assert {"chunk_s", "detail_intervals"} <= used_parameters(INITIAL, {"chunked"})
    assert used_parameters(INITIAL, {"unknown"}) == {"frame_cap"}
