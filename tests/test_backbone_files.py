"""Every file of configs/backbone/ and configs/embedder/ names models that exist, and no key."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from evoharness.models.settings import ROLES, HostedSettings
from evoharness.providers import Endpoint, litellm_module, provider_named

FOLDER = files("evoharness.configs")
OWN_SERVERS = {"ollama", "vllm"}
"""What these serve is up to whoever runs them: litellm has no list of it."""


def sections(group: str) -> dict[str, dict[str, Any]]:
    folder = FOLDER.joinpath(group)
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".yaml"))
    return {name.removesuffix(".yaml"): yaml.safe_load(folder.joinpath(name).read_text()) for name in names}


BACKBONES = {name: section for name, section in sections("backbone").items() if section["name"] == "litellm"}
EMBEDDERS = {name: section for name, section in sections("embedder").items() if section["name"] == "litellm"}


def settings_of(name: str) -> HostedSettings:
    return HostedSettings(
        **{key: value for key, value in BACKBONES[name].items() if key not in ("name", "defaults")}
    )


def price_table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = litellm_module().model_cost
    return table


def entry(endpoint: Endpoint) -> dict[str, Any] | None:
    """What litellm's own table says of a model; some providers stand there without their name."""
    table = price_table()
    found = table.get(endpoint.model) or table.get(endpoint.name)
    return found if found and found["litellm_provider"] == endpoint.provider else None


def test_the_files_that_people_are_told_of_are_there() -> None:
    assert set(BACKBONES) == {
        "anthropic",
        "gemini",
        "medclaw",
        "ollama",
        "openai",
        "qwen",
        "videoevoharness",
        "vllm",
    }
    assert "embedded" in sections("backbone")


@pytest.mark.parametrize("name", BACKBONES)
def test_every_role_has_a_model_of_a_provider_whose_key_is_known(name: str) -> None:
    endpoints = settings_of(name).endpoints()
    assert set(ROLES) - set(endpoints) <= {"transcriber"}
    assert all(provider_named(endpoint.provider) for endpoint in endpoints.values())


@pytest.mark.parametrize("name", sorted(set(BACKBONES) - OWN_SERVERS))
def test_litellm_knows_every_model_what_it_costs_and_what_it_can_do(name: str) -> None:
    for role, endpoint in settings_of(name).endpoints().items():
        known = entry(endpoint)
        assert known is not None, (role, endpoint.model)
        wanted = "audio_transcription" if role == "transcriber" else "chat"
        assert known["mode"] == wanted, (role, endpoint.model)
        if role in ("describer", "video_expert", "frame_verifier"):
            assert known.get("supports_vision"), (role, endpoint.model)
        assert any("cost_per" in key for key in known) or known.get("tiered_pricing"), endpoint.model


@pytest.mark.parametrize("name", EMBEDDERS)
def test_embedders_are_embedders(name: str) -> None:
    known = entry(Endpoint(model=EMBEDDERS[name]["model"], use="embedding"))
    assert known is not None
    assert known["mode"] == "embedding"


def test_the_papers_pairings() -> None:
    medclaw = {role: endpoint.name for role, endpoint in settings_of("medclaw").endpoints().items()}
    assert medclaw["orchestrator"] == "claude-opus-4-8"
    assert medclaw["video_expert"] in ("gemini-3.1-flash-lite", "gemini-3.5-flash")
    assert medclaw["frame_verifier"] == medclaw["judge"] == "gpt-5.5"
    assert medclaw["blind_answerer"].startswith("deepseek")
    assert {each.name for each in settings_of("videoevoharness").endpoints().values()} == {"qwen3.7-plus"}
    assert sections("embedder")["qwen3"]["model"].endswith("Qwen3-Embedding-8B")


def test_ones_own_server_costs_nothing_but_a_paid_model_beside_it_does() -> None:
    for name in OWN_SERVERS:
        settings = settings_of(name)
        (price,) = settings.prices_by_model().values()
        assert price.input == price.output == 0
        mixed = settings.model_copy(update={"models": {**settings.models, "judge": "openai/gpt-5.5"}})
        assert "openai/gpt-5.5" not in mixed.prices_by_model()


def composed(command: str, folder: Path, *arguments: str) -> dict[str, Any]:
    """The configuration of a command with these arguments."""
    done = subprocess.run(
        [sys.executable, "-m", f"evoharness.{command}", *arguments, "--cfg", "job"],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "EVOHARNESS_CACHE": str(folder)},
    )
    config: dict[str, Any] = yaml.safe_load(done.stdout)
    return config


@pytest.mark.parametrize("command", ["ask", "evaluate", "evolve", "memorize"])
def test_a_file_is_chosen_and_a_role_replaced_on_the_command_line(command: str, tmp_path: Path) -> None:
    replaced = "backbone.models.solver=ollama_chat/qwen3-vl:8b"
    config = composed(command, tmp_path, "backbone=medclaw", replaced)
    assert config["backbone"]["models"]["solver"] == "ollama_chat/qwen3-vl:8b"
    assert config["backbone"]["models"]["judge"] == "openai/gpt-5.5"
    assert config["embedder"]["name"] == "wordllama"


def test_a_pairing_brings_its_embedder_unless_another_is_chosen(tmp_path: Path) -> None:
    pairing = composed("evolve", tmp_path, "backbone=videoevoharness")
    assert pairing["embedder"]["model"].endswith("Qwen3-Embedding-8B")
    other = composed("evolve", tmp_path, "backbone=videoevoharness", "embedder=wordllama")
    assert other["embedder"]["name"] == "wordllama"
    assert other["backbone"]["models"] == pairing["backbone"]["models"]
