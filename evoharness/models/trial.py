"""One call for a few tokens, for models of providers about which only LiteLLM knows anything.

The providers in `evoharness.providers` are asked for their models instead, which costs nothing.
"""

from collections.abc import Iterable

from evoharness.errors import UserError
from evoharness.models.hosted.completion import Request, complete
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.providers import Endpoint, provider_named

TIMEOUT_S = 20.0
TOKENS = 16


def check_by_trial(endpoints: Iterable[tuple[str, Endpoint]]) -> None:
    """UserError, in one line, for a model that is not there, or a key that is not accepted.

    `endpoints`: (setting that names the model, where it is); those of known providers are passed over. A
    fault that may pass is left to the run, and so is whatever the provider dislikes about so short a call.
    """
    tried = set()
    for setting, endpoint in endpoints:
        if provider_named(endpoint.provider) is not None or endpoint.use != "chat" or endpoint in tried:
            continue
        tried.add(endpoint)
        request = Request(
            model=endpoint.model,
            messages=[{"role": "user", "content": "Say yes."}],
            parameters={"max_tokens": TOKENS},
            api_base=endpoint.base,
            timeout_s=TIMEOUT_S,
            secret=endpoint.secret(),
        )
        try:
            complete(request)
        except CallFailed as failure:
            _tell(setting, endpoint, failure)


def _tell(setting: str, endpoint: Endpoint, failure: CallFailed) -> None:
    where = endpoint.address or endpoint.provider
    if failure.fault is Fault.MODEL:
        raise UserError(f"{where} has no model {endpoint.name!r} ({setting}): {failure}") from None
    if failure.fault is Fault.KEY:
        named = " or ".join(endpoint.key_variables) or "its environment variable"
        raise UserError(
            f"{where} does not accept the key in {named} for {endpoint.model}: {failure}"
        ) from None
    if failure.fault is Fault.NO_CONNECTION:
        raise UserError(f"{where} cannot be reached ({failure}) for {setting}={endpoint.model}") from None
