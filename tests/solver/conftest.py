"""Shared by the tests of the Solver: one sandbox, a few small videos."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.sandbox import ProcessSandbox
from evoharness.video import Video
from tests.solver.standins import write_video


@pytest.fixture(scope="session")
def sandbox() -> Iterator[ProcessSandbox]:
    running = ProcessSandbox()
    yield running
    running.close()


@pytest.fixture(scope="session")
def minute(tmp_path_factory: pytest.TempPathFactory) -> Video:
    return Video(write_video(tmp_path_factory.mktemp("videos") / "a minute.mp4", 60))


@pytest.fixture(scope="session")
def quarter(tmp_path_factory: pytest.TempPathFactory) -> Video:
    return Video(write_video(Path(tmp_path_factory.mktemp("videos")) / "quarter.mp4", 900, (64, 64)))
