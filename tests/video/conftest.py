"""Recordings that several tests read."""

from pathlib import Path

import pytest

from tests.video.recordings import numbered, record


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for recordings of the session."""
    return tmp_path_factory.mktemp("recordings")


@pytest.fixture(scope="session")
def plain(folder: Path) -> Path:
    """Ten seconds at 10 pictures a second, a key frame every two seconds, B-frames between."""
    return record(folder / "plain.mp4", map(numbered, range(100)))


@pytest.fixture(scope="session")
def one_key(folder: Path) -> Path:
    """Forty seconds with a single key frame."""
    return record(folder / "one key.mp4", map(numbered, range(400)), gop=1000)
