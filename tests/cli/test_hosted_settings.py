"""From the sections of a configuration to what workers are given: everything they need, and no key."""

import pickle
from pathlib import Path

import pytest

from evoharness.cli.parts import ANSWERING_ROLES, check_models, workbench_config
from evoharness.config import AskConfig, BackboneSection, BudgetSection, EmbedderSection
from evoharness.errors import UserError
from evoharness.retrieval.embedders.hosted import HostedEmbedder


def config(tmp_path: Path) -> AskConfig:
    return AskConfig(
        cache=str(tmp_path),
        backbone=BackboneSection(
            name="litellm",
            models={"default": "openai/a", "judge": "hosted_vllm/b"},
            api_bases={"judge": "http://localhost:1/v1"},
            key="MY_KEY",
        ),
        budget=BudgetSection(usd=1.5),
        embedder=EmbedderSection(name="litellm", model="openai/small", key="MY_KEY", options={"batch": 7}),
    )


def test_it_travels_to_workers_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "planted-key")
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key")
    made = workbench_config(config(tmp_path), tmp_path / "budget.sqlite")
    packed = pickle.dumps(made)
    assert b"planted-key" not in packed
    assert "planted-key" not in made.model_dump_json()
    bench = pickle.loads(packed).build()
    assert bench.config == made
    assert "openai/a" in bench.backbone.id
    assert "hosted_vllm/b" in bench.backbone.id
    assert isinstance(bench.embedder, HostedEmbedder)
    assert bench.embedder.id == "litellm:openai/small"
    bench.close()


def test_only_what_differs_from_the_defaults_is_passed_on(tmp_path: Path) -> None:
    options = workbench_config(config(tmp_path)).backbone_options
    assert set(options) == {"models", "api_bases", "key", "budget"}


def test_only_models_that_take_part_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    asked = config(tmp_path)
    asked.embedder = EmbedderSection()
    with pytest.raises(UserError, match=r"backbone\.models\.default=openai/a needs a key.*MY_KEY"):
        check_models(asked, ANSWERING_ROLES)
    asked.backbone.key = None
    asked.backbone.models["default"] = "hosted_vllm/c"
    asked.backbone.api_base = "http://localhost:2/v1"
    with pytest.raises(UserError, match="localhost:2/v1 cannot be reached"):
        check_models(asked, ANSWERING_ROLES)
    with pytest.raises(UserError, match="localhost:1/v1 cannot be reached"):
        check_models(asked, ["judge"])


def test_an_embedder_has_a_price_and_limits_of_its_own(tmp_path: Path) -> None:
    asked = config(tmp_path)
    asked.embedder.price = 0.5
    asked.embedder.rates.requests_a_minute = 100
    made = workbench_config(asked)
    assert (made.embedder_terms.price, made.embedder_terms.rates.requests_a_minute) == (0.5, 100)
    assert made.embedder_terms.rates.attempts == 6
    asked.embedder.price = -1
    with pytest.raises(UserError, match=r"^embedder\.price: "):
        workbench_config(asked)
    asked.embedder.price = None
    asked.embedder.rates.concurrency = 0
    with pytest.raises(UserError, match=r"^embedder\.rates: .*concurrency=0: more than 0 is needed"):
        workbench_config(asked)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("timeout_s", r"embedder\.rates\.timeout_s is"),
        ("price", r"embedder\.price is"),
        ("calls", "not taken$"),
    ],
)
def test_what_is_a_setting_of_its_own_is_no_option(name: str, said: str, tmp_path: Path) -> None:
    asked = config(tmp_path)
    asked.embedder.options = {name: 3}
    with pytest.raises(UserError, match=said):
        workbench_config(asked)


def test_an_outage_is_waited_for_wherever_somebody_is_called(tmp_path: Path) -> None:
    asked = config(tmp_path)
    asked.backbone = BackboneSection()
    assert workbench_config(asked).outage_s == asked.executor.outage_s
    asked.embedder = EmbedderSection()
    assert workbench_config(asked).outage_s is None


def test_the_embedder_is_looked_for_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    asked = config(tmp_path)
    asked.backbone = BackboneSection()
    with pytest.raises(UserError, match=r"embedder\.model=openai/small needs a key.*variable MY_KEY"):
        check_models(asked, ANSWERING_ROLES)


def test_all_keys_that_are_missing_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DASHSCOPE_API_KEY", "NEBIUS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    asked = AskConfig(
        cache=str(tmp_path),
        backbone=BackboneSection(name="litellm", models={"default": "dashscope/large"}),
        embedder=EmbedderSection(name="litellm", model="nebius/small"),
    )
    with pytest.raises(UserError) as told:
        check_models(asked, ANSWERING_ROLES)
    assert str(told.value) == (
        "backbone.models.default=dashscope/large needs a key: set the environment variable "
        "DASHSCOPE_API_KEY, or name another with backbone.key; "
        "set NEBIUS_API_KEY for embedder.model=nebius/small"
    )


def test_nothing_is_asked_of_anybody_for_what_comes_with_the_package(tmp_path: Path) -> None:
    check_models(AskConfig(cache=str(tmp_path)), ANSWERING_ROLES)


def test_to_listen_a_model_is_needed(tmp_path: Path) -> None:
    asked = config(tmp_path)
    asked.memory = {"transcript": "model"}
    with pytest.raises(UserError, match=r"needs backbone\.models\.transcriber"):
        workbench_config(asked)
    asked.backbone.models["transcriber"] = "openai/whisper-1"
    workbench_config(asked)
    asked.backbone = BackboneSection()
    with pytest.raises(UserError, match="needs a backbone that listens"):
        workbench_config(asked)


@pytest.mark.parametrize("name", ["model", "api_base", "key"])
def test_settings_of_an_embedder_are_no_options_of_it(name: str, tmp_path: Path) -> None:
    asked = config(tmp_path)
    asked.embedder.options = {name: "planted"}
    with pytest.raises(UserError, match=rf"embedder\.{name} is the setting for it") as told:
        workbench_config(asked)
    assert "planted" not in str(told.value)
