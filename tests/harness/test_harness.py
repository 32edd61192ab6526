"""A harness is a value: changes make new ones, and its fingerprint is its content."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.harness import Harness, Parameters, Route, initial_harness, parameter_specs

SOURCE = "def strategy(ctx, question):\n    return ctx.answer([])\n"


def tool(name: str = "count", **fields: Any) -> dict[str, str]:
    manifest = {
        "signature": {},
        "purpose": "count",
        "kinds": ["counting"],
        "tests": [{"equals": 0}],
        **fields,
    }
    return {f"{name}.py": "def tool(memory):\n    return 0\n", f"{name}.json": json.dumps(manifest)}


def test_the_initial_harness_has_the_values_of_table_6() -> None:
    harness = initial_harness()
    values = harness.parameters
    assert harness.parameters == Parameters()
    assert (values.overview_fps, values.detail_fps, values.replay_fps) == (1, 2, 1)
    assert (values.overview_detail, values.detail_detail) == ("normal", "large")
    assert (values.frame_cap, values.replay_frame_cap) == (192, 192)
    assert (values.chunk_s, values.detail_intervals, values.detail_interval_s) == (300, 6, 60)
    assert (values.detail_padding_s, values.detail_merge_gap_s) == (5, 2)
    assert (values.search_results, values.retained_segments, values.memory_text_chars) == (6, 2, 6000)
    assert (values.memory_rounds, values.replay_intervals) == (3, 3)
    assert (values.replay_padding_s, values.replay_window_s) == (24, 60)
    assert harness.skills == {}
    assert harness.tools == {}


@pytest.mark.parametrize(
    ("duration", "strategy", "memory"),
    [
        (0, "overview", False),
        (300, "overview", False),
        (300.1, "chunked", False),
        (1799.9, "chunked", False),
        (1800, "memory", True),
        (10_000, "memory", True),
    ],
)
def test_the_duration_decides_the_route(duration: float, strategy: str, memory: bool) -> None:
    route = initial_harness().route(duration)
    assert (route.strategy, route.memory) == (strategy, memory)


def test_every_parameter_is_described_with_unit_and_bounds() -> None:
    specs = parameter_specs()
    assert [spec.name for spec in specs] == list(Parameters.model_fields)
    for spec in specs:
        assert spec.unit
        assert spec.doc.endswith(".")
        if spec.kind == "choice":
            assert spec.initial in spec.choices
        else:
            assert spec.low is not None
            assert spec.high is not None
            assert spec.low <= float(spec.initial) <= spec.high


@given(st.sampled_from([s for s in parameter_specs() if s.kind != "choice"]), st.booleans())
def test_no_parameter_leaves_its_bounds(spec, above) -> None:  # type: ignore[no-untyped-def]
    beyond = spec.high + 1 if above else spec.low - 1
    with pytest.raises(ValueError, match=spec.name):
        Parameters().changed(**{spec.name: beyond})
    within = spec.high if above else spec.low
    assert getattr(Parameters().changed(**{spec.name: within}), spec.name) == within


def test_an_undeclared_parameter_cannot_be_set() -> None:
    with pytest.raises(ValueError, match="frames_per_fortnight"):
        initial_harness().with_parameters(frames_per_fortnight=3)


def test_the_fingerprint_follows_the_content_and_nothing_else() -> None:
    harness = initial_harness()
    changed = harness.with_parameters(detail_fps=4)
    assert changed.fingerprint != harness.fingerprint
    assert changed.with_parameters(detail_fps=2).fingerprint == harness.fingerprint
    assert len(harness.fingerprint) == 64
    reordered = Harness(
        routes=harness.routes,
        strategies=dict(reversed(harness.strategies.items())),
        parameters=harness.parameters,
    )
    assert reordered.fingerprint == harness.fingerprint


def test_a_change_leaves_the_original_alone() -> None:
    harness = initial_harness()
    before = harness.files()
    other = harness.with_strategy("late", SOURCE).with_routes((Route(strategy="late"),))
    other = other.with_skill("re-look", {"SKILL.md": "look again\n"})
    other = other.with_tool("count", tool())
    other = other.with_tool_policy({"how many": ("enumerate",), "default": ("look",)})
    assert harness.files() == before
    assert "strategies/late.py" in other.files()
    assert "skills/re-look/SKILL.md" in other.files()
    assert "tools_generated/count.json" in other.files()
    assert other.without_skill("re-look").skills == {}
    with pytest.raises(KeyError):
        other.without_skill("re-look").without_skill("re-look")


def test_the_difference_is_a_unified_diff_of_files() -> None:
    harness = initial_harness()
    assert harness.diff(harness) == ""
    change = harness.diff(harness.with_parameters(replay_window_s=15).with_strategy("late", SOURCE))
    assert "--- a/harness.yaml\n+++ b/harness.yaml\n" in change
    assert "-  replay_window_s: 60.0\n+  replay_window_s: 15.0\n" in change
    assert "--- /dev/null\n+++ b/strategies/late.py\n" in change


@pytest.mark.parametrize(
    "routes",
    [
        (),
        (Route(until_s=300, strategy="overview"),),
        (Route(strategy="no_such"),),
        (
            Route(until_s=300, strategy="overview"),
            Route(until_s=100, strategy="chunked"),
            Route(strategy="memory"),
        ),
        (Route(strategy="overview"), Route(strategy="memory")),
    ],
)
def test_a_routing_table_must_cover_every_duration(routes: tuple[Route, ...]) -> None:
    with pytest.raises(ValueError, match="routes"):
        initial_harness().with_routes(routes)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../b", "a//b", ".hidden", ""])
def test_files_of_a_skill_stay_in_its_folder(path: str) -> None:
    with pytest.raises(ValueError, match="no path"):
        initial_harness().with_skill("s", {"SKILL.md": "", path: ""})


@pytest.mark.parametrize("name", ["", "..", "a/b", "Über", "x" * 65])
def test_names_are_safe_as_file_names(name: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        initial_harness().with_strategy(name, SOURCE)
    with pytest.raises(ValueError, match="no name"):
        initial_harness().with_skill(name, {"SKILL.md": ""})


@pytest.mark.parametrize(
    ("name", "files", "said"),
    [
        ("count", {"count.py": ""}, r"tool count: needs exactly count\.py and count\.json"),
        ("count", {**tool(), "more.py": ""}, "tool count: needs exactly"),
        ("count", {**tool(), "count.json": "{"}, r"tool count: count\.json: not JSON"),
        ("count", tool(tests=[]), r"tool count: count\.json: tests: needs at least one"),
        ("count", tool(arguments={}), r"tool count: count\.json: arguments: is no field here \(fields are: "),
        ("look", tool("look"), "tool look: the host has something of that name; choose another one"),
        ("Count", tool("Count"), "no name"),
    ],
)
def test_a_tool_comes_with_a_sound_manifest(name: str, files: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        initial_harness().with_tool(name, files)
