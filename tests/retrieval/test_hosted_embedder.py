"""Vectors from an endpoint: batches, repeats and failures, against a real server on this machine."""

import math
import pickle
import threading
import traceback
from pathlib import Path

import numpy as np
import pytest

from evoharness.errors import UserError
from evoharness.retrieval import EmbedderUnavailable, TextIndex, make_embedder
from evoharness.retrieval.embedders.hosted import HostedEmbedder
from tests.providers.scripted_server import Received, Said, ScriptedServer, refusal

COLOURS = ("red", "blue", "green", "circle", "square")


def vector_of(text: str) -> list[float]:
    """How often each word is in the text, not of unit length, and a little of everything."""
    return [0.1 + 3 * text.count(word) for word in COLOURS]


def embeddings(request: Received) -> Said:
    """OpenAI's answer, with the entries in another order than the texts."""
    assert request.path == "/v1/embeddings"
    texts = request.body["input"]
    assert all(text.strip() for text in texts)
    data = [{"object": "embedding", "index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return Said({"object": "list", "model": request.body["model"], "data": data[::-1], "usage": usage})


def embedder(server: ScriptedServer, cache_dir: Path | None = None, batch: int = 4) -> HostedEmbedder:
    return HostedEmbedder(
        model="openai/tiny", api_base=f"{server.address}/v1", cache_dir=cache_dir, batch=batch
    )


def sent(server: ScriptedServer) -> list[list[str]]:
    return [request.body["input"] for request in server.received]


def test_rows_have_unit_length_and_stand_in_the_order_of_the_texts() -> None:
    with ScriptedServer(embeddings) as server:
        rows = embedder(server).embed([f"a {colour} circle" for colour in ("red", "blue", "green")])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-3)
    assert [int(row[:3].argmax()) for row in rows] == [0, 1, 2]


def test_texts_go_in_batches_and_each_only_once() -> None:
    with ScriptedServer(embeddings) as server:
        model = embedder(server)
        texts = [f"red {n}" for n in range(9)]
        first = model.embed([*texts, *texts])
        assert [len(batch) for batch in sent(server)] == [4, 4, 1]
        assert np.array_equal(first[:9], first[9:])
        assert np.array_equal(model.embed(texts), first[:9])
        assert len(server.received) == 3


def test_blank_texts_give_zeros_and_are_not_sent() -> None:
    with ScriptedServer(embeddings) as server:
        model = embedder(server)
        rows = model.embed(["", "red", " \n"])
        assert not rows[0].any()
        assert not rows[2].any()
        assert sent(server) == [["red"]]
        assert model.embed([]).shape == (0, 5)
        assert model.embed(["", "\t"]).shape == (2, 5)


def test_vectors_are_kept_for_other_processes_exactly_as_they_were(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as server:
        first = embedder(server, tmp_path).embed(["red circle", "blue square"])
        asked = len(server.received)
        again = embedder(server, tmp_path).embed(["blue square", "red circle"])
        assert len(server.received) == asked
        assert np.array_equal(first, again[::-1])


def test_another_server_or_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as one, ScriptedServer(embeddings) as two:
        embedder(one, tmp_path).embed(["red"])
        embedder(two, tmp_path).embed(["red"])
        HostedEmbedder(model="openai/other", api_base=f"{one.address}/v1", cache_dir=tmp_path).embed(["red"])
        assert (len(one.received), len(two.received)) == (2, 1)


def test_a_file_of_vectors_that_is_none_costs_nothing_but_requests(tmp_path: Path) -> None:
    (tmp_path / "vectors.sqlite").write_bytes(b"no database, but long enough to be looked at" * 100)
    with ScriptedServer(embeddings) as server:
        assert embedder(server, tmp_path).embed(["red"]).shape == (1, 5)


def test_outside_a_run_each_call_is_made_once() -> None:
    with ScriptedServer(lambda _: refusal(503, "down")) as server:
        with pytest.raises(EmbedderUnavailable, match=r"no vectors for 1 texts: .*\(HTTP 503\)"):
            embedder(server).embed(["red"])
        assert len(server.received) == 1
    assert issubclass(EmbedderUnavailable, OSError)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [math.nan, 1.0]}],
        [{"index": 0, "embedding": []}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}],
        [{"index": 1, "embedding": [1.0]}],
    ],
)
def test_what_is_no_vector_for_each_text_is_no_answer(data: list[object]) -> None:
    answer = Said({"object": "list", "model": "tiny", "data": data})
    with ScriptedServer(lambda _: answer) as server, pytest.raises(EmbedderUnavailable):
        embedder(server).embed(["red"])


def test_two_vectors_for_one_text_are_no_answer() -> None:
    data = [{"object": "embedding", "index": 0, "embedding": [float(n), 1.0]} for n in range(2)]
    with (
        ScriptedServer(lambda _: Said({"object": "list", "model": "tiny", "data": data})) as server,
        pytest.raises(EmbedderUnavailable),
    ):
        embedder(server).embed(["red", "blue"])


def test_no_error_carries_the_key_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key")
    for status in (500, 401):
        with (
            ScriptedServer(lambda r, s=status: refusal(s, r.headers["authorization"])) as server,  # type: ignore[misc]
            pytest.raises(UserError) as told,
        ):
            embedder(server).embed(["red"])
        assert told.value.__cause__ is None
        assert told.value.__context__ is None
        assert "planted-key" not in "".join(traceback.format_exception(told.value))


def test_a_word_that_stands_for_no_key_goes_only_to_servers_known_to_ask_for_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("HOSTED_VLLM_API_KEY", raising=False)
    monkeypatch.setenv("TOGETHERAI_API_KEY", "planted-key")
    with ScriptedServer(embeddings) as server:
        for model in ("hosted_vllm/tiny", "together_ai/tiny"):
            HostedEmbedder(model=model, api_base=f"{server.address}/v1").embed(["red"])
        assert [each.headers["authorization"] for each in server.received] == [
            "Bearer none",
            "Bearer planted-key",
        ]
    with pytest.raises(UserError, match="put it into the environment variable OPENAI_API_KEY"):
        HostedEmbedder(model="openai/tiny").embed(["red"])


def test_the_key_is_sent_and_does_not_travel_with_the_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "planted-key")
    with ScriptedServer(embeddings) as server:
        model = HostedEmbedder(model="openai/tiny", api_base=f"{server.address}/v1", key="MY_KEY")
        packed = pickle.dumps(model)
        assert b"planted-key" not in packed
        again = pickle.loads(packed)
        assert np.array_equal(again.embed(["red"]), model.embed(["red"]))
        assert {each.headers["authorization"] for each in server.received} == {"Bearer planted-key"}
        assert again.id == model.id


def test_a_server_of_ones_own_is_part_of_the_identity() -> None:
    one, another = (HostedEmbedder(model="openai/tiny", api_base=f"http://{host}/v1") for host in "ab")
    provider = HostedEmbedder(model="openai/tiny", api_base="https://api.openai.com/v1")
    assert len({one.id, another.id, provider.id}) == 3
    assert provider.id == HostedEmbedder(model="openai/tiny").id == "litellm:openai/tiny"


def test_what_is_too_much_at_once_is_halved() -> None:
    def limited(request: Received) -> Said:
        texts = request.body["input"]
        return embeddings(request) if sum(map(len, texts)) <= 400 else refusal(413, "too large")

    with ScriptedServer(limited) as server:
        model = embedder(server)
        rows = model.embed(["red " * 30, "blue " * 40, "green " * 60, "circle " * 90])
        assert [int(row[:4].argmax()) for row in rows] == [0, 1, 2, 3]
        assert [len(batch) for batch in sent(server)][:3] == [4, 2, 2]
        assert sent(server)[-1] == [("circle " * 90)[:315]]
    with (
        ScriptedServer(lambda _: refusal(413, "too large")) as server,
        pytest.raises(EmbedderUnavailable, match="takes not even 3 letters"),
    ):
        embedder(server).embed(["red"])


def test_many_threads_at_once(tmp_path: Path) -> None:
    with ScriptedServer(embeddings) as server:
        model = embedder(server, tmp_path)
        found: list[bool] = []

        def look(colour: int) -> None:
            rows = model.embed([f"{COLOURS[colour]} {n}" for n in range(10)])
            found.append(bool((rows.argmax(axis=1) == colour).all()))

        threads = [threading.Thread(target=look, args=(n % 3,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [True] * 12


def test_an_index_searches_with_it() -> None:
    with ScriptedServer(embeddings) as server:
        index = TextIndex(["a red circle", "a blue square"], embedder(server))
        assert index.by_meaning("something blue", 1)[0].position == 1


def test_options_that_do_not_do_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"embedder\.model: 'tiny' does not say whose model it is"):
        make_embedder("litellm", model="tiny", cache_dir=tmp_path)
    with pytest.raises(UserError) as told:
        make_embedder("litellm", colour="red", cache_dir=tmp_path)
    assert str(told.value) == (
        "embedder.options.colour is not taken: the options of embedder.name=litellm are batch, dimensions"
    )
    with pytest.raises(UserError, match=r"options of embedder\.name=wordllama are kept$"):
        make_embedder("wordllama", colour="red")
    with pytest.raises(UserError, match=r"embedder\.model is not taken: embedder\.name=wordllama has no"):
        make_embedder("wordllama", model="openai/x")
    with pytest.raises(UserError, match="at least 1"):
        make_embedder("litellm", model="openai/x", batch=0)
    with pytest.raises(UserError, match="at least 1"):
        make_embedder("litellm", model="openai/x", dimensions=0)
