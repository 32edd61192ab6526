"""The videos and question files of a run of evolution: gathered once, then kept with the run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.cli.parts import judge_for, needed, question_set, videos_at
from evoharness.errors import UserError
from evoharness.records.base import Record
from evoharness.records.paths import as_path
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.config import EvolveConfig
    from evoharness.runs import Progress, RunDirectory

SAMPLES = "samples"


@dataclass(frozen=True)
class Inputs:
    """What a run works on."""

    videos: Mapping[str, Path]
    """Videos to learn from, by key."""
    questions: Sequence[Question] | None = None
    """Questions about them, where they were given; None: the Questioner makes them."""
    sealed_videos: Mapping[str, Path] = field(default_factory=dict)
    sealed_questions: Sequence[Question] = ()
    """The sealed test; empty: none."""


class _VideoList(Record):
    videos: dict[str, Path]
    sealed: dict[str, Path]
    has_questions: bool


def gather(config: "EvolveConfig", progress: "Progress") -> Inputs:
    """The inputs that a configuration names; UserError for what is missing or does not go together."""
    if config.test.videos is not None and config.test.questions is None:
        raise UserError("test.videos= needs test.questions=, the question file about them")
    sealed_questions: Sequence[Question] = ()
    sealed_videos: dict[str, Path] = {}
    if config.test.questions is not None:
        sealed_questions, found = question_set(config.test.questions, config.test.videos, progress)
        judge_for(sealed_questions)
        used = {question.video for question in sealed_questions}
        sealed_videos = {key: path for key, path in found.items() if key in used}
    if config.videos == SAMPLES:
        if config.questions is not None:
            raise UserError("questions= is about videos of your own: give videos= too")
        from evoharness.cli.sample_set import sample_set

        samples = sample_set(config, progress)
        if not sealed_questions:
            return samples
        apart = _without_sealed(samples.videos, sealed_videos, progress)
        return Inputs(apart, None, sealed_videos, sealed_questions)
    questions: Sequence[Question] | None = None
    if config.questions is not None:
        questions, videos = question_set(config.questions, config.videos, progress)
        judge_for(questions)
    else:
        videos = videos_at(needed(config.videos, "videos", "my_videos/"), progress)
    same = _copies(videos)
    if same:
        named = ", ".join(list(same)[:3]) + (", …" if len(same) > 3 else "")
        videos = {key: path for key, path in videos.items() if key not in same}
        progress.note(
            f"{len(same)} of {len(same) + len(videos)} videos are copies of others here, "
            f"each of which is learned from once: {named}"
        )
    videos = _without_sealed(videos, sealed_videos, progress)
    if questions is not None:
        questions = [
            question.model_copy(update={"video": same.get(question.video, question.video)})
            for question in questions
        ]
        questions = [question for question in questions if question.video in videos]
        if not questions:
            raise UserError(f"{config.questions}: every question is about a video of the sealed test")
    return Inputs(videos, questions, sealed_videos, sealed_questions)


def _copies(videos: Mapping[str, Path]) -> dict[str, str]:
    """Key of each video whose file is a copy of one before it → key of that one.

    What is learned from a video must not be tested on it under another name. Only files of one size are read.
    """
    from evoharness.video import probe

    sizes = {key: path.stat().st_size for key, path in videos.items()}
    alike = Counter(sizes.values())
    first: dict[str, str] = {}
    same: dict[str, str] = {}
    for key, path in videos.items():
        if alike[sizes[key]] > 1:
            original = first.setdefault(probe(path).content_hash, key)
            if original != key:
                same[key] = original
    return same


def _without_sealed(
    videos: Mapping[str, Path], sealed: Mapping[str, Path], progress: "Progress"
) -> dict[str, Path]:
    """The videos to learn from, without those of the sealed test, whatever the files are called."""
    if not sealed:
        return dict(videos)
    from evoharness.video import probe

    hashes = {probe(path).content_hash for path in sealed.values()}
    kept = {key: path for key, path in videos.items() if probe(path).content_hash not in hashes}
    if not kept:
        raise UserError("every video is in the sealed test: none is left to learn from")
    if len(kept) < len(videos):
        apart = len(videos) - len(kept)
        progress.note(
            f"{apart} of {len(videos)} videos to learn from left out: the sealed test is about them"
        )
    return kept


def save_inputs(run: "RunDirectory", inputs: Inputs) -> None:
    """Keep the inputs with the run, so that going on with it does not depend on their files."""
    lists = _VideoList(
        videos=dict(inputs.videos),
        sealed=dict(inputs.sealed_videos),
        has_questions=inputs.questions is not None,
    )
    if inputs.questions is not None:
        run.save("inputs/questions.jsonl", inputs.questions)
    run.save("inputs/test.jsonl", inputs.sealed_questions)
    run.save("inputs/videos.json", lists)


def keep_knowledge(run: "RunDirectory", file: str | None) -> str | None:
    """The run's own copy of a file of passages, made when there is none yet; None: no file."""
    if file is None:
        return None
    from evoharness.knowledge import load_passages

    kept = run.path / "inputs" / "knowledge.jsonl"
    if not kept.exists():
        run.save("inputs/knowledge.jsonl", load_passages(as_path(file)))
    return str(kept.absolute())


def load_inputs(run: "RunDirectory") -> Inputs:
    """The inputs of a run; UserError when a video is gone."""
    lists = run.load("inputs/videos.json", _VideoList)
    if lists is None:
        raise UserError(f"{run.shown} was stopped before it began: start it anew")
    for path in (*lists.videos.values(), *lists.sealed.values()):
        if not path.is_file():
            raise UserError(f"{run.shown} needs {path}, which is not there any more")
    questions = run.load_lines("inputs/questions.jsonl", Question) if lists.has_questions else None
    sealed = run.load_lines("inputs/test.jsonl", Question) or []
    return Inputs(lists.videos, questions, lists.sealed, sealed)
