"""Mistakes in what is to be remembered are told before anything is built."""

from pathlib import Path

import pytest

from evoharness.cli import run_command
from evoharness.memorize import COMMAND


def test_video_and_videos_together_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = tmp_path / "cache"
    assert run_command(COMMAND, ["videos=films/", "video=talk.mp4", f"cache={cache}"]) == 2
    told = capsys.readouterr()
    assert told.err == "memorize: video= and videos= are both given: one of them says what is remembered\n"
    assert told.out == ""
    assert not cache.exists()
