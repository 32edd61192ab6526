"""What several tests look at, made once."""

from pathlib import Path

import pytest

from evoharness.records.question import Question
from evoharness.samples import SampleSet, render_samples
from evoharness.samples.timeline import Timeline
from tests.samples.asking import TIMELINES, questions_of

SEED, MINUTES, VIDEOS = 7, 1.0, 4


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    """A handful of recordings of up to a minute."""
    out: Path = tmp_path_factory.mktemp("samples")
    return render_samples(out, VIDEOS, SEED, longest_minutes=MINUTES, workers=1)


@pytest.fixture(scope="session")
def asked() -> list[tuple[Timeline, Question]]:
    """Each question about the timelines, with its own."""
    return [(timeline, question) for timeline in TIMELINES for question in questions_of(timeline)]
