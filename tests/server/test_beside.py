"""Vectors and transcripts over HTTP: what a run asks for beside completions is counted as the server does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evoharness.evaluation import Workbench, WorkbenchConfig
from evoharness.evaluation.meter import MeteredBackbone
from evoharness.models.backbone import BackboneUnavailable, Reply
from evoharness.models.budget import Budget, BudgetExceeded, Caps
from evoharness.models.embedding import EMBEDDER
from evoharness.models.perception_tasks import Transcribe, Transcription
from evoharness.models.settings import EmbedderTerms
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend
from evoharness.retrieval import WordLlamaEmbedder
from tests.server import ModelServer, model_server
from tests.server.faults import PASSING
from tests.video.recordings import record_talk

TEXTS = ("a red circle moves", "the valve is closed", "nothing happens", "a blue square enters")
TRANSCRIBER = "transcriber"


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with model_server(workers=1) as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.reset()
    return running


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds; a beep in every odd second."""
    return record_talk(tmp_path_factory.mktemp("talk") / "talk.mp4", seconds=12)


def bench(server: ModelServer, folder: Path, caps: Caps | None = None, attempts: int = 4) -> Workbench:
    rates = {"attempts": attempts, "timeout_s": 20.0}
    prices = {"default": {"input": 1, "output": 1}, TRANSCRIBER: {"input": 2, "output": 3}}
    books = folder / "budget.sqlite"
    return WorkbenchConfig(
        cache_dir=folder,
        backbone="litellm",
        backbone_options={
            "models": {"default": "hosted_vllm/embedded", TRANSCRIBER: "hosted_vllm/embedded"},
            "api_base": server.address,
            "prices": prices,
            "rates": rates,
            "budget": (caps or Caps()).model_dump(),
            "budget_file": books,
            "options": {"retries": {"first_wait_s": 0.05}},
        },
        embedder="litellm",
        embedder_options={"model": "hosted_vllm/embedded", "api_base": server.address, "batch": 2},
        embedder_terms=EmbedderTerms(price=4, rates=rates),
        budget=caps or Caps(),
        budget_file=books,
    ).build()


def listen(bench: Workbench, talk: Path, start: float = 2) -> Reply[Transcription]:
    backbone: MeteredBackbone = bench.backbone
    return backbone.run(Transcribe(path=talk, key="talk", span=Interval(start=start, end=start + 4)))


def books(folder: Path) -> dict[str, Spend]:
    return Budget(folder / "budget.sqlite", Caps()).used_by_role()


def test_vectors_are_those_of_the_model(server: ModelServer, tmp_path: Path) -> None:
    there, here = bench(server, tmp_path).embedder.embed(TEXTS), WordLlamaEmbedder().embed(TEXTS)
    assert np.allclose(there, here, atol=1e-3)


def test_lines_are_those_of_the_sound(server: ModelServer, tmp_path: Path, talk: Path) -> None:
    lines = listen(bench(server, tmp_path), talk).output.lines
    assert [(line.interval.start, line.text) for line in lines] == [
        (3.0, "Tone number 1."),
        (5.0, "Tone number 3."),
    ]


@pytest.mark.parametrize("kind", [None, *PASSING])
def test_whatever_passes_is_survived_and_booked_as_the_server_counts(
    server: ModelServer, tmp_path: Path, talk: Path, kind: str | None
) -> None:
    if kind is not None:
        server.script(kind)
    used = bench(server, tmp_path)
    assert used.embedder.embed(TEXTS).shape[0] == 4
    if kind is not None:
        server.script(kind)
    assert len(listen(used, talk).output.lines) == 2
    paid, counts = used.take_used().paid, server.counts()
    assert (paid[EMBEDDER].calls, paid[EMBEDDER].tokens) == (counts.embeddings, counts.embedded_tokens)
    assert (paid[TRANSCRIBER].calls, paid[TRANSCRIBER].tokens) == (
        counts.transcriptions,
        counts.transcribed_tokens,
    )
    assert paid[EMBEDDER].cost_usd == pytest.approx(4e-6 * counts.embedded_tokens)
    assert books(tmp_path) == paid
    assert counts.calls == 0


def test_what_was_asked_before_is_free(server: ModelServer, tmp_path: Path, talk: Path) -> None:
    first = bench(server, tmp_path)
    first.embedder.embed(TEXTS)
    listen(first, talk)
    requests = server.counts().requests
    again = bench(server, tmp_path)
    again.embedder.embed(TEXTS)
    assert listen(again, talk).cached
    assert server.counts().requests == requests
    assert again.take_used().paid == {}


@pytest.mark.parametrize("caps", [Caps(calls=3), Caps(tokens=600), Caps(usd=0.002)])
def test_both_keep_to_the_same_caps(server: ModelServer, tmp_path: Path, talk: Path, caps: Caps) -> None:
    used = bench(server, tmp_path, caps)

    def go_on() -> None:
        for n in range(100):
            used.embedder.embed([f"text {n}, as long as others " * 4])
            listen(used, talk, start=n % 3 * 2)

    with pytest.raises(BudgetExceeded, match=r"^budget\.\w+=\S+ is used up: [^\n]*$"):
        go_on()
    paid, counts = used.take_used().paid, server.counts()
    assert (paid[EMBEDDER].calls, paid[TRANSCRIBER].calls) == (counts.embeddings, counts.transcriptions)
    total: Any = sum(paid.values(), Spend())
    for name, cap in caps:
        spent = {"usd": total.cost_usd, "calls": total.calls, "tokens": total.tokens}[name]
        assert cap is None or spent <= cap
    assert Budget(tmp_path / "budget.sqlite", Caps()).in_flight() == 0


def test_what_is_lost_for_good_stays_booked_at_the_most(
    server: ModelServer, tmp_path: Path, talk: Path
) -> None:
    server.always("reset_mid_body")
    used = bench(server, tmp_path, attempts=2)
    with pytest.raises(BackboneUnavailable, match="in 2 attempts"):
        used.embedder.embed(TEXTS[:1])
    with pytest.raises(BackboneUnavailable, match="in 2 attempts"):
        listen(used, talk)
    counts, booked = server.counts(), books(tmp_path)
    assert booked[EMBEDDER].calls == counts.embeddings == 2
    assert booked[TRANSCRIBER].calls == counts.transcriptions == 2
    assert booked[EMBEDDER].tokens >= counts.embedded_tokens
    assert booked[TRANSCRIBER].tokens >= counts.transcribed_tokens
