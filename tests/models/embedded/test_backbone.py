"""The embedded backbone: every task that looks, its spend, and what it refuses."""

import multiprocessing
import random
import time
from pathlib import Path
from typing import ClassVar

import pytest
from PIL import Image

from evoharness.errors import UserError
from evoharness.models import Task, UnsupportedTask, backbone_names, make_backbone
from evoharness.models.embedded import EmbeddedBackbone
from evoharness.models.perception_tasks import (
    DescribeFrame,
    DescribeSegment,
    InspectFrames,
    LocalizeEvent,
)
from evoharness.models.reasoning_tasks import AnswerQuestion, Reason, VerifyClaim
from evoharness.models.task import Role
from evoharness.records.base import Record
from evoharness.records.interval import Interval
from evoharness.retrieval import Embedder, make_embedder
from tests.models.embedded.drawing import Recording, shape, words


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder("wordllama")


@pytest.fixture(scope="module")
def backbone(embedder: Embedder) -> EmbeddedBackbone:
    return EmbeddedBackbone(embedder)


def lesson(picture: Image.Image, time: float) -> None:
    """Three steps of ten seconds; a star shows up during the second one, a cross turns white in the third."""
    step = int(time // 10)
    words(picture, ("Rinse the filter", "Close the valve", "Write the report")[step], 320, 320, 26)
    shape(picture, "square", "blue", 120, 150, 60)
    if 14 <= time < 17:
        shape(picture, "star", "yellow", 450, 120, 70)
    if step == 2:
        shape(picture, "cross", "red" if time < 25 else "white", 320, 200, 70)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return Recording.drawn(lesson, 30, name="lesson")


SPAN = Interval(start=0, end=30)


def test_a_prompt_brings_what_it_asks_for_to_the_top(
    backbone: EmbeddedBackbone, recording: Recording
) -> None:
    task = InspectFrames(frames=recording.frames(), span=SPAN, prompt="When does the yellow star appear?")
    found = backbone.run(task).output
    assert "a yellow star appears at the top right" in [o.text for o in found.observations if o.found]
    assert found.candidates[0].overlaps(Interval(start=13, end=17))
    assert all(SPAN.start <= o.interval.start <= o.interval.end <= SPAN.end for o in found.observations)
    starts = [observation.interval.start for observation in found.observations]
    assert starts == sorted(starts)


def test_without_a_prompt_the_most_salient_is_told(backbone: EmbeddedBackbone, recording: Recording) -> None:
    found = backbone.run(InspectFrames(frames=recording.frames(), span=SPAN, prompt="")).output
    lines = [observation.text for observation in found.observations]
    assert 'the caption text "Close the valve" is shown at the bottom' in lines
    assert "the red cross turns white" in lines
    assert all(observation.found for observation in found.observations)


def test_what_is_told_stays_within_its_budget(backbone: EmbeddedBackbone) -> None:
    rng = random.Random(3)
    kinds = ("circle", "square", "star", "heart", "cross")

    def draw(picture: Image.Image, _: float) -> None:
        for _ in range(6):
            where = (rng.uniform(60, 580), rng.uniform(60, 290))
            shape(picture, rng.choice(kinds), rng.choice(("red", "blue", "black")), *where, 40)

    busy = Recording.drawn(draw, 60, name="busy")
    found = backbone.run(
        InspectFrames(frames=busy.frames(), span=Interval(start=0, end=60), prompt="a red star")
    ).output
    assert 3000 < sum(len(observation.text) for observation in found.observations) <= 6000
    assert len(found.candidates) <= 8


def test_an_event_is_localised_or_said_not_to_be_there(
    backbone: EmbeddedBackbone, recording: Recording
) -> None:
    frames = recording.frames()
    window = backbone.run(
        LocalizeEvent(frames=frames, span=SPAN, query="the red cross turns white")
    ).output.window
    assert window is not None
    assert window.overlaps(Interval(start=24, end=25))
    assert window.duration <= 6
    elsewhere = LocalizeEvent(frames=frames, span=SPAN, query="a surgeon sutures the wound")
    assert backbone.run(elsewhere).output.window is None


def test_one_frame_is_described_and_a_crop_by_what_it_shows(
    backbone: EmbeddedBackbone, recording: Recording
) -> None:
    text = backbone.run(DescribeFrame(frame=recording.frames()[15], prompt="the star")).output.text
    assert text.splitlines()[0] == "a yellow star is at the top right"
    assert "Close the valve" in text


def test_a_segment_is_recorded_with_valid_times_and_references(
    backbone: EmbeddedBackbone, recording: Recording
) -> None:
    span = Interval(start=10, end=20)
    frames = tuple(frame for frame in recording.frames() if 10 <= frame.time < 20)
    segment = backbone.run(DescribeSegment(frames=frames, span=span, transcript="Now we close it.")).output
    assert "Close the valve" in segment.summary
    assert "Now we close it." in segment.summary
    assert {entity.name for entity in segment.entities} == {"blue square", "yellow star"}
    assert [text.text for text in segment.texts] == ["Close the valve"]
    assert any(event.subject == "yellow star" and event.kind == "appearance" for event in segment.events)
    assert all(10 <= event.start <= event.end <= 20 for event in segment.events)
    sizes = {"event": len(segment.events), "entity": len(segment.entities), "text": len(segment.texts)}
    assert segment.relations
    for relation in segment.relations:
        for end in (relation.source, relation.target):
            kind, _, number = end.partition(":")
            assert int(number) < sizes[kind]


def test_frames_that_come_with_a_question_are_looked_at(
    backbone: EmbeddedBackbone, recording: Recording
) -> None:
    task = AnswerQuestion(
        text="Which colour does the red cross turn?",
        options=("green", "white", "black", "pink"),
        frames=recording.frames(),
    )
    assert backbone.run(task).output.choice == 1
    assert backbone.run(task.model_copy(update={"frames": ()})).output.guessed
    claim = VerifyClaim(claim="the red cross turns white", frames=recording.frames())
    assert backbone.run(claim).output.supported


def test_spend_counts_frames_and_text(backbone: EmbeddedBackbone, recording: Recording) -> None:
    frames = recording.frames()[:4]
    spend = backbone.run(InspectFrames(frames=frames, span=SPAN, prompt="what is there? " * 8)).spend
    assert (spend.calls, spend.frames, spend.cost_usd) == (1, 4, 0.0)
    assert spend.input_tokens == 4 * 220 + 30
    assert spend.output_tokens > 10
    assert backbone.run(Reason(prompt="x" * 400)).spend.input_tokens == 100


def test_the_same_task_has_the_same_output_in_any_process(embedder: Embedder, recording: Recording) -> None:
    task = InspectFrames(frames=recording.frames(), span=SPAN, prompt="the star")
    one, two = EmbeddedBackbone(embedder), EmbeddedBackbone(embedder)
    assert one.run(task).output == two.run(task).output


def test_other_questions_about_the_same_frames_are_cheap(
    backbone: EmbeddedBackbone, recording: Recording
) -> None:
    frames = recording.frames()
    backbone.run(InspectFrames(frames=frames, span=SPAN, prompt="the star"))
    asked, begun = recording.asked, time.perf_counter()
    for number in range(10):
        backbone.run(InspectFrames(frames=frames, span=SPAN, prompt=f"what is at place {number}?"))
    assert recording.asked == asked
    assert time.perf_counter() - begun < 2.0


class Sing(Task[Record]):
    """A task that nobody does."""

    default_role: ClassVar[Role] = Role.DESCRIBER
    output: ClassVar[type[Record]] = Record


def test_a_task_that_it_cannot_do_is_refused_by_name(backbone: EmbeddedBackbone) -> None:
    with pytest.raises(UnsupportedTask, match="Sing"):
        backbone.run(Sing())


def test_backbones_are_made_by_name(embedder: Embedder, tmp_path: Path) -> None:
    assert {"embedded", "embedded-no-ocr"} <= set(backbone_names())
    plain = make_backbone("embedded", embedder=embedder, cache_dir=tmp_path)
    assert plain.id != make_backbone("embedded-no-ocr", embedder=embedder, cache_dir=tmp_path).id
    with pytest.raises(UserError, match="'gpt': choose one of"):
        make_backbone("gpt", embedder=embedder, cache_dir=None)
    with pytest.raises(UserError, match="options"):
        make_backbone("embedded", embedder=embedder, cache_dir=None, colour="red")


def test_a_folder_that_cannot_hold_percepts_stops_nobody(
    embedder: Embedder, recording: Recording, tmp_path: Path
) -> None:
    (tmp_path / "percepts.sqlite").write_text("this is no database, it is a poem about one" * 50)
    task = InspectFrames(frames=recording.frames()[:3], span=SPAN, prompt="")
    assert EmbeddedBackbone(embedder, tmp_path).run(task).output.observations
    assert EmbeddedBackbone(embedder, tmp_path / "percepts.sqlite").run(task).output.observations


def _perceive(folder: Path, first: int) -> int:
    from evoharness.models.embedded.perceiver import Perceiver
    from evoharness.models.embedded.store import PerceptStore

    recording = Recording.drawn(lesson, 30, name="lesson")
    Perceiver(PerceptStore(folder / "percepts.sqlite")).perceive(recording.frames(every=2, first=first))
    return recording.asked


def test_processes_share_percepts(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        asked = pool.starmap(_perceive, [(tmp_path, 0), (tmp_path, 1)])
    assert asked == [15, 15]
    assert _perceive(tmp_path, 0) == 0
    assert _perceive(tmp_path, 1) == 0
