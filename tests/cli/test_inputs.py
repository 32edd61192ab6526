"""What a run works on: gathered from what was asked for, and kept with the run."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from evoharness import config as settings
from evoharness.cli import run_command
from evoharness.cli.inputs import Inputs, gather, save_inputs
from evoharness.config import EvolveConfig, SamplesSection
from evoharness.errors import UserError
from evoharness.evolution import begin
from evoharness.evolve import COMMAND
from evoharness.harness import initial_harness, save_harness
from evoharness.records.evolution import Summary
from evoharness.runs import RunDirectory, RunFacts, SilentProgress
from tests.solver.standins import write_video


class Notes(SilentProgress):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, message: str) -> None:
        self.said.append(message)


def sealed_about(folder: Path, videos: Sequence[Path]) -> settings.TestSection:
    """A sealed test with a question about a copy of each video, under another name."""
    folder.mkdir()
    lines = []
    for number, video in enumerate(videos):
        shutil.copy(video, folder / f"copy {number}.mp4")
        lines.append(
            {"video": f"copy {number}.mp4", "question": "Which?", "options": ["a", "b"], "answer": 0}
        )
    (folder / "sealed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return settings.TestSection(questions=str(folder / "sealed.jsonl"))


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> EvolveConfig:
    """A configuration with two small samples to learn from, and no sealed ones."""
    cache = str(tmp_path_factory.mktemp("cache"))
    config = EvolveConfig(videos="samples", cache=cache)
    config.samples = SamplesSection(videos=2, sealed=0, minutes=0.5)
    config.executor.workers = 1
    return config


def test_samples_that_the_sealed_test_is_about_are_not_learned_from(
    tmp_path: Path, samples: EvolveConfig
) -> None:
    pool = gather(samples, SilentProgress()).videos
    assert len(pool) == 2
    first, second = pool.values()
    notes = Notes()
    samples.test = sealed_about(tmp_path / "one", [first])
    inputs = gather(samples, notes)
    assert list(inputs.videos.values()) == [second]
    assert len(inputs.sealed_questions) == 1
    assert notes.said == ["1 of 2 videos to learn from left out: the sealed test is about them"]
    samples.test = sealed_about(tmp_path / "both", [first, second])
    with pytest.raises(UserError, match="none is left to learn from"):
        gather(samples, notes)


def test_videos_and_questions_of_ones_own_that_the_sealed_test_is_about_are_left_out(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    videos = [write_video(mine / f"film {seconds}.mp4", seconds, (64, 64)) for seconds in (4, 5, 6)]
    lines = [
        {"video": video.name, "question": "What?", "options": ["a", "b"], "answer": 1} for video in videos
    ]
    (mine / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    config = EvolveConfig(videos=str(mine), questions=str(mine / "questions.jsonl"))
    config.test = sealed_about(tmp_path / "sealed", videos[:2])
    notes = Notes()
    inputs = gather(config, notes)
    assert list(inputs.videos.values()) == [videos[2]]
    assert inputs.questions is not None
    assert [question.video for question in inputs.questions] == list(inputs.videos)
    assert notes.said == ["2 of 3 videos to learn from left out: the sealed test is about them"]


def test_a_copy_of_a_video_under_another_name_is_the_same_video(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    film = write_video(mine / "film.mp4", 4, (64, 64))
    shutil.copy(film, mine / "film (1).mp4")
    other = write_video(mine / "other.mp4", 5, (64, 64))
    notes = Notes()
    inputs = gather(EvolveConfig(videos=str(mine)), notes)
    assert list(inputs.videos.values()) == [mine / "film (1).mp4", other]
    (said,) = notes.said
    assert said == "1 of 3 videos are copies of others here, each of which is learned from once: film"
    lines = [
        {"video": video, "question": "What?", "options": ["a", "b"], "answer": 1}
        for video in ("film.mp4", "film (1).mp4", "other.mp4")
    ]
    (mine / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    inputs = gather(EvolveConfig(videos=str(mine), questions=str(mine / "questions.jsonl")), notes)
    assert inputs.questions is not None
    assert [question.video for question in inputs.questions] == ["film (1)", "film (1)", "other"]


@pytest.mark.parametrize("change", ["removed", "changed"])
def test_a_run_goes_on_with_its_own_copy_of_the_harness(tmp_path: Path, change: str) -> None:
    given = initial_harness().with_parameters(detail_fps=3.5)
    save_harness(given, tmp_path / "given")
    film = write_video(tmp_path / "film.mp4", 3, (64, 64))
    config = f"harness:\n  source: {tmp_path / 'given'}\ncache: {tmp_path / 'cache'}\n"
    facts = RunFacts.gather(0, made_by="evolve")
    with RunDirectory.create(tmp_path, "run", config, facts, stamped=False) as run:
        begin(run, given)
        save_inputs(run, Inputs({"film": film}, questions=[]))
    if change == "removed":
        shutil.rmtree(tmp_path / "given")
    else:
        (tmp_path / "given" / "harness.yaml").write_text("parameters: {speed: 3}\n")
    assert run_command(COMMAND, [f"resume={tmp_path / 'run'}", "executor=inline", "display=silent"]) == 0
    summary = Summary.model_validate_json((tmp_path / "run" / "summary.json").read_bytes())
    assert summary.initial == summary.final == given.fingerprint
