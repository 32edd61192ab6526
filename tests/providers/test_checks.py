"""Mistakes about keys, models and servers are told in one line before a run, by requests to real servers."""

import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

import pytest

from evoharness.errors import UserError
from evoharness.providers import Endpoint, check_endpoints
from tests.providers.scripted_server import Received, Said, ScriptedServer, refusal

MODELS = {"object": "list", "data": [{"id": "small"}, {"id": "large"}]}


def listing(request: Received) -> Said:
    """A server with two models, which it also serves."""
    if request.method == "GET" and request.path == "/v1/models":
        return Said(MODELS)
    if request.path == "/v1/chat/completions" and request.body["model"] not in ("small", "large"):
        return refusal(404, f"The model `{request.body['model']}` does not exist.")
    return Said({"choices": []})


def check(*endpoints: Endpoint, timeout_s: float = 2.0) -> None:
    named: Sequence[tuple[str, Endpoint]] = [
        (f"backbone.models.{n}", each) for n, each in enumerate(endpoints)
    ]
    check_endpoints(named, "backbone.api_base", timeout_s)


def at(server: ScriptedServer, model: str = "hosted_vllm/small", key: str | None = None) -> Endpoint:
    return Endpoint(model=model, api_base=f"{server.address}/v1", key=key)


def test_a_listed_model_costs_one_request_for_its_list() -> None:
    with ScriptedServer(listing) as server:
        check(at(server), at(server), at(server))
        assert [(each.method, each.path) for each in server.received] == [("GET", "/v1/models")]


def test_an_unknown_model_is_told_with_what_there_is() -> None:
    with ScriptedServer(listing) as server, pytest.raises(UserError) as told:
        check(at(server, "hosted_vllm/huge"))
    assert str(told.value) == (
        f"{server.address}/v1 has no model 'huge' (backbone.models.0); it has: small, large"
    )


def test_a_model_that_is_served_without_being_listed_is_taken() -> None:
    def any_name(request: Received) -> Said:
        return Said(MODELS) if request.method == "GET" else Said({"choices": []})

    with ScriptedServer(any_name) as server:
        check(at(server, "openai/whatever"))
        assert server.received[-1].body["max_tokens"] == 1


def test_a_key_that_is_not_accepted_names_its_variable_and_not_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "planted-key")
    with ScriptedServer(lambda r: refusal(401, f"bad key {r.headers['authorization']}")) as server:
        with pytest.raises(UserError) as told:
            check(at(server, key="MY_KEY"))
        assert server.received[0].headers["authorization"] == "Bearer planted-key"
    assert str(told.value) == f"{server.address}/v1 does not accept the key in MY_KEY (HTTP 401)"


def test_a_server_that_wants_a_key_and_gets_none_says_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOSTED_VLLM_API_KEY", raising=False)
    with (
        ScriptedServer(lambda _: refusal(401, "no")) as server,
        pytest.raises(UserError, match=r"wants a key for hosted_vllm/small \(HTTP 401\): set HOSTED_VLLM"),
    ):
        check(at(server))


def test_every_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "DEEPSEEK_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer(listing) as server:
        with pytest.raises(UserError, match=r"OPENAI_API_KEY.*; set DEEPSEEK_API_KEY for backbone.models.2="):
            check(at(server), Endpoint(model="openai/gpt-5.5"), Endpoint(model="deepseek/deepseek-v3.2"))
        assert server.received == []


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(UserError) as told:
        check(Endpoint(model="hosted_vllm/small", api_base=f"http://127.0.0.1:{port}/v1"))
    assert f"http://127.0.0.1:{port}/v1 cannot be reached (Connection refused)" in str(told.value)
    assert "backbone.api_base" in str(told.value)


def test_no_host_of_that_name() -> None:
    with pytest.raises(UserError, match=r"no-such-host\.invalid/v1 cannot be reached"):
        check(Endpoint(model="hosted_vllm/small", api_base="http://no-such-host.invalid/v1"))


def test_a_server_that_says_nothing_is_given_up_within_seconds() -> None:
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(UserError, match="no answer within"):
            check(Endpoint(model="hosted_vllm/small", api_base=address), timeout_s=0.3)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(("status", "blanks"), [("200 OK", 1000), ("401 No", 1000), ("500 Oh", 0)])
def test_a_reply_that_does_not_end_is_given_up_within_seconds(status: str, blanks: int) -> None:
    over = threading.Event()

    def drip(server: socket.socket) -> None:
        with suppress(OSError):
            while not over.is_set():
                connection, _ = server.accept()
                with connection, suppress(OSError):
                    connection.recv(1000)
                    connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 1000000\r\n\r\n".encode())
                    for _ in range(blanks):
                        time.sleep(0.05)
                        connection.sendall(b" ")
                    connection.recv(1)

    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with pytest.raises(UserError, match="no answer within"):
            check(Endpoint(model="hosted_vllm/small", api_base=address), timeout_s=0.3)
        over.set()
    assert time.monotonic() - began < 3


def test_what_does_not_speak_http_is_told_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def babble() -> None:
            for _ in range(2):
                connection, _ = server.accept()
                connection.recv(1000)
                connection.sendall(b"220 mail ready\r\n")
                connection.close()

        talker = threading.Thread(target=babble, daemon=True)
        talker.start()
        with pytest.raises(UserError, match="does not speak HTTP"):
            check(Endpoint(model="hosted_vllm/x", api_base=f"http://127.0.0.1:{server.getsockname()[1]}/v1"))
        talker.join(5)


def test_a_web_page_is_no_server_of_models() -> None:
    with (
        ScriptedServer(lambda _: Said("<html>router login</html>")) as server,
        pytest.raises(UserError, match=r"not as a server of models \(text/html\)"),
    ):
        check(at(server))


def test_an_address_without_v1_is_explained() -> None:
    with (
        ScriptedServer(
            lambda r: listing(r) if r.path.startswith("/v1/") else refusal(404, "Not Found")
        ) as server,
        pytest.raises(UserError, match="ends in /v1 as a rule"),
    ):
        check(Endpoint(model="hosted_vllm/small", api_base=server.address))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_there(status: int) -> None:
    with ScriptedServer(lambda _: refusal(status, "later")) as server:
        check(at(server))


def test_a_connection_that_breaks_once_is_tried_again() -> None:
    with ScriptedServer(lambda _: Said(drop=True)) as server:
        server.answering = lambda r: Said(drop=True) if len(server.received) == 1 else listing(r)
        check(at(server))
        assert len(server.received) == 2


def test_a_key_does_not_follow_a_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "planted-key")
    with ScriptedServer(listing) as other:
        target = f"{other.address}/v1/models"
        with ScriptedServer(lambda _: Said("", 302, {"Location": target})) as server:
            check(at(server))
        assert other.received == []


class TestOllama:
    @staticmethod
    def tags(request: Received) -> Said:
        assert request.path == "/api/tags"
        return Said({"models": [{"name": "llava:latest"}, {"name": "qwen3-vl:8b"}]})

    def test_a_name_without_a_tag_is_the_latest(self) -> None:
        with ScriptedServer(self.tags) as server:
            for name in ("llava", "qwen3-vl:8b"):
                check(Endpoint(model=f"ollama_chat/{name}", api_base=server.address))

    def test_a_model_that_was_not_pulled_says_how(self) -> None:
        with ScriptedServer(self.tags) as server, pytest.raises(UserError) as told:
            check(Endpoint(model="ollama_chat/gemma4", api_base=server.address))
        assert str(told.value).endswith("it has: llava:latest, qwen3-vl:8b; get it with: ollama pull gemma4")


class TestProvidersWithAListingOfTheirOwn:
    def test_anthropic(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key")

        def one(request: Received) -> Said:
            assert request.headers["x-api-key"] == "planted-key"
            return Said({"id": "m"}) if request.path == "/v1/models/claude-m" else refusal(404, "no")

        with ScriptedServer(one) as server:
            check(Endpoint(model="anthropic/claude-m", api_base=server.address))
            with pytest.raises(UserError, match="has no model 'claude-n'"):
                check(Endpoint(model="anthropic/claude-n", api_base=server.address))

    def test_gemini_refuses_a_key_with_400(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_API_KEY", "planted-key")
        with ScriptedServer(
            lambda _: refusal(400, "API key not valid. Please pass a valid API key.")
        ) as server:
            with pytest.raises(UserError, match="does not accept the key in GOOGLE_API_KEY"):
                check(
                    Endpoint(
                        model="gemini/gemini-3.8-flash",
                        api_base=f"{server.address}/v1beta",
                        key="GOOGLE_API_KEY",
                    )
                )
            (request,) = server.received
            assert request.path == "/v1beta/models/gemini-3.8-flash"
            assert request.headers["x-goog-api-key"] == "planted-key"


def test_a_provider_that_nobody_knows() -> None:
    with pytest.raises(UserError, match=r"there is no provider 'nobody'.*hosted_vllm/nobody/x"):
        check(Endpoint(model="nobody/x"))


def test_a_provider_that_only_litellm_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIREWORKS_AI_API_KEY", raising=False)
    with pytest.raises(UserError, match="FIREWORKS"):
        check(Endpoint(model="fireworks_ai/qwen3p7-plus"))
