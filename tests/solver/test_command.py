"""`python -m evoharness.solver test`: the tests of a tool, run by hand on a video."""

import subprocess
import sys
from pathlib import Path

import pytest

from evoharness.samples import render_samples
from evoharness.solver.__main__ import main
from tests.solver.entity_counter import FILES, MANIFEST, SOURCE


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    (key,) = render_samples(folder, 1, 7, longest_minutes=0.6, workers=1).keys
    return next(folder.rglob(f"{key}.mp4"))


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "count_entities.py"


def test_a_sound_tool(
    tool: Path, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    assert main(["test", str(tool), str(recording), "--cache", str(cache)]) == 0
    assert capsys.readouterr().out == f"{tool}: passed 3 tests\n"
    assert list(cache.glob("memories/*/memory.json"))


def test_faults_of_a_tool_are_lines_and_exit_1(
    tool: Path, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool.write_text(SOURCE.replace("return count", "return str(count)"))
    assert main(["test", str(tool), str(recording)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"{tool}: test 1, arguments ")
    tool.with_suffix(".json").write_text(MANIFEST.replace("purpose", "aim"))
    assert main(["test", str(tool), str(recording)]) == 1
    assert "count_entities.json: purpose: is missing" in capsys.readouterr().out


def test_mistakes_are_one_line_and_exit_2(
    tool: Path, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for arguments in (
        [tmp_path / "nothing.py", recording],
        [tool, tmp_path / "nothing.mp4"],
        [tool, tool],
        [tool, recording, "--cache", tmp_path / "file"],
    ):
        assert main(["test", *map(str, arguments)]) == 2
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1, said


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom evoharness.solver.__main__ import main\ntry: main(['test', '--help'])\n"
        "except SystemExit: pass\nprint(sorted({'numpy', 'av', 'RestrictedPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "TOOL.py" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
