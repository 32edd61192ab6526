"""Render a set of recordings into a folder, and ask questions about them.

out/recording-….mp4      the recordings
out/recording-….srt      what is said in them
out/timelines/….json     what they show: written last, so that it marks a complete recording
out/questions.jsonl      questions made from the timelines
"""

import multiprocessing
import os
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evoharness.errors import UserError
from evoharness.records.base import Record
from evoharness.records.question import Question
from evoharness.records.storage import write_atomically, write_json, write_jsonl
from evoharness.samples.narration import narration
from evoharness.samples.plan import USUAL_MINUTES, plan_timeline
from evoharness.samples.questions import make_questions
from evoharness.samples.timeline import Timeline

LOOK = 2
"""Version of how a timeline is drawn and encoded: raised when pixels change and timelines do not."""
QUESTIONS_PER_VIDEO = 30

Rendered = Callable[[str, bool], None]
"""Told after each video: its key, and whether it had to be rendered."""


class Sheet(Record):
    """What lies in `timelines/<video>.json`."""

    look: int
    """Version of the drawing."""
    bytes: int
    """Size of the video file."""
    timeline: Timeline


@dataclass(frozen=True)
class SampleSet:
    """Recordings in a folder."""

    folder: Path
    keys: tuple[str, ...]

    @property
    def videos(self) -> dict[str, Path]:
        """The file of each recording, by key."""
        return {key: self.folder / f"{key}.mp4" for key in self.keys}

    @cached_property
    def timelines(self) -> Mapping[str, Timeline]:
        """The timeline of each recording, by key."""
        return {key: read_timeline(_sheet_path(self.folder, key)) for key in self.keys}

    @property
    def question_file(self) -> Path:
        """Where `write_questions` puts the questions."""
        return self.folder / "questions.jsonl"

    def questions(self, per_video: int = QUESTIONS_PER_VIDEO) -> list[Question]:
        """Questions about every recording: the same ones each time, whatever other recordings there are."""
        return [
            question
            for timeline in self.timelines.values()
            for question in make_questions(
                timeline, random.Random(f"questions {timeline.seed} {timeline.index}"), per_video
            )
        ]

    def write_questions(self, per_video: int = QUESTIONS_PER_VIDEO) -> list[Question]:
        """Make the questions and write them to `question_file`."""
        questions = self.questions(per_video)
        write_jsonl(self.question_file, questions)
        return questions


def read_timeline(path: Path) -> Timeline:
    """The timeline in a file of `timelines/`; ValueError when it is none, OSError when it cannot be read."""
    return Sheet.model_validate_json(path.read_text(encoding="utf-8")).timeline


def render_samples(
    out: Path,
    videos: int,
    seed: int,
    *,
    longest_minutes: float = USUAL_MINUTES,
    workers: int | None = None,
    on_video: Rendered | None = None,
) -> SampleSet:
    """Render recordings 0 … `videos` - 1 of `seed` into `out`, except those that lie there already.

    Each recording depends on its seed, its index and `longest_minutes` alone. `workers` processes (by
    default one a core) share the work. UserError when the folder cannot be written.
    """
    timelines = [plan_timeline(seed, index, longest_minutes) for index in range(videos)]
    samples = SampleSet(out, tuple(timeline.video for timeline in timelines))
    try:
        (out / "timelines").mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK):
            raise PermissionError(13, "not writable")
    except OSError as error:
        raise UserError(
            f"cannot write samples into {out}: {error.strerror}; choose another folder with out="
        ) from error
    missing = []
    for timeline in timelines:
        if _complete(out, timeline):
            if on_video:
                on_video(timeline.video, False)
        else:
            missing.append(timeline)
    # the slowest first, so that no process ends long after the others
    missing.sort(key=lambda t: t.duration * t.width * t.height, reverse=True)
    workers = min(workers or os.cpu_count() or 1, len(missing))
    if workers <= 1:
        for timeline in missing:
            _render(out, timeline)
            if on_video:
                on_video(timeline.video, True)
        return samples
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        jobs = {pool.submit(_render, out, timeline): timeline.video for timeline in missing}
        try:
            for job in as_completed(jobs):
                job.result()
                if on_video:
                    on_video(jobs[job], True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return samples


def _sheet_path(out: Path, key: str) -> Path:
    return out / "timelines" / f"{key}.json"


def _complete(out: Path, timeline: Timeline) -> bool:
    """Whether this very recording lies in the folder already."""
    try:
        sheet = Sheet.model_validate_json(_sheet_path(out, timeline.video).read_text(encoding="utf-8"))
        size = (out / f"{timeline.video}.mp4").stat().st_size
        return sheet.look == LOOK and sheet.timeline == timeline and sheet.bytes == size
    except (OSError, ValueError):
        return False


def _render(out: Path, timeline: Timeline) -> None:
    from evoharness.samples.encode import encode

    sheet = _sheet_path(out, timeline.video)
    sheet.unlink(missing_ok=True)
    path = out / f"{timeline.video}.mp4"
    encode(timeline, path)
    write_atomically(out / f"{timeline.video}.srt", narration(timeline))
    write_json(sheet, Sheet(look=LOOK, bytes=path.stat().st_size, timeline=timeline))
