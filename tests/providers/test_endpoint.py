"""A model at an address: what can be said of it without asking anybody, and that no key is ever in it."""

import pickle

import pytest
from pydantic import ValidationError

from evoharness.errors import UserError
from evoharness.providers import Endpoint, missing_key


def test_the_part_before_the_slash_says_whose_model_it_is() -> None:
    endpoint = Endpoint(model="hosted_vllm/Qwen/Qwen3-VL-8B-Instruct", api_base="http://host:8000/v1/")
    assert (endpoint.provider, endpoint.name) == ("hosted_vllm", "Qwen/Qwen3-VL-8B-Instruct")
    assert endpoint.base == "http://host:8000/v1"


@pytest.mark.parametrize("model", ["gpt-5.5", "openai/", "/x", "", " / "])
def test_a_model_without_a_provider_is_refused(model: str) -> None:
    with pytest.raises(ValidationError, match="provider/model"):
        Endpoint(model=model)


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "ftp://host/v1",
        "https://user:sk-hidden@host/v1",
        "https://host/v1?key=sk-hidden",
        "http://",
        "http://ho st/v1",
    ],
)
def test_an_address_with_a_key_in_it_or_none_at_all_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Endpoint(model="openai/x", api_base=address)
    assert "sk-hidden" not in refused.value.errors(include_input=False)[0]["msg"]


@pytest.mark.parametrize("key", ["sk-abcdefghijklmnopqrst", "sk_abcdefghijklmnopqrst", "a key", "", "1X"])
def test_a_key_in_place_of_a_variable_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Endpoint(model="openai/x", key=key)
    message = refused.value.errors(include_input=False)[0]["msg"]
    assert "environment variable" in message
    assert len(key) < 10 or key not in message


def test_the_key_is_read_when_it_is_needed_and_is_no_part_of_the_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    endpoint = Endpoint(model="openai/gpt-5.5")
    assert missing_key(endpoint) == "OPENAI_API_KEY"
    assert endpoint.secret() is None
    monkeypatch.setenv("OPENAI_API_KEY", "  planted-key\n")
    assert missing_key(endpoint) is None
    assert endpoint.secret() == "planted-key"
    assert "planted-key" not in repr(endpoint) + endpoint.model_dump_json()
    assert b"planted-key" not in pickle.dumps(endpoint)


def test_the_first_variable_that_is_set_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    endpoint = Endpoint(model="gemini/gemini-3.8-flash")
    assert missing_key(endpoint) == "GOOGLE_API_KEY or GEMINI_API_KEY"
    monkeypatch.setenv("GEMINI_API_KEY", "second")
    assert endpoint.secret() == "second"
    monkeypatch.setenv("GOOGLE_API_KEY", "first")
    assert endpoint.secret() == "first"


def test_a_server_of_ones_own_needs_a_key_only_when_a_variable_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("MY_KEY", raising=False)
    own = Endpoint(model="openai/x", api_base="http://localhost:8000/v1")
    assert missing_key(own) is None
    assert missing_key(own.model_copy(update={"key": "MY_KEY"})) == "MY_KEY"
    assert missing_key(Endpoint(model="ollama_chat/llava")) is None


def test_the_address_of_the_environment_counts_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "http://other:11434/")
    assert Endpoint(model="ollama/llava").base == "http://other:11434"
    assert Endpoint(model="ollama/llava", api_base="http://third:1").base == "http://third:1"
    monkeypatch.delenv("OLLAMA_API_BASE")
    assert Endpoint(model="ollama/llava").base is None
    assert Endpoint(model="ollama/llava").address == "http://localhost:11434"


@pytest.mark.parametrize(
    "key", ["planted\nkey", "planted key", "planted\u00e9", "\u201cplanted\u201d", "planted\x00"]
)
def test_a_key_that_cannot_be_sent_is_told_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr("os.environ", {"MY_KEY": key})
    for use in (Endpoint(model="openai/x", key="MY_KEY"), Endpoint(model="nosuch/x", key="MY_KEY")):
        with pytest.raises(UserError, match="variable MY_KEY cannot be sent") as told:
            use.secret()
        assert "planted" not in str(told.value)
        with pytest.raises(UserError, match="MY_KEY"):
            missing_key(use)
