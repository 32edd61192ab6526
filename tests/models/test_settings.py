"""What a hosted backbone is made from: a model for each role, and no key anywhere."""

from typing import Any

import pytest

from evoharness.errors import UserError
from evoharness.models import make_backbone
from evoharness.models.settings import ROLES, HostedSettings, Price, hosted_settings
from evoharness.retrieval import WordLlamaEmbedder


def refusal(**options: Any) -> str:
    with pytest.raises(UserError) as told:
        hosted_settings(options)
    return str(told.value)


class TestModels:
    def test_default_is_for_the_roles_that_are_not_named_but_never_listens(self) -> None:
        settings = HostedSettings(models={"default": "openai/a", "judge": "gemini/b"})
        endpoints = settings.endpoints()
        assert endpoints["judge"].model == "gemini/b"
        assert endpoints["solver"].model == "openai/a"
        assert "transcriber" not in endpoints
        assert set(settings.distinct_endpoints()) == {"default", "judge"}
        assert settings.model_of("transcriber") is None

    def test_addresses_and_variables_for_all_roles_or_for_single_ones(self) -> None:
        settings = HostedSettings(
            models={"default": "hosted_vllm/a", "transcriber": "openai/whisper-1"},
            api_base="http://one:1/v1",
            api_bases={"describer": "http://two:2/v1", "transcriber": "https://api.openai.com/v1"},
            key="ONE_KEY",
            keys={"transcriber": "TWO_KEY"},
        )
        endpoints = settings.endpoints()
        assert (endpoints["solver"].api_base, endpoints["solver"].key) == ("http://one:1/v1", "ONE_KEY")
        assert endpoints["describer"].api_base == "http://two:2/v1"
        assert (endpoints["transcriber"].key, endpoints["transcriber"].use) == ("TWO_KEY", "transcription")
        assert set(settings.distinct_endpoints()) == {"default", "describer", "transcriber"}

    def test_without_a_default_every_role_but_the_listener_needs_a_model(self) -> None:
        named = {role: "openai/a" for role in ROLES if role != "transcriber"}
        assert len(HostedSettings(models=named).endpoints()) == 8
        del named["judge"], named["proposer"]
        assert "there is none for proposer, judge" in refusal(models=named)
        assert refusal(models={}).startswith("backbone.models.default: provider/model is needed")

    def test_the_price_of_the_default_is_not_that_of_another_model(self) -> None:
        free, paid = Price(input=0, output=0), Price(input=1.25, output=10)
        settings = HostedSettings(
            models={"default": "hosted_vllm/a", "judge": "openai/b", "solver": "openai/c"},
            prices={"default": free, "solver": paid},
        )
        assert settings.prices_by_model() == {"hosted_vllm/a": free, "openai/c": paid}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"models": {"default": "gpt"}}, "backbone.models.default: 'gpt' does not say whose model it is"),
        ({"models": {"solver": "x", "default": "openai/a"}}, "backbone.models.solver: 'x' does not say"),
        ({"models": {"slover": "openai/a"}}, "backbone.models: there is no role 'slover'"),
        ({"models": {"default": "openai/a"}, "api_base": "localhost"}, "backbone.api_base: an address is"),
        ({"models": {"default": "openai/a"}, "cache": "maybe"}, "backbone.cache: "),
        ({"models": {"default": "openai/a"}, "rates": {"concurrency": 0}}, "concurrency=0: more than 0"),
        ({"models": {"default": "openai/a"}, "colour": 1}, "there is no setting backbone.colour"),
        ({"models": {"default": "openai/a"}, "prices": {"judge": {"in": 1}}}, "backbone.prices.judge"),
    ],
)
def test_mistakes_are_one_line_that_names_the_setting(options: dict[str, Any], said: str) -> None:
    assert said in refusal(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"key": "sk-planted-key-0123456789"},
        {"keys": {"judge": "sk-planted-key-0123456789"}},
        {"parameters": {"api_key": "sk-planted-key-0123456789"}},
        {"parameters": {"extra_headers": {"Authorization": "sk-planted-key-0123456789"}}},
        {"options": {"api-key": "sk-planted-key-0123456789"}},
        {"api_base": "https://sk-planted-key-0123456789@host/v1"},
    ],
)
def test_a_key_in_the_settings_is_refused_and_not_repeated(options: dict[str, Any]) -> None:
    said = refusal(models={"default": "openai/a"}, **options)
    assert "planted" not in said


def test_limits_of_tokens_are_no_secrets() -> None:
    settings = HostedSettings(
        models={"default": "openai/a"}, parameters={"max_tokens": 100, "max_completion_tokens": 5}
    )
    assert settings.parameters["max_tokens"] == 100


def test_the_backbone_is_made_without_a_call_or_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = make_backbone(
        "litellm", embedder=WordLlamaEmbedder(), cache_dir=None, models={"default": "openai/a"}
    )
    assert "openai/a" in made.id
    other = make_backbone(
        "litellm",
        embedder=WordLlamaEmbedder(),
        cache_dir=None,
        models={"default": "openai/a", "transcriber": "openai/whisper-1"},
    )
    assert other.id != made.id
