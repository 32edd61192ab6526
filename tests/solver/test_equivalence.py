"""Harnesses that must answer alike are recognized, are answered once, and are paid for once."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.evaluation import Evaluator, InlineExecutor
from evoharness.evolution.proposers.parameter_moves import parameter_moves
from evoharness.evolution.proposers.strategy_moves import strategy_moves
from evoharness.harness import Harness, Route, initial_harness
from evoharness.records.outcome import Outcome
from evoharness.runs import SqliteOutcomes
from evoharness.sandbox import ProcessSandbox
from evoharness.solver import SolverBench, SolverLimits, behaviour, solve
from evoharness.video import Video
from tests.evolution.colour_world import ColourConfig, write_video
from tests.evolution.scripted import question
from tests.solver.entity_counter import FILES
from tests.solver.standins import QUESTION, Letters, Witness, only

INITIAL = initial_harness()
SHORT, MEDIUM, LONG = 60.0, 900.0, 4000.0


def same(one: Harness, other: Harness, duration: float = SHORT) -> bool:
    return behaviour(one, duration) == behaviour(other, duration)


def test_a_parameter_that_the_route_does_not_read_changes_nothing() -> None:
    changed = INITIAL.with_parameters(chunk_s=100, detail_fps=4, replay_fps=2, memory_rounds=1)
    assert same(INITIAL, changed)
    assert not same(INITIAL, changed, MEDIUM)
    assert not same(INITIAL, changed, LONG)


@pytest.mark.parametrize("change", [{"overview_fps": 0.5}, {"overview_detail": "small"}, {"frame_cap": 64}])
def test_a_parameter_that_the_route_reads_does(change: dict[str, Any]) -> None:
    assert not same(INITIAL, INITIAL.with_parameters(**change))


def test_the_frame_cap_counts_even_where_no_source_names_it() -> None:
    harness = only("def strategy(ctx, question):\n    return ctx.answer(ctx.look([], 1.0))\n")
    assert not same(harness, harness.with_parameters(frame_cap=16))
    assert same(harness, harness.with_parameters(overview_fps=0.5))


def test_routes_count_as_far_as_they_lead_elsewhere() -> None:
    cut = INITIAL.with_routes((INITIAL.routes[0].model_copy(update={"until_s": 600.0}), *INITIAL.routes[1:]))
    assert same(INITIAL, cut, SHORT)
    assert not same(INITIAL, cut, 500)
    assert same(INITIAL, cut, MEDIUM)
    remembering = INITIAL.with_routes((Route(strategy="overview", memory=True),))
    assert not same(INITIAL, remembering)


def test_code_skills_tools_and_policy_count() -> None:
    assert not same(INITIAL, INITIAL.with_strategy("overview", INITIAL.strategies["overview"] + "\n"))
    assert same(INITIAL, INITIAL.with_strategy("chunked", INITIAL.strategies["overview"]))
    assert not same(INITIAL, INITIAL.with_skill("new", {"SKILL.md": "Look."}))
    assert not same(INITIAL, INITIAL.with_tool("count_entities", FILES))
    assert not same(INITIAL, INITIAL.with_tool_policy({"default": ("look",)}))


def test_with_skills_or_tools_every_parameter_counts() -> None:
    for more in (
        INITIAL.with_skill("new", {"SKILL.md": "Look."}),
        INITIAL.with_tool("count_entities", FILES),
    ):
        assert not same(more, more.with_parameters(detail_fps=4))


HIDDEN = {
    "the host reads them": "return ctx.localize('it')",
    "a chosen tool reads them": "return ctx.call('look', {'start': 0, 'end': 3})",
    "frames by name": "return ctx.answer([], frames=[1.0])",
    "frames with space": "return ctx.answer([], frames = [1.0])",
    "frames by position": "return ctx.answer([], [1.0])",
    "frames unpacked": "return ctx.answer(**{'fra' + 'mes': [1.0]})",
    "frames starred": "return ctx.answer(*[[], [1.0]])",
    "under another name": "eye = ctx\n    return eye.localize('it')",
    "a call under another name": "find_out = ctx.localize\n    return find_out('it')",
    "in a helper": "return other(ctx)\n\ndef other(c):\n    return c.localize('it')",
    "by a computed name": "return ctx.answer(str(ctx.params['detail' + '_fps']))",
    "all of them": "values = ctx.params\n    return ctx.answer(str(values['detail' + '_fps']))",
    "handed on": "values = ctx.params\n    return f(values)\n\ndef f(v):\n    return v['detail' + '_fps']",
    "no code": "return (",
}


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN)
def test_where_parameters_may_be_read_out_of_sight_all_of_them_count(body: str) -> None:
    harness = only(f"def strategy(ctx, question):\n    {body}\n")
    assert not same(harness, harness.with_parameters(detail_fps=4))


def test_the_interface_may_go_by_another_name() -> None:
    harness = only("def strategy(c, question):\n    return c.localize('it')\n")
    assert not same(harness, harness.with_parameters(detail_fps=4))


@pytest.mark.parametrize(
    "body",
    [
        "return ctx.answer([])",
        "params = ctx.params\n    return ctx.answer(ctx.look([], params.overview_fps, max_frames=9))",
        "return ctx.answer(ctx.similar('a', ['b']), sample=1) if ctx.remaining()['calls'] else None",
        "return ctx.answer(evidence=str(ctx.video.duration))",
    ],
)
def test_where_everything_is_in_sight_the_others_do_not(body: str) -> None:
    harness = only(f"def strategy(ctx, question):\n    {body}\n")
    assert same(harness, harness.with_parameters(detail_fps=4))


def test_edits_of_strategies_keep_everything_in_sight() -> None:
    for move in strategy_moves(["overview"]):
        changed = move.apply(INITIAL)
        if changed is None:  # not of the shape that this edit needs
            continue
        assert not same(INITIAL, changed)
        assert same(changed, changed.with_parameters(replay_fps=4))


@given(st.floats(0.1, 1e5), st.floats(0.1, 1e5))
def test_durations_on_one_route_are_alike(one: float, other: float) -> None:
    alike = INITIAL.route(one).strategy == INITIAL.route(other).strategy
    assert (behaviour(INITIAL, one) == behaviour(INITIAL, other)) == alike


def test_what_is_called_alike_does_answer_alike(minute: Video, sandbox: ProcessSandbox) -> None:
    """Every step of every parameter, on every initial strategy that looks at the video."""

    def steps(harness: Harness) -> list[tuple[Any, ...]]:
        bench = SolverBench(Witness(), Letters(), sandbox, lambda _: pytest.fail("no memory"))
        answered = solve(QUESTION, minute, harness, bench, SolverLimits())
        return [(answered.choice, answered.spend)] + [
            (step.call, step.arguments, step.result, step.frame_times) for step in answered.trace.steps
        ]

    alike = 0
    for name in ("overview", "chunked", "one_shot", "orchestrated"):
        base = INITIAL.with_routes((Route(strategy=name),))
        expected = steps(base)
        for move in parameter_moves(base):
            changed = move.apply(base)
            if changed is not None and same(base, changed):
                alike += 1
                assert steps(changed) == expected, move.title
    assert alike > 20


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("videos")
    return {"one": write_video(folder / "one.mp4", [("grey", 4.0), ("red", 2.0)])}


ASKED = question(
    1, "one", text="Which colour fills the picture?", options=("red", "blue", "green", "pink"), answer=0
)
ALIKE = INITIAL.with_parameters(chunk_s=100)
UNLIKE = INITIAL.with_parameters(overview_fps=0.5)


def test_an_answer_is_reused_for_a_harness_that_must_answer_alike(
    tmp_path: Path, videos: dict[str, Path]
) -> None:
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path))
    store = SqliteOutcomes(tmp_path / "outcomes.sqlite")
    found = Evaluator(executor, videos, store).evaluate([INITIAL, ALIKE, UNLIKE], [ASKED])
    (first,), (again,), (other,) = (found[h.fingerprint] for h in (INITIAL, ALIKE, UNLIKE))
    assert [o.answered.reused for o in (first, again, other)] == [False, True, False]
    assert again.answered == first.answered.model_copy(update={"reused": True})
    assert (again.harness, again.reward) == (ALIKE.fingerprint, 1.0)
    assert again.answered.spend.frames == 6, "what the answer takes is told all the same"

    paid = first.answered.spend + other.answered.spend
    assert executor.used.spend == paid, "the model was not asked again"
    assert store.spend() == paid, "and what was reused is not counted"
    assert len(store) == 3
    executor.close()


def test_another_trial_question_or_limit_is_asked_anew(tmp_path: Path, videos: dict[str, Path]) -> None:
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path))

    def ask(harness: Harness, asked: Any = ASKED, trial: int = 0, calls: int = 60) -> Outcome:
        judged = Evaluator(executor, videos, limits=SolverLimits(calls=calls))
        return judged.evaluate([harness], [asked], trial)[harness.fingerprint][0]

    assert not ask(INITIAL).answered.reused
    assert ask(ALIKE).answered.reused
    assert not ask(ALIKE, trial=1).answered.reused
    assert not ask(ALIKE, calls=59).answered.reused
    assert not ask(ALIKE, question(2, "one", text="Which colour is it?")).answered.reused
    assert ask(ALIKE, trial=1).answered.reused
    executor.close()


def test_a_failure_of_the_apparatus_is_never_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evoharness.evaluation.evaluator.SECONDS_BEFORE_RETRY", 0.0)
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path))
    judged = Evaluator(executor, {"one": tmp_path / "nothing.mp4"})
    outcomes = [o for each in judged.evaluate([INITIAL, ALIKE], [ASKED]).values() for o in each]
    assert [(o.status, o.answered.reused) for o in outcomes] == [("apparatus", False)] * 2
    write_video(tmp_path / "nothing.mp4", [("red", 2.0)])
    found = judged.evaluate([INITIAL, ALIKE], [ASKED])
    assert [o.reward for each in found.values() for o in each] == [1.0, 1.0]
    executor.close()


def test_a_worker_forgets_the_oldest_answers(
    tmp_path: Path, videos: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evoharness.evaluation.workbench.ANSWERS_KEPT", 1)
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path))
    found = Evaluator(executor, videos).evaluate([INITIAL, UNLIKE, ALIKE], [ASKED])
    assert [o.answered.reused for each in found.values() for o in each] == [False, False, False]
    executor.close()
