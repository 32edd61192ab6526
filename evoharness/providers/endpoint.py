"""A model at an address, and what is known of its provider without asking anybody.

litellm knows far more providers than are listed here; importing it takes seconds. Of those listed, a
missing key or a server that is down can be told at once.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import field_validator

from evoharness.providers.secrets import usable_key
from evoharness.records.base import Record

Use = Literal["chat", "embedding", "transcription"]
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,80}")
_LOOKS_SECRET = re.compile(r"^(sk|pk|gsk|xai|hf|AIza|Bearer)[-_ A-Za-z0-9]{12,}$")


@dataclass(frozen=True)
class Provider:
    """What litellm calls a provider: the part of a model's id before the first slash."""

    name: str
    keys: tuple[str, ...] = ()
    """Environment variables that may hold the key, in the order in which litellm reads them."""
    base: str | None = None
    """Its address, up to what follows for every kind of call; None: it has to be given."""
    base_variables: tuple[str, ...] = ()
    """Environment variables that give another address."""
    style: Literal["openai", "anthropic", "gemini", "ollama"] = "openai"
    """How it lists its models."""
    needs_key: bool = True


_PROVIDERS = (
    Provider(
        "openai", ("OPENAI_API_KEY",), "https://api.openai.com/v1", ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    ),
    Provider(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com",
        ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
        "anthropic",
    ),
    Provider(
        "gemini",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_BASE",),
        "gemini",
    ),
    Provider(
        "dashscope",
        ("DASHSCOPE_API_KEY",),
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        ("DASHSCOPE_API_BASE",),
    ),
    Provider("deepseek", ("DEEPSEEK_API_KEY",), "https://api.deepseek.com", ("DEEPSEEK_API_BASE",)),
    Provider("openrouter", ("OPENROUTER_API_KEY", "OR_API_KEY"), "https://openrouter.ai/api/v1"),
    Provider("mistral", ("MISTRAL_API_KEY",), "https://api.mistral.ai/v1"),
    Provider("groq", ("GROQ_API_KEY",), "https://api.groq.com/openai/v1", ("GROQ_API_BASE",)),
    Provider("novita", ("NOVITA_API_KEY",), "https://api.novita.ai/v3/openai", ("NOVITA_API_BASE",)),
    Provider("nebius", ("NEBIUS_API_KEY",), "https://api.studio.nebius.ai/v1", ("NEBIUS_API_BASE",)),
    Provider("hosted_vllm", ("HOSTED_VLLM_API_KEY",), None, ("HOSTED_VLLM_API_BASE",), needs_key=False),
    *(
        Provider(
            name,
            ("OLLAMA_API_KEY",),
            "http://localhost:11434",
            ("OLLAMA_API_BASE",),
            "ollama",
            needs_key=False,
        )
        for name in ("ollama", "ollama_chat")
    ),
)
_BY_NAME = {provider.name: provider for provider in _PROVIDERS}


def provider_named(name: str) -> Provider | None:
    """The provider of that name; None when nothing is known about it here."""
    return _BY_NAME.get(name)


def known_providers() -> Iterable[Provider]:
    """The providers that are known without litellm."""
    return _PROVIDERS


class Endpoint(Record):
    """One model at one address."""

    model: str
    """As litellm names it: `provider/model`."""
    api_base: str | None = None
    """Address of the server; None: the provider's own, or the one in its environment variable."""
    key: str | None = None
    """Name of the environment variable that holds the key; None: the provider's usual one."""
    use: Use = "chat"
    """What it is called for."""

    @field_validator("model")
    @classmethod
    def _names_a_provider(cls, model: str) -> str:
        provider, slash, name = model.partition("/")
        if not slash or not provider.strip() or not name.strip():
            raise ValueError(
                f"{model!r} does not say whose model it is: write provider/model, as openai/{model}"
            )
        return model

    @field_validator("api_base")
    @classmethod
    def _is_an_address(cls, address: str | None) -> str | None:
        if address is None:
            return None
        match = re.fullmatch(r"(https?)://([^/?#\s]+)([^?#\s]*)", address.strip())
        if match is None or "@" in match[2]:
            # The address is not repeated: what does not fit may hold a key.
            raise ValueError(
                "an address is http://host:port/path or https://…, without a user, a query or a key in it"
            )
        return address.strip().rstrip("/")

    @field_validator("key")
    @classmethod
    def _is_a_variable(cls, key: str | None) -> str | None:
        if key is not None and (not _VARIABLE.fullmatch(key) or _LOOKS_SECRET.match(key)):
            # Not repeated either, for the same reason.
            raise ValueError(
                "the name of an environment variable is needed here, never the key itself: "
                "put the key into a variable, and its name here"
            )
        return key

    @property
    def provider(self) -> str:
        """The part before the slash."""
        return self.model.partition("/")[0]

    @property
    def name(self) -> str:
        """What the provider itself calls the model."""
        return self.model.partition("/")[2]

    @property
    def base(self) -> str | None:
        """The address that a call has to be given, without a slash at its end; None: the provider's own,
        which litellm knows."""
        if self.api_base is not None:
            return self.api_base
        provider = provider_named(self.provider)
        given = (os.environ.get(variable) for variable in (provider.base_variables if provider else ()))
        return next((base.rstrip("/") for base in given if base), None)

    @property
    def address(self) -> str | None:
        """Where it is, as far as that is known here."""
        provider = provider_named(self.provider)
        return self.base or (provider.base if provider is not None else None)

    @property
    def is_own_server(self) -> bool:
        """Whether the address is another one than the provider's own."""
        provider = provider_named(self.provider)
        return self.base is not None and (provider is None or self.base != provider.base)

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Environment variables that may hold the key; the first that is set counts."""
        if self.key is not None:
            return (self.key,)
        provider = provider_named(self.provider)
        return provider.keys if provider is not None else ()

    @property
    def needs_key(self) -> bool:
        """Whether a call without a key is in vain; for a server of one's own, whether a variable is named."""
        if self.key is not None:
            return True
        provider = provider_named(self.provider)
        return provider is not None and provider.needs_key and not self.is_own_server

    def secret(self) -> str | None:
        """The key, read from the environment now; never kept, shown or written anywhere.

        UserError names the variable when what it holds cannot be sent.
        """
        found = ((name, os.environ.get(name, "")) for name in self.key_variables)
        return next((usable_key(name, value) for name, value in found if value.strip()), None)
