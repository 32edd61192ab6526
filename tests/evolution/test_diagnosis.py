"""Failures explained by evidence: a real video, the real Solver, a backbone that sees only colours."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.evaluation import Evaluator, InlineExecutor
from evoharness.evolution.diagnosis import condition, diagnose
from evoharness.harness import Harness, Route
from evoharness.records.evolution import FailureCause
from evoharness.records.interval import Interval
from evoharness.records.outcome import APPARATUS
from evoharness.records.question import Question
from evoharness.solver import SolverLimits
from tests.evolution.colour_world import ColourConfig, write_video
from tests.evolution.scripted import harness, outcome, question

OVERVIEW = """\
def strategy(ctx, question):
    seen = ctx.look([], ctx.params.overview_fps, ctx.params.frame_cap, ctx.params.overview_detail, "")
    return ctx.answer(seen["observations"])
"""
SECONDS = 60.0
BLINK = Interval(start=21.0, end=22.0)
LATER = Interval(start=43.5, end=44.0)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grey minute with a red second and a blue half second."""
    shown = [("grey", 21.0), ("red", 1.0), ("grey", 21.5), ("blue", 0.5), ("grey", 16.0)]
    return write_video(tmp_path_factory.mktemp("video") / "minute.mp4", shown)


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[InlineExecutor]:
    made = InlineExecutor(ColourConfig(cache_dir=tmp_path))
    yield made
    made.close()


def coarse() -> Harness:
    """Looks every ten seconds, and so sees nothing but grey."""
    base = harness(overview_fps=0.1, detail_fps=4.0)
    return base.with_strategy("plain", OVERVIEW)


def asked(number: int, right: str, source: Interval | None) -> Question:
    options = (right, *[name for name in ("red", "blue", "green") if name != right], "pink")
    return question(
        number, "minute", text=f"Which colour appears ({number})?", options=options, source_interval=source
    )


def test_each_failure_gets_its_cause(video: Path, executor: InlineExecutor) -> None:
    questions = [
        asked(1, "red", BLINK),
        asked(2, "blue", LATER),
        asked(3, "red", Interval(start=2.0, end=4.0)),
        asked(4, "green", BLINK),
        asked(5, "red", None),
        asked(6, "grey", BLINK),
    ]
    limits = SolverLimits()
    incumbent = coarse()
    evaluator = Evaluator(executor, {"minute": video}, limits=limits)
    outcomes = evaluator.evaluate([incumbent], questions)[incumbent.fingerprint]
    assert [o.reward for o in outcomes] == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    diagnosis = diagnose(
        questions, outcomes, incumbent, {"minute": video}, {"minute": SECONDS}, executor, limits, wider_s=18.0
    )
    causes = {failure.question: failure.cause for failure in diagnosis.failures}
    assert causes == {
        "minute/q1": FailureCause.LOCALIZATION,
        "minute/q2": FailureCause.LOCALIZATION,
        "minute/q3": FailureCause.QUESTION_EVIDENCE,
        "minute/q4": FailureCause.REASONING,
        "minute/q5": FailureCause.UNDETERMINED,
    }
    assert diagnosis.answered == 6
    assert diagnosis.counts == {"localization": 2, "question_evidence": 1, "reasoning": 1, "undetermined": 1}


@pytest.mark.parametrize("wider_s", [None, 18.0])
@pytest.mark.parametrize("source", [(50.0, 90.0), (80.0, 90.0)])
def test_a_source_beyond_the_end_of_its_video_is_kept_inside(
    source: tuple[float, float], wider_s: float | None
) -> None:
    beyond = asked(1, "red", Interval(start=source[0], end=source[1]))
    made = condition(coarse(), beyond, SECONDS, wider_s).strategies["evidence_condition"]
    assert f"{SECONDS}]" in made
    assert f"{source[1]}" not in made


def test_the_apparatus_is_no_failure_of_the_harness(video: Path, executor: InlineExecutor) -> None:
    lost = question(1, "minute")
    diagnosis = diagnose(
        [lost],
        [outcome(lost, None, APPARATUS)],
        coarse(),
        {"minute": video},
        {"minute": SECONDS},
        executor,
        SolverLimits(),
        wider_s=10.0,
    )
    assert diagnosis.failures == ()
    assert diagnosis.answered == 0


def test_the_evidence_has_the_representation_of_the_path() -> None:
    both = coarse().with_routes(
        (Route(until_s=100.0, strategy="plain"), Route(strategy="plain", memory=True))
    )
    short = condition(both, asked(1, "red", BLINK), SECONDS, None)
    assert "[[16.0, 27.0]], p.detail_fps" in short.strategies["evidence_condition"]
    assert "records" not in short.strategies["evidence_condition"]
    long = condition(both, asked(1, "red", BLINK), 2000.0, 60.0)
    code = long.strategies["evidence_condition"]
    assert "[[0.0, 46.0]], p.replay_fps" in code
    assert "ctx.records(segment) for segment in ['s0000']" in code
    assert "ctx.look([[46.0, 106.0]]" in code
    assert long.route(2000.0).memory
