"""Where models are served: providers, addresses, the variables that hold keys, and whether they answer."""

from evoharness.providers.checks import check_endpoints, check_keys, missing_key
from evoharness.providers.endpoint import Endpoint, Provider, known_providers, provider_named
from evoharness.providers.http import NoAnswer, ask
from evoharness.providers.litellm_import import litellm_module
from evoharness.providers.secrets import usable_key, without_secrets

__all__ = [
    "Endpoint",
    "NoAnswer",
    "Provider",
    "ask",
    "check_endpoints",
    "check_keys",
    "known_providers",
    "litellm_module",
    "missing_key",
    "provider_named",
    "usable_key",
    "without_secrets",
]
