"""The videos of the demo: made here when nobody gives any, and kept in the cache."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.cli.inputs import Inputs
from evoharness.cli.parts import usable_cache
from evoharness.errors import UserError

if TYPE_CHECKING:
    from evoharness.config import EvolveConfig
    from evoharness.runs import Progress


def sample_set(config: "EvolveConfig", progress: "Progress") -> Inputs:
    """Recordings of the configuration's seed to learn from, and others with questions as the sealed test.

    The first recordings of a seed are the sealed ones, so that learning from more leaves the test as it is.
    """
    from evoharness.samples import SampleSet, render_samples

    wanted = config.samples
    if wanted.videos < 1 or wanted.sealed < 0:
        raise UserError("samples.videos has to be at least 1, samples.sealed at least 0")
    if not 0.5 <= wanted.minutes <= 60:
        raise UserError(f"samples.minutes={wanted.minutes:g} has to lie between 0.5 and 60")
    folder = usable_cache(config.cache) / "samples" / f"seed-{config.seed}-{wanted.minutes:g}min"
    total = wanted.sealed + wanted.videos
    progress.start_stage(None, "sample videos", total)
    with _alone_in(folder):
        made = render_samples(
            folder,
            total,
            config.seed,
            longest_minutes=wanted.minutes,
            workers=config.executor.workers,
            on_video=lambda video, rendered: progress.advance(),  # noqa: ARG005
        )
    sealed = SampleSet(folder, made.keys[: wanted.sealed])
    learned = SampleSet(folder, made.keys[wanted.sealed :])
    return Inputs(
        videos=learned.videos,
        sealed_videos=sealed.videos,
        sealed_questions=sealed.questions(wanted.questions) if sealed.keys else (),
    )


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Waits until no other process makes samples in the folder, and keeps others waiting."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise UserError(f"cannot write samples into {folder}: {error.strerror or error}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
