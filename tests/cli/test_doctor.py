"""What the doctor's exit code says: 0 when the default can work on this machine, else 1."""

import sys
from pathlib import Path

import pytest

from evoharness.cli import run_command
from evoharness.doctor import CHECKS, COMMAND


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    return [f"cache={tmp_path / 'cache'}", f"runs={tmp_path / 'runs'}"]


def test_all_is_well(folders: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(COMMAND, folders) == 0
    assert "everything that the default needs works" in capsys.readouterr().out


def test_without_a_sandbox_or_a_reader_it_ends_with_1_and_still_says_everything(
    folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(tmp_path / "no-python"))
        assert run_command(COMMAND, folders) == 1
    said = capsys.readouterr().out
    assert "sandbox      DOES NOT WORK" in said
    assert all(f"\n{name} " in f"\n{said}" for name in [*dict(CHECKS), "cache", "runs"])
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "av", None)
        assert run_command(COMMAND, folders) == 1
    assert "readers      DOES NOT WORK" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_is_a_problem(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run_command(COMMAND, [folders[0], f"runs={tmp_path / 'file' / 'runs'}"]) == 1
    assert "1 of these need attention" in capsys.readouterr().out


def test_it_says_which_models_could_be_used_and_never_shows_a_key(
    folders: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY")
    for name in (*missing, "DASHSCOPE_API_KEY", "NEBIUS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key")
    assert run_command(COMMAND, folders) == 0
    said = capsys.readouterr().out
    assert "planted-key" not in said
    assert "backbone=embedded         ready" in said
    assert "backbone=openai           OPENAI_API_KEY set" in said
    assert "backbone=gemini           GOOGLE_API_KEY or GEMINI_API_KEY not set" in said
    (medclaw,) = (line for line in said.splitlines() if "backbone=medclaw" in line)
    assert "DEEPSEEK_API_KEY not set; OPENAI_API_KEY set" in medclaw
    assert "backbone=videoevoharness  DASHSCOPE_API_KEY, NEBIUS_API_KEY not set" in said
