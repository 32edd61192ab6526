"""`python -m evoharness.samples`, run as a user would."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import evoharness.samples
from evoharness.records.question import Question
from evoharness.records.storage import read_jsonl

ROOM = Path(evoharness.samples.__file__).parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evoharness.samples", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_renders_into_a_folder_with_an_odd_name(tmp_path: Path) -> None:
    out = tmp_path / 'vidéos d\'été = "x" [1]?'
    done = run(f"out={out}", "videos=2", "seed=3", "minutes=0.5", "questions=8")
    assert done.returncode == 0, done.stderr
    videos = sorted(out.glob("*.mp4"))
    assert len(videos) == 2
    assert len(done.stdout.splitlines()) == 4
    assert str(out) in done.stdout
    questions = read_jsonl(out / "questions.jsonl", Question)
    assert {q.video for q in questions} == {v.stem for v in videos}
    for video in videos:
        assert video.with_suffix(".srt").is_file()
        sheet = json.loads((out / "timelines" / f"{video.stem}.json").read_text(encoding="utf-8"))
        assert sheet["timeline"]["video"] == video.stem


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "out=… is needed"),
        (["videos=2"], "out=… is needed"),
        (["out= "], "out=… is needed"),
        (["out=x", "vidoes=2"], "did you mean videos?"),
        (["out=x", "--force"], "unknown option --force"),
        (["out=a\nb", "videos=two"], "videos=two"),
        (["out=x", "videos=two"], "videos=two"),
        (["out=x", "videos=0"], "videos=0"),
        (["out=x", "minutes=500"], "minutes=500"),
        (["out=x", "colour=red"], "no setting 'colour'"),
        (["x"], "key=value"),
        (["out=/proc/nowhere/samples"], "/proc/nowhere/samples"),
        ([f"out={__file__}"], "not a folder"),
        ([f"out={__file__}/below"], "cannot write"),
        (["out=" + "x" * 300], "too long"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("samples: ")
    assert said in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["out=x", "-h"]])
def test_help_can_be_asked_for_anywhere(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 0
    assert "out=DIR" in done.stdout


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "." * node.level)
    return {name for name in found if name.startswith((".", "evoharness"))}


def test_the_room_knows_nothing_of_those_who_answer() -> None:
    allowed = ("evoharness.samples", "evoharness.records", "evoharness.errors")
    for path in ROOM.rglob("*.py"):
        for name in imports(path):
            assert name.startswith(allowed), f"{path.name} imports {name}"


def test_those_who_answer_know_nothing_of_the_room() -> None:
    for room in ("models", "solver", "questioner", "memory", "harness", "sandbox", "retrieval", "video"):
        for path in (ROOM.parent / room).rglob("*.py"):
            assert not any(name.startswith("evoharness.samples") for name in imports(path)), path
