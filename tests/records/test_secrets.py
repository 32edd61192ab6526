"""Keys are known by their names and by their looks, at any depth; ordinary settings are no keys."""

import pytest

from evoharness.records.secrets import is_secret_name, looks_secret, secret_in_text, secrets_in


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "apiKey", "API-KEY", "x-api-key", "accessToken", "token", "hf_token", "client_secret"),
        *("extra_headers", "Authorization", "aws_access_key_id", "password", "vertex_credentials"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["max_tokens", "key", "keys", "stop_token_ids", "temperature", "thinking", "budget_tokens", "user"],
)
def test_names_of_settings(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    ["sk-proj-0123456789abcdef", "Bearer 0123456789abcdef", "AIzaSyA0123456789abcdef", "hf_0123456789abcdef"],
)
def test_looks(text: str) -> None:
    assert looks_secret(text)
    assert looks_secret(f"it is {text}!")


@pytest.mark.parametrize(
    "text",
    ["openai/gpt-5.5", "OPENAI_API_KEY", "hosted_vllm/Qwen/Qwen3-VL-8B-Instruct", "a bearer of 12 bags"],
)
def test_ordinary_texts(text: str) -> None:
    assert not looks_secret(text)


def test_depth() -> None:
    nested = {"a": [{"b": {"api_key": "x"}}], "c": {"d": ["sk-0123456789abcdef"]}, "max_tokens": 5}
    assert list(secrets_in(nested, "options")) == ["options.a.b.api_key", "options.c.d"]
    assert secret_in_text("{a: {api_key: x}}")
    assert secret_in_text('{"a": {"api_key": x}}')
    assert not secret_in_text("{max_tokens: 5, user: me}")
