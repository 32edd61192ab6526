"""A provider that fails everybody in the middle of the main job: it costs time, and no result."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import SEED, Ended, World
from tests.end_to_end.test_hosted import Hosted, paid, served, through
from tests.server import ModelServer, model_server

pytestmark = pytest.mark.xdist_group("hosted")

PACE_S = 0.05


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def small(server: ModelServer) -> list[str]:
    return [
        "preset=tiny",
        f"seed={SEED}",
        "gate=argmax",
        "gate.observation=free",
        "harness.parameters.overview_fps=0.1",
        "display=plain",
        *through(server),
        "backbone.options.retries={first_wait_s: 0.02}",
    ]


def asked(server: ModelServer, running: "subprocess.Popen[str]", requests: int) -> None:
    """Wait until so many requests have been made."""
    while running.poll() is None and server.counts().requests < requests:
        time.sleep(0.05)
    assert running.poll() is None, running.communicate()


def ended(running: "subprocess.Popen[str]") -> Ended:
    with running as process:
        out, err = process.communicate(timeout=120)
    return Ended(process.returncode, out, err)


def check_cut_short(run: Path, end: Ended, said: str) -> None:
    assert end.code == 2, end.text
    assert "Traceback" not in end.text
    (line,) = end.err.splitlines()
    assert said in line
    assert line.endswith(f"go on with: python -m evoharness.evolve resume=runs/{run.name}")
    assert not (run / "summary.json").exists()
    assert not (run / "test.json").exists()


def test_outages_cost_time_and_no_result(server: ModelServer, tmp_path: Path) -> None:
    server.reset()
    server.pace(PACE_S)
    world = World(tmp_path / "met", tmp_path / "cache")
    world.folder.mkdir()
    first = world.start("evolve", *small(server), "executor.outage_s=3")
    asked(server, first, 40)
    server.always("error_401")
    end = ended(first)
    (run,) = (world.folder / "runs").iterdir()
    check_cut_short(run, end, "is not accepted")

    server.fail(0)
    second = world.start("evolve", "resume=latest", "executor.outage_s=3")
    asked(server, second, server.counts().requests + 30)
    server.always("error_500")
    end = ended(second)
    check_cut_short(run, end, "it was waited for")
    assert "waiting for it, for 3 s at most" in end.out

    server.fail(0)
    third = world.start("evolve", "resume=latest", "executor.outage_s=60")
    asked(server, third, server.counts().requests + 15)
    server.always("error_500")
    time.sleep(4)
    server.fail(0)
    end = ended(third)
    assert end.code == 0, end.text
    assert "the provider answers again" in end.out
    met = Hosted(run, end, server.counts())
    assert paid(met) == served(met.counts)

    never = World(tmp_path / "never met", world.cache)
    never.folder.mkdir()
    end = never.run("evolve", *small(server))
    assert end.code == 0, end.text
    (path,) = (never.folder / "runs").iterdir()
    assert Hosted(path, end, server.counts()).decisions == met.decisions


def questions_about(video: Path, folder: Path) -> list[str]:
    lines = [
        {"video": video.name, "question": f"Is it {n}?", "options": ["yes", "no"], "answer": 0}
        for n in range(6)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return ["questions=questions.jsonl", f"videos={video}", "display=plain", "backbone.cache=off"]


@pytest.mark.parametrize(("fault", "said"), [("error_401", "is not accepted"), ("error_500", "waited for")])
def test_an_evaluation_without_answers_is_no_evaluation(
    server: ModelServer, tmp_path: Path, video: Path, fault: str, said: str
) -> None:
    server.reset()
    server.script(*["ok"] * 2, *[fault] * 500)
    world = World(tmp_path, tmp_path / "cache")
    arguments = [*questions_about(video, tmp_path), *through(server), "executor.outage_s=2"]
    end = world.run(
        "evaluate", *arguments, "executor.in_flight=4", "backbone.options.retries={first_wait_s: 0.02}"
    )
    assert end.code == 2, end.text
    (line,) = end.err.splitlines()
    assert line.startswith("evaluate: ")
    assert said in line
    (run,) = (tmp_path / "runs").iterdir()
    summary = json.loads((run / "summary.json").read_text())
    assert said in summary["ended"]
    assert summary["questions"] < 6
    server.reset()


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video of plain colours."""
    from tests.evolution.colour_world import write_video

    return write_video(tmp_path_factory.mktemp("video") / "one.mp4", [("grey", 4.0), ("red", 2.0)])
