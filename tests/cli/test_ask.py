"""Scripts see by the exit code of `ask` whether there is an answer."""

from pathlib import Path

import pytest

from evoharness.ask import COMMAND
from evoharness.cli import run_command
from evoharness.harness import initial_harness, save_harness
from tests.solver.standins import write_video


@pytest.mark.parametrize(
    ("returned", "code", "said"),
    [
        ("{'choice': 1, 'text': 'no'}", 0, "B. no"),
        ("{'choice': 7}", 1, "no answer (unparsed): the strategy returned"),
        ("1 / 0", 1, "no answer (sandbox:strategy_error): "),
    ],
)
def test_without_an_answer_the_exit_code_is_1(
    returned: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strategy = f"def strategy(ctx, question):\n    return {returned}\n"
    save_harness(initial_harness().with_strategy("overview", strategy), tmp_path / "harness")
    given = [
        f"video={write_video(tmp_path / 'clip.mp4', 2)}",
        "question=Is it red?",
        'options=["yes", "no"]',
        f"harness={tmp_path / 'harness'}",
        f"cache={tmp_path / 'cache'}",
    ]
    assert run_command(COMMAND, given) == code
    told = capsys.readouterr()
    assert told.out.startswith(said)
    assert told.err == ""


@pytest.mark.parametrize("workers", [0, -1])
def test_no_worker_is_too_few_here_too(
    workers: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    video = write_video(tmp_path / "clip.mp4", 2)
    given = [f"video={video}", "question=Is it red?", f"cache={tmp_path}", f"executor.workers={workers}"]
    assert run_command(COMMAND, given) == 2
    assert capsys.readouterr().err == f"ask: executor.workers={workers}: at least 1 is needed\n"
