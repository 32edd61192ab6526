"""A harness whose code cannot run is told before anything is answered."""

import subprocess
import sys
from pathlib import Path

import pytest

from evoharness.harness import initial_harness, save_harness
from tests.solver.standins import write_video


@pytest.mark.parametrize("command", ["ask", "evolve"])
def test_code_that_the_language_does_not_allow_is_one_line(command: str, tmp_path: Path) -> None:
    broken = initial_harness().with_strategy(
        "overview", "import re\n\ndef strategy(ctx, question):\n    return 1\n"
    )
    save_harness(broken, tmp_path / "harness")
    given = [f"harness={tmp_path / 'harness'}", f"cache={tmp_path / 'cache'}"]
    if command == "ask":
        given += [f"video={write_video(tmp_path / 'clip.mp4', 2)}", "question='what is shown?'"]
    else:
        given += ["preset=tiny", f"runs={tmp_path / 'runs'}"]
    done = subprocess.run(
        [sys.executable, "-m", f"evoharness.{command}", *given],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"{command}: the harness cannot run: strategies/overview.py, "
        "line 1: 're' is not available; use ctx.find(pattern, text)"
    )
    assert not (tmp_path / "runs").exists()
