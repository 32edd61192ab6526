"""Runs with models and an embedder behind a network: alone, and two at once on one cache."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evoharness.models.budget import BUDGET_FILE, Budget, Caps
from evoharness.records.spend import Spend, total
from tests.end_to_end.conftest import SEED, Run, World
from tests.server import Counts, ModelServer, model_server

pytestmark = pytest.mark.xdist_group("at_once")


class Ran(Run):
    """A finished run."""

    @property
    def paid(self) -> dict[str, Spend]:
        """What it paid, by role."""
        return {role: Spend(**spend) for role, spend in self.summary["paid"].items()}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def arguments(server: ModelServer) -> list[str]:
    """Of a small run that asks the server for everything."""
    return [
        "preset=tiny",
        f"seed={SEED}",
        "display=plain",
        "backbone=vllm",
        f"backbone.api_base={server.address}",
        "backbone.models.default=hosted_vllm/embedded",
        *embedder(server),
    ]


def embedder(server: ModelServer) -> list[str]:
    return [
        "embedder=litellm",
        "embedder.model=hosted_vllm/embedded",
        f"embedder.api_base={server.address}",
        "embedder.price=2.5",
    ]


def served(counts: Counts) -> tuple[int, int]:
    """Calls and tokens of everything that the server did."""
    calls = counts.calls + counts.embeddings
    return calls, counts.prompt_tokens + counts.completion_tokens + counts.embedded_tokens


def finished(folder: Path) -> Ran:
    (path,) = (folder / "runs").iterdir()
    return Ran(path)


@dataclass(frozen=True)
class Alone:
    """A run that had the server and its cache to itself."""

    ran: Ran
    out: str
    counts: Counts
    cache: Path


@pytest.fixture(scope="module")
def alone(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    server.reset()
    folder, cache = tmp_path_factory.mktemp("alone"), tmp_path_factory.mktemp("cache")
    ended = World(folder, cache).run("evolve", *arguments(server))
    assert ended.code == 0, ended.text
    assert ended.err == ""
    return Alone(finished(folder), ended.out, server.counts(), cache)


def test_vectors_are_paid_for_and_shown_like_the_calls_of_every_role(alone: Alone) -> None:
    paid, counts = alone.ran.paid, alone.counts
    assert (paid["embedder"].calls, paid["embedder"].tokens) == (counts.embeddings, counts.embedded_tokens)
    assert counts.embeddings > 0
    assert paid["embedder"].cost_usd == pytest.approx(2.5e-6 * counts.embedded_tokens)
    assert (total(paid).calls, total(paid).tokens) == served(counts)
    assert total(paid).model_dump() == pytest.approx(alone.ran.summary["spend"])
    assert re.search(rf"embedder +{counts.embeddings:,} ", alone.out)
    events = map(json.loads, (alone.ran.path / "events.jsonl").read_text().splitlines())
    stages = {event["stage"]: event["paid"] for event in events if event["event"] == "stage"}
    assert "embedder" in stages["questions"]
    assert Budget(alone.ran.path / BUDGET_FILE, Caps()).used_by_role()["embedder"] == paid["embedder"]


def test_two_runs_at_once_on_one_cache_decide_as_alone_and_pay_what_is_served(
    alone: Alone, server: ModelServer, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    shutil.copytree(alone.cache / "samples", cache / "samples")
    worlds = [World(tmp_path / name, cache) for name in ("one", "two")]
    for world in worlds:
        world.folder.mkdir()
    server.reset()
    running = [world.start("evolve", *arguments(server)) for world in worlds]
    ended = [(*process.communicate(timeout=280), process.returncode) for process in running]
    for out, err, code in ended:
        assert code == 0, f"{out}\n{err}"
        assert err == ""
    ran = [finished(world.folder) for world in worlds]
    assert [each.decisions for each in ran] == [alone.ran.decisions] * 2
    both = total(ran[0].paid) + total(ran[1].paid)
    assert (both.calls, both.tokens) == served(server.counts())
    assert both.calls < 2 * total(alone.ran.paid).calls, "what one has paid for serves the other"


def test_a_run_is_gone_on_with_by_the_models_that_it_began_with(
    alone: Alone, server: ModelServer, tmp_path: Path
) -> None:
    world = World(tmp_path, alone.cache)
    requests = server.counts().requests
    for other in ("backbone=embedded", "backbone.models.default=openai/other", "embedder=wordllama"):
        ended = world.run("evolve", f"resume={alone.ran.path}", other)
        assert ended.code == 2, ended.text
        assert ended.err.count("\n") == 1
        assert other.partition("=")[0] in ended.err
        assert "resume= goes on with the configuration of that run" in ended.err
    assert server.counts().requests == requests


def test_a_single_question_keeps_to_the_cap_with_vectors_too(
    alone: Alone, server: ModelServer, tmp_path: Path
) -> None:
    server.reset()
    video = next((alone.cache / "samples").glob("*/*.mp4"))
    question = (f"video={video}", "question=What moves?", 'options=["a circle", "a star"]')
    world = World(tmp_path, tmp_path / "cache")
    ended = world.run("ask", *question, *embedder(server), "budget.calls=2")
    assert ended.code == 2, ended.text
    assert ended.err.startswith("ask: budget.calls=2 is used up: ")
    assert ended.err.count("\n") == 1
    assert server.counts().embeddings <= 1
    server.always("error_401")
    ended = world.run("ask", *question, *embedder(server))
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended.text
    assert "HOSTED_VLLM_API_KEY" in ended.err
    server.reset()
