"""Models of providers that only LiteLLM knows are tried with one small call."""

import pytest

from evoharness.errors import UserError
from evoharness.models.trial import check_by_trial
from evoharness.providers import Endpoint
from tests.providers.scripted_server import Said, ScriptedServer, refusal

FINE = Said(
    {
        "id": "1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
)


def at(server: ScriptedServer, model: str = "together_ai/some/model") -> tuple[str, Endpoint]:
    return "backbone.models.judge", Endpoint(model=model, api_base=f"{server.address}/v1", key="MY_KEY")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "planted-key-0123456789")


def test_each_model_is_called_once_for_a_few_tokens() -> None:
    with ScriptedServer(lambda _: FINE) as server:
        check_by_trial([at(server), at(server)])
        (request,) = server.received
    assert request.path == "/v1/chat/completions"
    assert request.body["max_tokens"] == 16
    assert request.headers["authorization"] == "Bearer planted-key-0123456789"


def test_known_providers_are_not_called() -> None:
    with ScriptedServer(lambda _: FINE) as server:
        check_by_trial([at(server, "openai/a"), at(server, "ollama/b")])
        assert server.received == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (refusal(404, "The model does not exist"), r"has no model 'some/model' \(backbone.models.judge\)"),
        (refusal(401, "bad key planted-key-0123456789"), "does not accept the key in MY_KEY"),
    ],
)
def test_what_is_wrong_is_one_line_without_the_key(said: Said, told: str) -> None:
    with ScriptedServer(lambda _: said) as server, pytest.raises(UserError, match=told) as error:
        check_by_trial([at(server)])
    assert "planted-key" not in str(error.value)


@pytest.mark.parametrize("status", [400, 429, 500])
def test_what_may_pass_is_left_to_the_run(status: int) -> None:
    with ScriptedServer(lambda _: refusal(status, "not now")) as server:
        check_by_trial([at(server)])


def test_nobody_there() -> None:
    endpoint = Endpoint(model="together_ai/m", api_base="http://127.0.0.1:9/v1", key="MY_KEY")
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9/v1 cannot be reached"):
        check_by_trial([("backbone.models.default", endpoint)])
