"""Three short recordings, rendered once: small and constant, large and variable, and one more."""

from pathlib import Path

import pytest

from evoharness.samples import SampleSet, render_samples

SEED, MINUTES, VIDEOS = 7, 1.0, 4


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    """A handful of recordings of up to a minute."""
    out: Path = tmp_path_factory.mktemp("samples")
    return render_samples(out, VIDEOS, SEED, longest_minutes=MINUTES, workers=1)
