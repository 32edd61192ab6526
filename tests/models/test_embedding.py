"""Calls for vectors keep to limits and caps, survive faults, and are booked as the provider counts them."""

import math
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evoharness.errors import UserError
from evoharness.evaluation import ProviderLost, Workbench, WorkbenchConfig
from evoharness.evaluation.meter import Meter, MeteredCalls
from evoharness.models.backbone import (
    BackboneUnavailable,
    CannotGoOn,
    MissingKey,
    Refused,
    UnknownModel,
    Unreachable,
)
from evoharness.models.budget import Budget, BudgetExceeded, CannotPay, Caps, PriceUnknown
from evoharness.models.embedding import EMBEDDER, EmbeddingCalls, most_tokens
from evoharness.models.hosted.clock import Clock
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.models.settings import EmbedderTerms
from evoharness.providers import Endpoint, litellm_module
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend, Used
from evoharness.retrieval import Embedder
from evoharness.retrieval.embedders.hosted import HostedEmbedder
from tests.providers.scripted_server import Received, Said, ScriptedServer, refusal

COLOURS = ("red", "blue", "green")


def embeddings(request: Received) -> Said:
    """A vector of colours for each text; three tokens a text."""
    assert request.path == "/v1/embeddings"
    texts = request.body["input"]
    data = [
        {"object": "embedding", "index": n, "embedding": [0.1 + text.count(word) for word in COLOURS]}
        for n, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)}
    return Said({"object": "list", "model": request.body["model"], "data": data, "usage": usage})


class Bench:
    """An embedder at a server, with a meter, a budget, and a clock that waits for nothing."""

    def __init__(
        self,
        server: ScriptedServer | None,
        *,
        model: str = "openai/tiny",
        price: float | None = 10.0,
        caps: Caps | None = None,
        cache_dir: Path | None = None,
        outage_s: float | None = None,
        waits: list[float] | None = None,
        **rates: Any,
    ) -> None:
        self.waits: list[float] = [] if waits is None else waits
        """How it waited so far; the time is what has been waited."""
        self.meter = Meter()
        self.budget = Budget(None, caps or Caps())
        base = f"{server.address}/v1" if server is not None else None
        endpoint = Endpoint(model=model, api_base=base, use="embedding")
        terms = EmbedderTerms(price=price, rates=rates or {})
        calls = EmbeddingCalls(
            endpoint,
            terms,
            budget=self.budget,
            limits_dir=cache_dir,
            clock=Clock(now=lambda: 1000.0 + sum(self.waits), sleep=self.waits.append),
        )
        self.embedder = HostedEmbedder(
            model=model,
            api_base=base,
            cache_dir=cache_dir,
            batch=4,
            calls=MeteredCalls(calls, self.meter, outage_s),
        )

    def embed(self, *texts: str) -> Any:
        return self.embedder.embed(texts)


def test_calls_are_booked_as_the_server_counts_them_and_at_their_price() -> None:
    with ScriptedServer(embeddings) as server:
        bench = Bench(server)
        bench.embed(*(f"red {n}" for n in range(6)))
    spend = Spend(calls=2, input_tokens=18, cost_usd=12 * 10 / 1e6 + 6 * 10 / 1e6)
    assert bench.meter.take() == Used(paid={EMBEDDER: spend})
    assert bench.budget.used_by_role() == {EMBEDDER: spend}
    assert bench.budget.in_flight() == 0


def test_vectors_that_are_kept_are_free(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as server:
        Bench(server, cache_dir=tmp_path).embed("red", "blue")
        again = Bench(server, cache_dir=tmp_path, caps=Caps(calls=0))
        again.embed("blue", "red")
        again.embed("red")
    assert again.meter.take() == Used()
    assert again.budget.used() == Spend()


@pytest.mark.parametrize(
    ("model", "price", "server", "usd"),
    [
        ("openai/text-embedding-3-small", None, False, 0.02),
        ("nebius/Qwen/Qwen3-Embedding-8B", None, False, 0.01),
        ("nebius/Qwen/Qwen3-Embedding-8B", 0.5, False, 0.5),
        ("openai/text-embedding-3-small", None, True, None),
        ("hosted_vllm/nobody", None, True, None),
        ("hosted_vllm/nobody", 0.0, True, 0.0),
    ],
)
def test_the_price_is_that_of_the_table_or_the_users(
    model: str, price: float | None, server: bool, usd: float | None
) -> None:
    endpoint = Endpoint(model=model, api_base="http://127.0.0.1:9/v1" if server else None, use="embedding")
    calls = EmbeddingCalls(endpoint, EmbedderTerms(price=price))
    cost = calls._spend(1_000_000).cost_usd
    assert cost == (None if usd is None else pytest.approx(usd))


def test_an_unknown_price_stays_unknown_and_is_no_obstacle_without_a_cap_in_dollars() -> None:
    with ScriptedServer(embeddings) as server:
        bench = Bench(server, price=None, caps=Caps(calls=5))
        bench.embed("red")
        assert bench.meter.take().paid[EMBEDDER].cost_usd is None
        bench = Bench(server, price=None, caps=Caps(usd=5))
        with pytest.raises(PriceUnknown, match=r"embedder\.price=…, USD for a million tokens of openai/tiny"):
            bench.embed("red")
        assert len(server.received) == 1


@pytest.mark.parametrize(
    ("caps", "served"),
    [(Caps(calls=2), 2), (Caps(tokens=30), 2), (Caps(usd=30 * 10 / 1e6), 2), (Caps(calls=0), 0)],
)
def test_a_call_that_could_pass_a_cap_is_not_made(caps: Caps, served: int) -> None:
    with ScriptedServer(embeddings) as server:
        bench = Bench(server, caps=caps)

        def embed_on() -> None:
            for n in range(100):
                bench.embed(f"red {n}")

        with pytest.raises(BudgetExceeded, match=r"^budget\.\w+=\S+ is used up: "):
            embed_on()
        assert len(server.received) >= served
        used = bench.budget.used()
    assert used.calls == len(server.received)
    assert used.tokens == 3 * used.calls
    assert used.tokens <= (caps.tokens or math.inf)
    assert used.calls <= (math.inf if caps.calls is None else caps.calls)
    assert bench.budget.in_flight() == 0


def test_a_call_whose_reply_was_lost_is_booked_as_what_the_same_texts_took_later() -> None:
    with ScriptedServer(embeddings) as server:
        script = [Said(drop=True), Said("<html>proxy</html>"), refusal(503, "down")]
        server.answering = lambda request: script.pop(0) if script else embeddings(request)
        bench = Bench(server)
        bench.embed("red")
        assert len(server.received) == 4
    paid = bench.meter.take().paid[EMBEDDER]
    assert (paid.calls, paid.input_tokens) == (3, 9)
    assert bench.budget.used() == paid


def test_a_call_whose_reply_was_lost_for_good_is_booked_at_the_most_that_it_may_take() -> None:
    with ScriptedServer(lambda _: Said(drop=True)) as server:
        bench = Bench(server, attempts=2)
        with pytest.raises(BackboneUnavailable):
            bench.embed("red")
    paid = bench.meter.take().paid[EMBEDDER]
    assert (paid.calls, paid.input_tokens) == (2, 2 * most_tokens(["red"]))
    assert bench.budget.used() == paid


def test_a_server_that_does_not_count_is_booked_at_the_most() -> None:
    def uncounted(request: Received) -> Said:
        said = embeddings(request)
        del said.content["usage"]
        return said

    with ScriptedServer(uncounted) as server:
        bench = Bench(server)
        bench.embed("red")
    assert bench.meter.take().paid[EMBEDDER].input_tokens == most_tokens(["red"])


@pytest.mark.parametrize(
    "text", ["red", "1 2 3 4 5 6 7 8 9", "a b c d e f", "水をこぼす", "émigré naïf", "x" * 500]
)
def test_the_most_that_texts_may_take_is_no_less_than_a_tokenizer_makes_of_them(text: str) -> None:
    count = litellm_module().token_counter(model="text-embedding-3-small", text=text)
    assert 0 < count <= most_tokens([text])


def test_a_busy_server_is_asked_again_and_its_wish_to_wait_is_heard_by_all(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as server:
        script = [refusal(429, "slow down", **{"Retry-After": "7"}), refusal(500, "oops"), Said(drop=True)]
        server.answering = lambda request: script.pop(0) if script else embeddings(request)
        bench = Bench(server, cache_dir=tmp_path)
        assert bench.embed("red")[0].argmax() == 0
        assert len(server.received) == 4
        assert 7 <= bench.waits[0] < 8.01
        script.append(refusal(429, "slow down", **{"Retry-After": "50"}))
        before = sum(bench.waits)
        bench.embed("blue")
        until = before + 50
        late = Bench(server, cache_dir=tmp_path, waits=[before + 10])
        late.embed("green")
        assert sum(late.waits) == pytest.approx(until), "others keep to it too"


def test_limits_are_shared_by_all_that_call_the_model(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as server:
        waits: list[float] = []
        benches = [Bench(server, cache_dir=tmp_path, waits=waits, requests_a_minute=10) for _ in range(3)]
        for n, colour in enumerate(("red", "blue", "green", "pink", "grey", "mauve")):
            benches[n % 3].embed(colour)
    assert 20 < sum(waits) < 40


@pytest.mark.parametrize("provider", ["openai", "hosted_vllm", "mistral"])
@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("7", 7, 8.01), ("date", 100, 121.01), ("nan", 0, 1), ("-5", 0, 1)],
)
def test_every_providers_wish_to_wait_is_heard_in_seconds_or_as_a_date(
    provider: str, header: str, least: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "planted-key")
    wish = formatdate(time.time() + 120, usegmt=True) if header == "date" else header
    with ScriptedServer(lambda _: refusal(429, "slow down", **{"Retry-After": wish})) as server:
        bench = Bench(server, model=f"{provider}/tiny", attempts=2)
        with pytest.raises(BackboneUnavailable, match="in 2 attempts"):
            bench.embed("red")
    assert least <= bench.waits[0] <= most
    assert bench.meter.take() == Used(), "a server that turned us away is not paid"


def test_a_server_that_asks_for_a_day_is_not_waited_for() -> None:
    with ScriptedServer(lambda _: refusal(429, "slow down", **{"Retry-After": "86400"})) as server:
        bench = Bench(server)
        with pytest.raises(BackboneUnavailable, match="in 1 attempt: "):
            bench.embed("red")
    assert bench.waits == []


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (refusal(401, "no"), MissingKey),
        (refusal(404, "The model does not exist"), UnknownModel),
        (refusal(400, "something is wrong"), Refused),
        (refusal(429, "insufficient_quota"), CannotPay),
    ],
)
def test_what_cannot_help_is_not_tried_again(
    said: Said, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-0123456789")
    with ScriptedServer(
        lambda r: Said(said.content, said.status, {"x": r.headers["authorization"]})
    ) as server:
        bench = Bench(server)
        with pytest.raises((error, ProviderLost)) as told:
            bench.embed("red")
        assert len(server.received) == 1
    ends = isinstance(told.value, CannotGoOn | Refused)
    assert ends, "one line for the user, and no more calls"
    assert "planted" not in str(told.value)
    assert "\n" not in str(told.value)
    assert bench.budget.used() == Spend()


def test_nobody_at_the_address_is_told_at_once() -> None:
    with ScriptedServer(embeddings) as server:
        pass
    bench = Bench(server)
    with pytest.raises(ProviderLost, match=r"nothing answers at http://127.*is the server running") as told:
        Bench(server, outage_s=0.0).embed("red")
    assert isinstance(told.value, UserError)
    with pytest.raises(Unreachable):
        bench.embed("red")
    assert bench.waits == [0.5, 0.5]


def test_a_key_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match="put it into the environment variable OPENAI_API_KEY"):
        Bench(None).embed("red")


def test_an_outage_is_waited_for() -> None:
    with ScriptedServer(embeddings) as server:
        script = [refusal(503, "down")] * 3
        server.answering = lambda request: script.pop(0) if script else embeddings(request)
        bench = Bench(server, attempts=1, outage_s=30.0)
        assert bench.embed("red")[0].argmax() == 0
        assert len(server.received) == 4


def test_what_is_too_much_at_once_is_halved() -> None:
    def limited(request: Received) -> Said:
        if len(request.body["input"]) > 1:
            return refusal(400, "This model's maximum context length is 8 tokens")
        return embeddings(request)

    with ScriptedServer(limited) as server:
        bench = Bench(server)
        rows = bench.embed("red", "blue", "green")
        assert [int(row.argmax()) for row in rows] == [0, 1, 2]
    assert bench.meter.take().paid[EMBEDDER].calls == 3


def test_a_workbench_counts_its_embedder_with_its_backbone_and_within_the_same_caps(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as server:
        config = WorkbenchConfig(
            cache_dir=tmp_path,
            embedder="litellm",
            embedder_options={"model": "openai/tiny", "api_base": f"{server.address}/v1"},
            embedder_terms=EmbedderTerms(price=0.0),
            budget=Caps(calls=2),
            budget_file=tmp_path / "budget.sqlite",
        )
        benches: list[Workbench] = [config.build(), config.build()]
        for bench, text in zip(benches, ("red", "blue"), strict=True):
            embedder: Embedder = bench.embedder
            assert embedder.embed([text]).shape == (1, 3)
            assert bench.take_used().paid[EMBEDDER].calls == 1
            assert bench.take_used() == Used()
        with pytest.raises(BudgetExceeded):
            benches[0].embedder.embed(["green"])
        assert np.isfinite(benches[0].embedder.embed(["blue"])).all(), "the other one has paid for it"
    assert Budget(tmp_path / "budget.sqlite", Caps()).used_by_role()[EMBEDDER].calls == 2


def colour_question() -> AnswerQuestion:
    return AnswerQuestion(
        text="What colour is the ball?",
        options=("red", "blue"),
        evidence=(Evidence(source="look", interval=Interval(start=0, end=1), text="a red ball is visible"),),
    )


def test_where_an_embedder_is_paid_the_books_hold_what_the_backbone_takes_as_well(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as server:
        bench = WorkbenchConfig(
            cache_dir=tmp_path,
            embedder="litellm",
            embedder_options={"model": "openai/tiny", "api_base": f"{server.address}/v1"},
            budget_file=tmp_path / "budget.sqlite",
        ).build()
        bench.backbone.run(colour_question())
    paid = bench.take_used().paid
    assert paid[EMBEDDER].calls == len(server.received) > 0
    assert paid["solver"].calls == 1
    assert Budget(tmp_path / "budget.sqlite", Caps()).used_by_role() == paid


def test_a_task_that_embeds_does_not_wait_for_the_room_that_it_holds_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evoharness.evaluation.workbench.WAIT_WITHIN_TASK_S", 0.1)
    with ScriptedServer(embeddings) as server:
        bench = WorkbenchConfig(
            cache_dir=tmp_path,
            embedder="litellm",
            embedder_options={"model": "openai/tiny", "api_base": f"{server.address}/v1"},
            budget=Caps(calls=1),
            budget_file=tmp_path / "budget.sqlite",
        ).build()
        began = time.monotonic()
        with pytest.raises(BudgetExceeded):
            bench.backbone.run(colour_question())
        assert time.monotonic() - began < 20
        assert server.received == []
    assert Budget(tmp_path / "budget.sqlite", Caps()).in_flight() == 0
