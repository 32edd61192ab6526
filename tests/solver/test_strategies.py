"""The initial strategies do what appendix A.5 says, with every number taken from the parameters."""

import re
from typing import Any

import pytest

from evoharness.harness import Harness, Parameters, Route, initial_harness
from evoharness.models.backbone import Unparsed
from evoharness.models.perception_tasks import InspectFrames, LocalizeEvent
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAction
from evoharness.models.task import Task
from evoharness.records.frame import Detail
from evoharness.records.interval import Interval
from evoharness.records.outcome import Answered
from evoharness.sandbox import ProcessSandbox, check_source
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.video import Video
from tests.solver.standins import QUESTION, Letters, Witness


def _ask(backbone: Witness, video: Video, sandbox: ProcessSandbox, harness: Harness) -> Answered:
    bench = SolverBench(backbone, Letters(), sandbox, lambda _: pytest.fail("no memory"))
    return solve(QUESTION, video, harness, bench, SolverLimits())


def _routed(strategy: str) -> Harness:
    return initial_harness().with_routes((Route(strategy=strategy),))


@pytest.mark.parametrize("name", sorted(initial_harness().strategies))
def test_a_strategy_is_legal_and_reads_known_parameters(name: str) -> None:
    source = initial_harness().strategies[name]
    assert check_source(source) == []
    read = set(re.findall(r"params\.(\w+)", source))
    assert read <= set(Parameters.model_fields)
    assert read


def test_every_parameter_is_read_somewhere() -> None:
    sources = "".join(initial_harness().strategies.values())
    read = set(re.findall(r"params\.(\w+)", sources))
    used_by_the_host = {"detail_fps", "detail_detail", "frame_cap"}
    assert read | used_by_the_host == set(Parameters.model_fields)


def test_overview_looks_once_and_answers_once(minute: Video, sandbox: ProcessSandbox) -> None:
    backbone = Witness()
    answered = _ask(backbone, minute, sandbox, initial_harness())
    assert (answered.status, answered.choice, answered.trace.strategy) == ("ok", 1, "overview")
    (look,) = backbone.of(InspectFrames)
    assert len(look.frames) == 60
    assert "What happens after the red circle?" in look.prompt
    assert "a\nb\nc" in look.prompt
    (answer,) = backbone.of(AnswerQuestion)
    assert [piece.text for piece in answer.evidence] == ["60 frames of 320x192"]
    assert answer.evidence[0].interval == Interval(start=0, end=60)


def test_a_look_that_could_not_be_read_is_told_in_the_trace(minute: Video, sandbox: ProcessSandbox) -> None:
    def garbled(task: Task[Any]) -> None:
        if isinstance(task, InspectFrames):
            raise Unparsed("no JSON")

    answered = _ask(Witness(instead=garbled), minute, sandbox, initial_harness())
    assert (answered.status, answered.guessed) == ("ok", True)
    assert answered.trace.steps[0].result == {"observations": [], "candidates": [], "frames": [], "unread": 1}


def test_chunked_looks_at_chunks_then_closer_at_candidates(quarter: Video, sandbox: ProcessSandbox) -> None:
    backbone = Witness(event=Interval(start=400, end=405))
    answered = _ask(backbone, quarter, sandbox, initial_harness())
    assert (answered.status, answered.trace.strategy) == ("ok", "chunked")
    *chunks, closer = backbone.of(InspectFrames)
    assert [(task.span.start, task.span.end) for task in chunks] == [(0, 300), (300, 600), (600, 900)]
    assert all(len(task.frames) == 192 for task in chunks)
    assert (closer.span.start, closer.span.end) == (395, 410)
    (answer,) = backbone.of(AnswerQuestion)
    assert len(answer.evidence) == 4
    assert answered.spend.frames == 3 * 192 + len(closer.frames)


def test_one_shot_shows_frames_in_the_answer_call(quarter: Video, sandbox: ProcessSandbox) -> None:
    backbone = Witness()
    answered = _ask(backbone, quarter, sandbox, _routed("one_shot"))
    (answer,) = backbone.tasks
    assert isinstance(answer, AnswerQuestion)
    assert len(answer.frames) == 192
    assert answer.frames[-1].time > 890
    assert answered.spend.frames == 192


def test_orchestrated_acts_until_it_stops(minute: Video, sandbox: ProcessSandbox) -> None:
    actions = (
        ChosenAction(tool="localize", arguments={"query": "the red circle"}),
        ChosenAction(tool="look", arguments={"start": 20, "end": 40, "prompt": "what now"}),
        ChosenAction(tool="look", arguments={"start": "nonsense"}),
        ChosenAction(tool="crop_frame", arguments={"time": 25, "box": [0, 0, 0.5, 0.5]}),
        ChosenAction(tool="search", arguments={"query": "not on this route"}),
    )
    backbone = Witness(event=Interval(start=10, end=12), actions=actions)
    answered = _ask(backbone, minute, sandbox, _routed("orchestrated"))
    assert answered.status == "ok"
    assert len(backbone.of(LocalizeEvent)) == 2
    (look,) = backbone.of(InspectFrames)
    assert (look.span.start, look.span.end) == (20, 40)
    assert [step.call for step in answered.trace.steps].count("decide") == 5
    (answer,) = backbone.of(AnswerQuestion)
    assert any("a frame of" in piece.text for piece in answer.evidence)


def test_parameters_reach_the_looks(quarter: Video, sandbox: ProcessSandbox) -> None:
    backbone = Witness(event=Interval(start=100, end=300))
    harness = initial_harness().with_parameters(
        chunk_s=450, frame_cap=32, overview_detail="small", detail_interval_s=20, detail_fps=1
    )
    _ask(backbone, quarter, sandbox, harness)
    *chunks, closer = backbone.of(InspectFrames)
    assert [(len(task.frames), task.span.duration) for task in chunks] == [(32, 450), (32, 450)]
    assert closer.span == Interval(start=190, end=210)
    assert len(closer.frames) == 20
    assert Detail(harness.parameters.overview_detail) == Detail.SMALL
