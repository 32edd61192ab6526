"""The main job from the command line: a run, its files, going on after a kill, sweeps, people's own files."""

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import GROUP, SEED, Finished, World

pytestmark = GROUP


def test_the_run_ends_with_its_tables(tiny: Finished) -> None:
    assert "validation, by round" in tiny.ended.out
    assert "sealed test, " in tiny.ended.out
    assert re.search(r"p [=<] ", tiny.ended.out)
    assert tiny.ended.err == ""


def test_nothing_but_the_run_is_left_in_the_folder(tiny: Finished) -> None:
    assert [path.name for path in tiny.world.folder.iterdir()] == ["runs"]


def test_the_run_is_laid_out_as_documented(tiny: Finished) -> None:
    for name in (
        "config.yaml",
        "run.json",
        "events.jsonl",
        "outcomes.sqlite",
        "summary.json",
        "rounds/01/questions/evolution.jsonl",
        "rounds/01/questions/validation.jsonl",
        "rounds/01/policy.json",
        "rounds/01/diagnosis.json",
    ):
        assert (tiny.path / name).is_file(), name
    folders = {path.name for path in tiny.path.iterdir() if path.is_dir()}
    assert folders == {"harnesses", "inputs", "rounds"}
    facts = json.loads((tiny.path / "run.json").read_text())
    assert facts["seed"] == SEED
    assert facts["backbones"]
    assert facts["sandbox"]
    assert "hydra-core" in facts["packages"]
    assert all(json.loads(line)["event"] for line in (tiny.path / "events.jsonl").read_text().splitlines())


def test_the_summary_holds_what_people_build_on(tiny: Finished) -> None:
    summary = tiny.summary
    assert summary["status"] in {"finished", "underpowered", "indecisive"}
    assert summary["seed"] == SEED
    assert summary["calls"] > 0
    assert summary["cost_usd"] == 0
    assert summary["seconds"] > 0
    (only,) = summary["rounds"]
    assert only["videos"] == 3
    counts = only["questions"]
    assert counts["generated"] >= counts["retained"] >= counts["evolution"] + counts["validation"] > 0
    assert {"J", "blind", "oracle", "coverage", "difficulty", "removed"} <= set(only["quality"])
    assert {"candidates", "retained"} <= set(only)
    assert {"incumbent", "candidate", "p_value"} <= set(only["validation"])
    assert 0 <= only["validation"]["incumbent"] <= 1
    test = summary["test"]
    assert test["questions"] > 0
    assert 0 <= test["initial"] <= 1
    assert 0 <= test["final"] <= 1
    assert test["p_value"] is not None
    assert test["frames"]["initial"] > 0
    assert test["frames"]["final"] > 0


def result(summary: dict[str, Any]) -> dict[str, Any]:
    """What has to be the same however often a run was stopped."""
    return {name: summary[name] for name in ("status", "initial", "final", "rounds", "test")}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_goes_on_to_the_same_end(
    tiny: Finished, world: World, how: signal.Signals
) -> None:
    with world.start("evolve", "preset=tiny", f"seed={SEED}") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "filtering questions" in line:
                break
        os.kill(process.pid, how)
        out, err = process.communicate(timeout=120)
    (run,) = (world.folder / "runs").iterdir()
    assert not (run / "summary.json").exists()
    if how is signal.SIGINT:
        assert process.returncode == 130, err
        assert f"resume=runs/{run.name}" in out
        assert err == ""
    refused = world.run("evolve", f"resume=runs/{run.name}", "seed=4")
    assert refused.code == 2
    assert "seed" in refused.err
    resumed = world.run("evolve", f"resume=runs/{run.name}", "executor=inline")
    assert resumed.code == 0, resumed.text
    assert result(json.loads((run / "summary.json").read_text())) == result(tiny.summary)


def test_a_finished_run_is_not_run_again(tiny: Finished) -> None:
    before = tiny.summary
    again = tiny.world.run("evolve", "resume=latest")
    assert again.code == 0, again.text
    assert "sealed test, " in again.out
    assert tiny.summary == before


@pytest.mark.usefixtures("tiny")
def test_a_sweep_runs_every_combination_and_ends_with_a_table(world: World) -> None:
    ended = world.run("evolve", "-m", "preset=tiny", f"seed={SEED}", "gate=paired,argmax", "name=a, b")
    assert ended.code == 0, ended.text
    (sweep,) = (world.folder / "runs" / "sweeps").iterdir()
    gates = [json.loads((sweep / number / "summary.json").read_text())["gate"] for number in ("0", "1")]
    assert gates == ["paired", "argmax"]
    table = ended.out.split("2 jobs in ")[1]
    assert "gate=paired" in table
    assert "gate=argmax" in table


def test_peoples_own_files_whatever_they_are_called(tiny: Finished, world: World) -> None:
    folder = world.folder / "été = [2], it's (mine)"
    folder.mkdir()
    for number, path in enumerate(tiny.samples[:3]):
        shutil.copy(path, folder / f"leçon {number} = 'a', [b] ~ (c) #%.mp4")
    (folder / "not a video?.mp4").write_bytes(b"nothing")
    ended = world.run("evolve", "preset=tiny", f"videos={folder}", "name=mine, (1)", "runs=my runs")
    assert ended.code == 0, ended.text
    assert "not a video?.mp4" in "".join(line for line in ended.out.splitlines() if "skipped" in line)
    (run,) = (world.folder / "my runs").iterdir()
    assert json.loads((run / "summary.json").read_text())["test"] is None


def blank_video(path: Path) -> None:
    import av
    import numpy as np

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=5)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        for _ in range(10):
            frame = av.VideoFrame.from_ndarray(np.full((180, 320, 3), 128, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def test_too_little_to_decide_anything_is_no_failure(world: World) -> None:
    blank_video(world.folder / "blank.mp4")
    ended = world.run("evolve", "preset=tiny", "videos=blank.mp4")
    assert ended.code == 0, ended.text
    (run,) = (world.folder / "runs").iterdir()
    assert json.loads((run / "summary.json").read_text())["status"] in {"no_questions", "underpowered"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["videos=nowhere/"], "nowhere"),
        (["videos=empty"], "no video"),
        (["videos=texts"], "note.mp4"),
        (["videos=~nobody/x"], "~nobody"),
        (["runs=file/runs"], "file"),
        (["harness=nowhere"], "nowhere"),
        (["harness.parameters.frame_cap=-1"], "frame_cap"),
        (["questions=nowhere.jsonl", "videos=texts"], "nowhere.jsonl"),
        (["test.videos=texts"], "test.questions"),
        (["backbone.name=nothing"], "nothing"),
        (["sandbox.backend=nothing"], "nothing"),
        (["display=loud"], "loud"),
        (["resume=nowhere"], "nowhere"),
        (["memory.fbs=1"], "fbs"),
        (["evolution.rounds=0"], "rounds"),
        (["executor.workers=0"], "workers"),
        (["gate.name=nothing"], "nothing"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(world: World, arguments: list[str], said: str) -> None:
    (world.folder / "empty").mkdir()
    (world.folder / "texts").mkdir()
    (world.folder / "texts" / "note.mp4").write_text("a note")
    (world.folder / "file").write_text("")
    before = sorted(world.folder.rglob("*"))
    ended = world.run("evolve", *arguments)
    assert ended.code == 2, ended.text
    assert len(ended.err.splitlines()) == 1, ended.text
    assert said in ended.err + ended.out
    assert "Traceback" not in ended.out
    left = [path for path in sorted(world.folder.rglob("*")) if path not in before]
    assert left == [], "a mistake leaves no half-made run"
