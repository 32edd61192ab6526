"""Keys go from the environment to the server, and nowhere else; what is wrong with them is one line."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.server.running import ModelServer, model_server
from tests.video.recordings import record_talk

PLANTED = "planted-key-0123456789"
SMALL = (
    "preset=tiny",
    "executor.workers=1",
    "samples.videos=2",
    "samples.questions=3",
    "questioner.per_video=4",
    "evolution.videos_per_round=2",
    "evolution.evolution_questions=3",
    "evolution.validation_questions=3",
    "evolution.race=[2,3]",
    "evolution.candidates=1",
)


def run(
    folder: Path, command: str, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """A command in a folder, with a cache of its own; it has to end within a minute or two."""
    return subprocess.run(
        [sys.executable, "-m", f"evoharness.{command}", *arguments],
        cwd=folder,
        env={**os.environ, "EVOHARNESS_CACHE": str(folder / "cache"), "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def at(address: str) -> list[str]:
    return [
        "backbone=vllm",
        f"backbone.api_base={address}",
        "backbone.models.default=hosted_vllm/embedded",
        "display=plain",
    ]


def test_a_planted_key_reaches_the_server_and_no_file_log_or_report(tmp_path: Path) -> None:
    environment = {"MY_KEY": PLANTED, "OPENAI_API_KEY": f"other-{PLANTED}", "HF_TOKEN": f"third-{PLANTED}"}
    with model_server(key=PLANTED) as server:
        server.fail(0.2)  # what goes wrong is told, too
        hosted = [*at(server.address), "backbone.key=MY_KEY", "backbone.rates.attempts=8"]
        made = run(tmp_path, "evolve", *SMALL, *hosted, **environment)
        assert made.returncode == 0, made.stderr
        assert server.counts().calls > 20
    report = run(tmp_path, "report", "run=latest", **environment)
    doctor = run(tmp_path, "doctor", **environment)
    assert report.returncode == doctor.returncode == 0
    for ended in (made, report, doctor):
        assert PLANTED not in ended.stdout + ended.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"report.html", "config.yaml", "events.jsonl", "responses.sqlite"} <= {file.name for file in files}
    assert "MY_KEY" in next(file for file in files if file.name == "config.yaml").read_text()
    assert [file for file in files if PLANTED.encode() in file.read_bytes()] == []


@pytest.fixture(scope="module")
def server() -> "pytest.FixtureRequest":  # type: ignore[misc]
    """A server that wants a key and serves one model."""
    with model_server(key=PLANTED, workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = record_talk(tmp_path_factory.mktemp("talk") / "talk.mp4", seconds=12)
    path.with_name("questions.jsonl").write_text(
        '{"video": "talk.mp4", "question": "What is shown?", "options": ["bars", "dog"], "answer": "bars"}\n'
    )
    return path


def commands(talk: Path) -> dict[str, list[str]]:
    questions = str(talk.with_name("questions.jsonl"))
    return {
        "ask": [f"video={talk}", "question=What is shown?"],
        "evaluate": [f"questions={questions}", f"videos={talk.parent}"],
        "evolve": [f"videos={talk.parent}", f"questions={questions}", "preset=tiny"],
        "memorize": [f"video={talk}"],
    }


@pytest.mark.parametrize("command", ["ask", "evaluate", "evolve", "memorize"])
def test_a_mistake_is_one_line_within_seconds_and_leaves_no_run(
    command: str, talk: Path, server: ModelServer, tmp_path: Path
) -> None:
    arguments = commands(talk)[command]
    here = at(server.address)
    mistakes = {
        "the environment variable NOT_SET": ([*here, "backbone.key=NOT_SET"], {}),
        "wants a key for hosted_vllm/embedded (HTTP 401)": (here, {"HOSTED_VLLM_API_KEY": ""}),
        "does not accept the key in MY_KEY (HTTP 401)": ([*here, "backbone.key=MY_KEY"], {"MY_KEY": "wrong"}),
        "has no model 'nothing'": (
            [*here, "backbone.key=MY_KEY", "backbone.models.default=hosted_vllm/nothing"],
            {"MY_KEY": PLANTED},
        ),
        "http://127.0.0.1:9/v1 cannot be reached": (at("http://127.0.0.1:9/v1"), {}),
    }
    if command != "ask":  # the commands share the check: what servers answer is tried with one of them
        del mistakes["wants a key for hosted_vllm/embedded (HTTP 401)"]
        del mistakes["does not accept the key in MY_KEY (HTTP 401)"]
    for said, (given, environment) in mistakes.items():
        began = time.monotonic()
        ended = run(tmp_path, command, *arguments, *given, **environment)
        assert ended.returncode == 2, (said, ended.stdout, ended.stderr)
        assert said in ended.stderr
        assert ended.stderr.startswith(f"{command}: ")
        assert ended.stderr.count("\n") == 1
        assert ended.stdout == ""
        assert time.monotonic() - began < 15
    assert not list(tmp_path.glob("runs/*"))


def test_a_key_that_is_missing_is_told_before_litellm_is_imported(talk: Path, tmp_path: Path) -> None:
    keys = {"OPENAI_API_KEY": "", "GEMINI_API_KEY": "", "GOOGLE_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    for name, variable in {"openai": "OPENAI_API_KEY", "medclaw": "ANTHROPIC_API_KEY"}.items():
        ended = run(
            tmp_path, "ask", *commands(talk)["ask"], f"backbone={name}", PYTHONPROFILEIMPORTTIME="1", **keys
        )
        assert ended.returncode == 2
        told = [line for line in ended.stderr.splitlines() if not line.startswith("import time")]
        assert len(told) == 1
        assert variable in told[0]
        assert "| litellm" not in ended.stderr
