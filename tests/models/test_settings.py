"""What a hosted backbone is made from: a model for each role, and no key anywhere."""

import math
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
        ({"models": {"default": "openai/a"}, "rates": {"timeout_s": math.inf}}, "rates.timeout_s"),
        ({"models": {"default": "openai/a"}, "rates": {"timeout_s": math.nan}}, "rates.timeout_s"),
        ({"models": {"default": "openai/a"}, "colour": 1}, "there is no setting backbone.colour"),
        ({"models": {"default": "openai/a"}, "prices": {"judge": {"in": 1}}}, "backbone.prices.judge"),
        (
            {"models": {"default": "openai/a"}, "prices": {"default": 3}},
            "prices.default: a price is given as",
        ),
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
        {"parameters": {"solver": {"api_key": "planted"}}},
        {"parameters": {"default": {"extra_body": {"auth": [{"accessToken": "planted"}]}}}},
        {"parameters": {"judge": {"user": "sk-planted-key-0123456789"}}},
        {"parameters": {"extra_body": {"sk-planted-key-0123456789": 1}}},
        {"options": {"profiles": {"solver": {"secret": "planted"}}}},
        {"options": {"retries": {"password": "planted"}}},
        {"parameters": {"solver": {"timeout": "planted"}}},
        {"api_base": "https://sk-planted-key-0123456789@host/v1"},
    ],
)
def test_a_key_in_the_settings_is_refused_and_not_repeated(options: dict[str, Any]) -> None:
    said = refusal(models={"default": "openai/a"}, **options)
    assert "planted" not in said


MODELS = {"models": {"default": "openai/a", "judge": "gemini/b"}}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"parameters": {"solvr": {"temperature": 0}}},
            "solvr: there is no role 'solvr': there are default,",
        ),
        ({"parameters": {"solver": 3}}, "solver: a mapping of the parameters of that role is needed"),
        ({"parameters": {"solver": {"judge": {}}}}, "solver.judge: there are no roles within a role"),
        ({"parameters": {"stream": True}}, "parameters: stream is not taken"),
        (
            {"parameters": {"judge": {"timeout": 3}}},
            "judge.timeout is not taken: backbone.rates.timeout_s is",
        ),
        ({"parameters": {"model": "x/y"}}, "model is not taken: backbone.models is the setting for it"),
        ({"parameters": {"extra_body": {"messages": []}}}, "extra_body.messages is not taken"),
        ({"parameters": {"temprature": 0.3}}, "temprature: did you mean temperature?"),
        ({"parameters": {"temperature": float("nan")}}, "temperature: texts, finite numbers"),
        (
            {"options": {"cache": None}},
            "backbone.options: there is no option 'cache': there are image_format,",
        ),
        ({"options": {"retires": {"attempts": 3}}}, "there is no option 'retires'"),
        (
            {"options": {"retries": {"atempts": 3}}},
            "backbone.options.retries: there is no atempts; there are",
        ),
        ({"options": {"retries": 3}}, "backbone.options.retries: a mapping is needed"),
        ({"options": {"profiles": {"nosuch": {}}}}, "backbone.options.profiles.nosuch is of no model here"),
        ({"options": {"profiles": {"solver": {"max_imges": 3}}}}, "options.profiles.solver: max_imges: "),
        ({"prices": {"solvr": {"input": 1, "output": 1}}}, "backbone.prices.solvr is the price of nothing"),
        ({"prices": {"openai/c": {"input": 1, "output": 1}}}, "of a model (gemini/b, openai/a)"),
        ({"prices": {"transcriber": {"input": 1, "output": 1}}}, "no model is named for it"),
        ({"prices": {"judge": {"input": -1, "output": 1}}}, "backbone.prices.judge.input: "),
        ({"prices": {"judge": {"input": 1, "output": float("nan")}}}, "backbone.prices.judge.output: "),
        ({"prices": {"judge": {"input": 1, "output": float("inf")}}}, "backbone.prices.judge.output: "),
    ],
)
def test_what_would_do_nothing_or_harm_is_told_before_any_request(options: dict[str, Any], said: str) -> None:
    message = refusal(**MODELS, **options)
    assert said in message
    assert "\n" not in message


def test_what_providers_take_is_taken() -> None:
    parameters = {
        "reasoning_effort": "low",
        "top_k": 20,
        "repetition_penalty": 1.1,
        "thinking": {"type": "enabled", "budget_tokens": 100},
        "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
        "something_new": [1, "a"],
        "default": {"temperature": 0.5},
        "judge": None,
    }
    options = {
        "profiles": {"default": {"max_images": 3}, "gemini": {"video": False}, "openai/*": {}},
        "retries": {"attempts": 2},
        "image_format": "png",
        "seed": 1,
    }
    prices = {"judge": {"input": 0, "output": 0}, "openai/a": {"input": 1, "output": 2}}
    settings = hosted_settings({**MODELS, "parameters": parameters, "options": options, "prices": prices})
    assert settings.parameters == parameters


def test_a_role_has_its_own_parameters_though_it_has_the_model_of_the_default() -> None:
    def identity(**further: Any) -> str:
        made = make_backbone(
            "litellm",
            embedder=WordLlamaEmbedder(),
            cache_dir=None,
            models={"default": "openai/a"},
            **further,
        )
        return made.id

    plain = identity()
    assert "solver" not in plain
    assert "solver=openai/a" in identity(parameters={"solver": {"temperature": 0.5}})
    assert "judge=openai/a" in identity(options={"profiles": {"judge": {"max_images": 3}}})


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
