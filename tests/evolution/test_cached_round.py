"""A round that was done once costs nothing the second time: its model calls come from the response cache."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.evaluation import InlineExecutor, WorkbenchConfig
from evoharness.evolution import EvolutionSettings, evolve
from evoharness.evolution.proposers import SearchProposer
from evoharness.evolution.proposers.search import SearchSettings
from evoharness.harness import initial_harness
from evoharness.models.registry import LITELLM
from evoharness.records.evolution import Summary
from evoharness.records.interval import Interval
from evoharness.records.question import Question
from evoharness.records.spend import total
from evoharness.runs import RunDirectory, RunFacts, SilentProgress
from tests.evolution.colour_world import write_video
from tests.evolution.scripted import Material, question
from tests.server import ModelServer, model_server

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
LATENCY_S = 0.2
SETTINGS = EvolutionSettings(
    rounds=1,
    videos_per_round=3,
    evolution_questions=8,
    validation_questions=16,
    candidates=2,
    finalists=1,
    race=[4, 8],
    noise_floor=False,
)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server(latency_s=LATENCY_S) as running:
        yield running


def material(folder: Path) -> Material:
    shown = [("grey", 3.0), ("red", 2.0), ("grey", 2.0), ("blue", 2.0)]
    videos = {f"v{n}": write_video(folder / f"v{n}.mp4", shown[n:] + shown[:n]) for n in range(3)}
    return Material(videos=videos, questions=questions(), sealed_videos={}, sealed_questions=())


def questions() -> list[Question]:
    options = ("red", "blue", "green", "grey")
    return [
        question(
            n,
            f"v{n % 3}",
            text=f"Which colour fills the picture at second {n // 3}, as number {n} of all questions?",
            options=options,
            answer=n % 4,
            source_interval=Interval(start=2.0, end=4.0),
        )
        for n in range(24)
    ]


def go(folder: Path, name: str, on: Material, server: ModelServer) -> Summary:
    """One round in a run of its own, with the cache of all runs."""
    config = WorkbenchConfig(
        cache_dir=folder / "cache",
        backbone=LITELLM,
        backbone_options={"models": {"default": "hosted_vllm/embedded"}, "api_base": server.address},
    )
    executor = InlineExecutor(config)
    run = RunDirectory.create(folder, name, "", RunFacts.gather(0), stamped=False)
    try:
        with run:
            return evolve(
                SETTINGS,
                on,
                initial_harness(),
                executor,
                run,
                SilentProgress(),
                proposer=SearchProposer(SearchSettings(sample=4, beam=1, depth=1, tries=2)),
            )
    finally:
        executor.close()


def test_a_finished_round_is_done_again_without_a_call_in_a_tenth_of_the_time(
    tmp_path: Path, server: ModelServer
) -> None:
    on = material(tmp_path)
    server.reset()
    first = go(tmp_path, "first", on, server)
    served = server.counts()
    assert total(first.paid).calls == served.calls > 40
    assert total(first.paid).input_tokens == served.prompt_tokens
    assert total(first.paid).output_tokens == served.completion_tokens
    again = go(tmp_path, "again", on, server)
    assert server.counts().requests == served.requests, "nothing was asked"
    assert again.paid == {}
    assert again.cost_usd == 0
    assert again.cached.calls == again.calls == first.calls >= served.calls
    assert again.rounds == first.rounds
    assert again.seconds < first.seconds / 10, (first.seconds, again.seconds)
