"""The main job with models behind a network: a provider that is well, one that is not, one asked before."""

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from evoharness.models.budget import BUDGET_FILE, Budget, Caps
from evoharness.records.spend import Spend, total
from tests.end_to_end.conftest import SEED, Ended, Run, World
from tests.server import Counts, ModelServer, model_server
from tests.server.faults import LOST

pytestmark = pytest.mark.xdist_group("hosted")

FAULTY = 0.2
"""Share of all first attempts."""
PACE_S = 0.3
"""How long the provider takes for an answer, in the run that is then done again from the cache."""


@dataclass(frozen=True)
class Hosted(Run):
    """A finished run, and what the server says of it."""

    ended: Ended
    counts: Counts

    @property
    def seconds(self) -> float:
        """What the stages of its round took."""
        events = map(json.loads, (self.path / "events.jsonl").read_text().splitlines())
        stages = [event for event in events if event["event"] == "stage" and event["round"] == 1]
        return sum(float(stage["seconds"]) for stage in stages)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder for the sample videos, and for what models said to the run below."""
    return tmp_path_factory.mktemp("samples")


@pytest.fixture(scope="module")
def well(server: ModelServer, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Hosted:
    """A run with a provider that never fails. Its cache is in `samples`."""
    server.reset()
    server.pace(PACE_S)
    return evolved(server, World(tmp_path_factory.mktemp("well"), samples))


def evolved(server: ModelServer, world: World) -> Hosted:
    """A run that begins with a harness that hardly looks, so that there is something to gain."""
    ended = world.run(
        "evolve",
        "preset=tiny",
        f"seed={SEED}",
        "gate=argmax",
        "gate.observation=free",
        "harness.parameters.overview_fps=0.1",
        "display=plain",
        *through(server),
    )
    assert ended.code == 0, ended.text
    (path,) = (world.folder / "runs").iterdir()
    return Hosted(path, ended, server.counts())


def through(server: ModelServer) -> list[str]:
    """The settings that lead to the server."""
    return [
        "backbone=vllm",
        f"backbone.api_base={server.address}",
        "backbone.models.default=hosted_vllm/embedded",
        "backbone.options.retries={first_wait_s: 0.2}",
    ]


def paid(run: Hosted) -> tuple[int, int, int]:
    """Calls and tokens of all roles."""
    roles = run.summary["paid"].values()
    return (
        sum(role["calls"] for role in roles),
        sum(role["input_tokens"] for role in roles),
        sum(role["output_tokens"] for role in roles),
    )


def served(counts: Counts) -> tuple[int, int, int]:
    """The same, as the server counted it."""
    return counts.calls, counts.prompt_tokens, counts.completion_tokens


def test_a_run_with_hosted_models_evolves_a_harness(well: Hosted) -> None:
    assert well.ended.err == ""
    assert "Traceback" not in well.ended.out
    assert well.summary["final"] != well.summary["initial"]
    assert set(well.summary["paid"]) == {"describer", "video_expert", "solver", "blind_answerer"}
    assert well.counts.faults == {}


def test_what_was_paid_is_what_the_provider_counted(well: Hosted) -> None:
    assert paid(well) == served(well.counts)
    assert well.counts.calls == well.counts.requests > 100


def test_faults_cost_time_and_no_result(
    well: Hosted, server: ModelServer, samples: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    shutil.copytree(samples / "samples", cache / "samples")
    server.reset()
    server.fail(FAULTY)
    folder = tmp_path / "faulty"
    folder.mkdir()
    faulty = evolved(server, World(folder, cache))
    failed = sum(faulty.counts.faults.values())
    assert failed > 0.1 * well.counts.requests
    assert len(faulty.counts.faults) >= 8, "of every sort"
    assert faulty.decisions == well.decisions
    assert faulty.ended.err == ""
    assert "Traceback" not in faulty.ended.out
    assert paid(faulty) == served(faulty.counts)
    assert sum(faulty.counts.faults[kind] for kind in LOST if kind in faulty.counts.faults) > 5
    assert faulty.counts.calls > well.counts.calls, "what was lost on the way was worked out all the same"
    books = Budget(faulty.path / BUDGET_FILE, Caps())
    by_role = {role: Spend(**spend) for role, spend in faulty.summary["paid"].items()}
    assert books.used_by_role() == by_role
    assert (books.used(), books.lost(), books.in_flight()) == (total(by_role), Spend(), 0)


def test_a_finished_round_again_asks_nobody_and_takes_a_tenth_of_the_time(
    well: Hosted, server: ModelServer, samples: Path, tmp_path: Path
) -> None:
    server.reset()
    again = evolved(server, World(tmp_path, samples))
    assert again.counts.requests == 0
    assert again.decisions == well.decisions
    assert paid(again) == (0, 0, 0)
    assert re.search(r"\d+ calls? (was|were) answered from the response cache", again.ended.out)
    assert again.seconds < 0.1 * well.seconds


def test_a_model_that_refuses_is_an_outcome_and_no_failure(
    well: Hosted, server: ModelServer, samples: Path, tmp_path: Path
) -> None:
    assert well.counts.calls
    video = next((samples / "samples").glob("*/*.mp4"))
    kinds = ("refusal", "blocked", "empty_choices", "filtered")
    lines = [
        {"video": video.name, "question": f"Is it {kind}?", "options": ["yes", "no"], "answer": 0}
        for kind in kinds
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    server.reset()
    server.script("refusal", "blocked", "empty_choices", "empty_choices", "filtered")
    ended = World(tmp_path, samples).run(
        "evaluate",
        "questions=questions.jsonl",
        f"videos={video}",
        "executor=inline",
        "backbone.cache=off",
        *through(server),
    )
    assert ended.code == 0, ended.text
    assert ended.err == ""
    (run,) = (tmp_path / "runs").iterdir()
    measured = json.loads((run / "summary.json").read_text())["harness"]
    assert measured["statuses"] == {"refused": 4}
    assert measured["accuracy"] == 0.0
    counts = server.counts()
    assert counts.requests == 5, "only where nothing was said at all, it is asked once more"
    assert counts.calls == 4, "what was blocked before it was read is not paid for"
    server.reset()


def test_calls_in_flight_of_a_worker_that_is_killed_are_paid_for(
    well: Hosted, server: ModelServer, samples: Path, tmp_path: Path
) -> None:
    assert well.counts.calls
    video = next((samples / "samples").glob("*/*.mp4"))
    lines = [
        {"video": video.name, "question": f"Is it {number}?", "options": ["yes", "no"], "answer": 0}
        for number in range(8)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    server.reset()
    server.pace(5.0)
    running = World(tmp_path, tmp_path / "cache").start(
        "evaluate",
        "questions=questions.jsonl",
        f"videos={video}",
        "executor.workers=1",
        "executor.in_flight=8",
        *through(server),
    )
    patience = time.monotonic() + 120
    while server.counts().open < 8:  # all of them with the server, and none answered
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < patience
        time.sleep(0.02)
    (worker,) = workers_of(running.pid)
    os.kill(worker, signal.SIGKILL)
    server.pace(0.0)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0, (out, err)
    assert "Traceback" not in out + err
    (run,) = (tmp_path / "runs").iterdir()
    summary = json.loads((run / "summary.json").read_text())
    assert summary["harness"]["statuses"] == {"ok": 8}
    assert summary["lost"]["calls"] == 0
    while (counts := server.counts()).open:
        time.sleep(0.02)
    assert counts.calls == counts.requests == 8 + 16, "it went on answering those who were gone"
    spent = total({role: Spend(**spend) for role, spend in summary["paid"].items()})
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == served(counts)


def workers_of(process: int) -> list[int]:
    """The worker processes of a command."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            parent = re.search(r"^PPid:\s+(\d+)$", status.read_text(), re.MULTILINE)
            command = (status.parent / "cmdline").read_bytes()
            if parent is not None and int(parent[1]) == process and b"spawn_main" in command:
                found.append(int(status.parent.name))
    return sorted(found)
