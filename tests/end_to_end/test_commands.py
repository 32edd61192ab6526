"""The other commands, on what a run left behind and on files with any name."""

import csv
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from evoharness.config import CONFIGS
from tests.end_to_end.conftest import GROUP, Finished, World

pytestmark = GROUP

ODD = "leçon 1 = 'a', [b] ~ (c) #%?.mp4"


def exported(tiny: Finished, world: World) -> Path:
    ended = world.run("export", f"run={tiny.path}", "out=my, harness (1)")
    assert ended.code == 0, ended.text
    return world.folder / "my, harness (1)"


def test_an_exported_harness_is_loaded_by_ask(tiny: Finished, world: World) -> None:
    shutil.copy(tiny.samples[0], world.folder / ODD)
    exported(tiny, world)
    ended = world.run(
        "ask",
        f"video={ODD}",
        "question=Which one is it: a = b, (really)?",
        'options=["it\'s the \\"first\\", I think", "the second = [2]"]',
        "harness=my, harness (1)",
        "trace=true",
    )
    assert ended.code == 0, ended.text
    assert 'A. it\'s the "first", I think' in ended.out or "B. the second = [2]" in ended.out
    assert "strategy overview" in ended.out
    assert "look(" in ended.out


def test_any_harness_of_a_run_is_exported(tiny: Finished, world: World) -> None:
    fingerprint = tiny.summary["initial"]
    for which in ("initial", fingerprint[:10]):
        ended = world.run("export", f"run={tiny.path}", f"out={which}", f"harness={which}")
        assert ended.code == 0, ended.text
        sums = json.loads((world.folder / which / "checksums.json").read_text())
        assert sums["fingerprint"] == fingerprint


def test_two_harnesses_are_compared_on_a_question_file_made_by_hand(tiny: Finished, world: World) -> None:
    shutil.copy(tiny.samples[0], world.folder / ODD)
    exported(tiny, world)
    with (world.folder / "my, questions = 1.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["video", "question", "A", "B", "answer", "kind"])
        writer.writerow([ODD, "Is a text shown, or none?", "a text", "none", "A", "topic"])
        writer.writerow([ODD, "How many circles (red) are there?", "one", "two", "two", "counting"])
    ended = world.run(
        "evaluate",
        "questions=my, questions = 1.csv",
        "harness=my, harness (1)",
        "against=initial",
        "executor=inline",
    )
    assert ended.code == 0, ended.text
    assert "counting" in ended.out
    assert re.search(r"p [=<] ", ended.out)
    (run,) = (world.folder / "runs").iterdir()
    summary = json.loads((run / "summary.json").read_text())
    assert summary["questions"] == 2
    assert 0 <= summary["harness"]["accuracy"] <= 1
    assert set(summary["harness"]["by_kind"]) == {"topic", "counting"}
    assert (run / "outcomes.sqlite").is_file()


def test_a_step_of_each_parameter_is_tried_and_those_that_change_nothing_are_named(
    tiny: Finished, world: World
) -> None:
    shutil.copy(tiny.samples[0], world.folder / "film.mp4")
    line = {"video": "film.mp4", "question": "Is a text shown?", "options": ["yes", "no"], "answer": 0}
    (world.folder / "questions.jsonl").write_text(json.dumps(line))
    ended = world.run("evaluate", "questions=questions.jsonl", "parameters=true", "executor=inline")
    assert ended.code == 0, ended.text
    assert "overview_fps 1.0 → 2.0" in ended.out
    (named,) = (row for row in ended.out.splitlines() if row.startswith("change no answer here: "))
    assert "replay_fps" in named, "a short film is answered without its memory"
    (run,) = (world.folder / "runs").iterdir()
    effects = json.loads((run / "parameters.json").read_text())
    (faster,) = (effect for effect in effects if effect["change"] == "overview_fps 1.0 → 2.0")
    assert faster["questions"] == 1
    assert faster["looks"] == 1


def test_an_exported_harness_that_was_tampered_with_is_refused(tiny: Finished, world: World) -> None:
    folder = exported(tiny, world)
    strategy = folder / "strategies" / "overview.py"
    strategy.write_text(strategy.read_text() + "\n# one more line\n")
    ended = world.run("ask", f"video={tiny.samples[0]}", "question=What?", "harness=my, harness (1)")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert "overview.py" in ended.err


def test_a_memory_is_shown_as_a_tree(tiny: Finished, world: World) -> None:
    shutil.copy(tiny.samples[1], world.folder / ODD)
    ended = world.run("memorize", f"video={ODD}", "show=true")
    assert ended.code == 0, ended.text
    assert "s0000" in ended.out
    assert "1 memory in " in ended.out
    assert "memory.fps=0.5 " in ended.out


def test_a_memory_is_found_by_the_settings_that_memorize_prints(tiny: Finished, world: World) -> None:
    shutil.copy(tiny.samples[1], world.folder / ODD)
    memories = world.cache / "memories"
    first = world.run("memorize", f"video={ODD}", "memory.fps=0.25")
    known = set(memories.iterdir())
    settings = [word for word in first.out.split() if word.startswith("memory.")]
    assert "memory.fps=0.25" in settings
    again = world.run("memorize", f"video={ODD}", *settings)
    assert again.code == 0, again.text
    assert set(memories.iterdir()) == known


def test_a_run_becomes_a_page(tiny: Finished, world: World) -> None:
    ended = world.run("report", f"run={tiny.path}", "out=page = (1).html")
    assert ended.code == 0, ended.text
    page = (world.folder / "page = (1).html").read_text(encoding="utf-8")
    assert tiny.path.name in page
    assert "Sealed test" in page


def test_doctor_finds_the_default_in_order_and_no_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret")
    ended = world.run("doctor")
    assert ended.code == 0, ended.text
    assert "everything that the default needs works" in ended.out
    assert "OPENAI_API_KEY" in ended.out
    assert "a-secret" not in ended.out


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("ask", ["question=What?"], "video"),
        ("ask", ["video=nowhere.mp4", "question=What?"], "nowhere.mp4"),
        ("ask", ["video=text.mp4", "question=What?"], "text.mp4"),
        ("ask", ["video=text.mp4", "question=What?", "options=one"], "options"),
        ("evaluate", [], "questions"),
        ("evaluate", ["questions=text.mp4"], "text.mp4"),
        ("memorize", ["videos=nowhere"], "nowhere"),
        ("memorize", ["videos=."], "text.mp4"),
        ("export", ["run=nowhere", "out=x"], "nowhere"),
        ("export", ["run=latest", "out=x"], "runs"),
        ("report", [], "run"),
        ("doctor", ["gate=paired"], "gate"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    world: World, command: str, arguments: list[str], said: str
) -> None:
    (world.folder / "text.mp4").write_text("no video at all")
    ended = world.run(command, *arguments)
    assert ended.code == 2, ended.text
    assert len(ended.err.splitlines()) == 1, ended.text
    assert said in ended.err + ended.out
    assert [path.name for path in world.folder.iterdir()] == ["text.mp4"]


@pytest.mark.parametrize("command", sorted(CONFIGS))
def test_help_comes_at_once(world: World, command: str) -> None:
    before = os.times()
    ended = world.run(command, "--help")
    after = os.times()
    assert ended.code == 0, ended.text
    assert "usage: python -m evoharness." in ended.out
    # Processor time: what it takes on a machine that does nothing else.
    taken = after.children_user + after.children_system - before.children_user - before.children_system
    assert taken < 1.5


def test_the_entry_modules_import_nothing_heavy() -> None:
    import subprocess

    heavy = (
        "numpy",
        "av",
        "cv2",
        "onnxruntime",
        "faiss",
        "networkx",
        "scipy",
        "litellm",
        "rapidocr",
        "hydra",
    )
    modules = ", ".join(f"evoharness.{command}" for command in sorted(CONFIGS))
    script = f"import sys, {modules}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
