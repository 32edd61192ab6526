"""Before a run: are the keys there, do the servers answer, have they got these models?

Nothing here imports litellm for a provider that is known, so a mistake is told at once. At most two cheap
requests go to each address: its list of models, and, where a model is not in it, one call for one token. What
only a real call can show (a quota, a content filter) is left to the call.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from evoharness.errors import UserError
from evoharness.providers.endpoint import Endpoint, provider_named
from evoharness.providers.http import Answer, NoAnswer, ask
from evoharness.providers.litellm_import import litellm_module

TIMEOUT_S = 5.0
_NO_MODEL = re.compile(
    r"model_not_found|(unknown|invalid|no such|unsupported) model|not a valid model"
    r"|model\b.{0,120}?(not (found|exist|supported|available|loaded|served)|does ?n[o']t exist|is unknown)",
    re.IGNORECASE | re.DOTALL,
)
_BAD_KEY = re.compile(r"api.?key|unauthori[sz]ed|credential|permission", re.IGNORECASE)


def check_endpoints(
    endpoints: Sequence[tuple[str, Endpoint]], address_setting: str, timeout_s: float = TIMEOUT_S
) -> None:
    """UserError, in one line, for the first endpoint that cannot work as it is configured.

    `endpoints`: (setting that names a model, endpoint). `address_setting`: the setting that gives an address,
    for the message. Keys are checked before anything is sent.
    """
    check_keys(endpoints)
    distinct: dict[tuple[str, str | None, str | None], tuple[str, Endpoint]] = {}
    for setting, endpoint in endpoints:
        distinct.setdefault((endpoint.model, endpoint.address, endpoint.secret()), (setting, endpoint))
    with ThreadPoolExecutor(max_workers=8) as pool:
        checks = [
            pool.submit(_check_server, setting, endpoint, address_setting, timeout_s)
            for setting, endpoint in distinct.values()
        ]
        for check in checks:
            check.result()


def missing_key(endpoint: Endpoint) -> str | None:
    """The variable that has to be set before this endpoint can be called; None: nothing is missing."""
    if provider_named(endpoint.provider) is None and endpoint.key is None:
        return _missing_by_litellm(endpoint)
    if endpoint.needs_key and endpoint.secret() is None:
        return " or ".join(endpoint.key_variables)
    return None


def check_keys(endpoints: Sequence[tuple[str, Endpoint]]) -> None:
    """UserError names every variable that has to be set, or the address that is missing. Nothing is sent.

    `endpoints`: as for `check_endpoints`; the section of a setting is its part before the first dot.
    """
    missing: dict[str, str] = {}
    for setting, endpoint in endpoints:
        if variable := missing_key(endpoint):
            missing.setdefault(variable, f"{setting}={endpoint.model}")
        elif endpoint.address is None and provider_named(endpoint.provider) is not None:
            raise UserError(
                f"{setting}={endpoint.model} needs an address: {_section(setting)}.api_base=http://host:port/v1"
            )
    if not missing:
        return
    (variable, model), *others = missing.items()
    more = "".join(f"; set {name} for {other}" for name, other in others)
    raise UserError(
        f"{model} needs a key: set the environment variable {variable}, or name another with "
        f"{_section(model)}.key{more}"
    )


def _section(setting: str) -> str:
    return setting.partition(".")[0]


def _missing_by_litellm(endpoint: Endpoint) -> str | None:
    """What litellm says is missing; UserError for a provider that it does not know either."""
    litellm = litellm_module()
    if endpoint.provider not in {str(getattr(each, "value", each)) for each in litellm.provider_list}:
        raise UserError(
            f"{endpoint.model}: there is no provider {endpoint.provider!r}; a model on a server that speaks "
            f"OpenAI's protocol is named hosted_vllm/{endpoint.model}"
        )
    found: Mapping[str, Any] = litellm.validate_environment(endpoint.model, api_base=endpoint.api_base)
    return " and ".join(found.get("missing_keys") or ()) or None


def _check_server(setting: str, endpoint: Endpoint, address_setting: str, timeout_s: float) -> None:
    provider = provider_named(endpoint.provider)
    base = endpoint.address
    if base is None or provider is None:  # of a provider that only litellm knows, only a call can tell
        return
    style = provider.style
    one_model = style in ("anthropic", "gemini") or (
        style == "openai" and base == "https://api.openai.com/v1"
    )
    path = {"anthropic": "/v1/models", "ollama": "/api/tags"}.get(style, "/models")
    if one_model:
        path += f"/{quote(endpoint.name)}"
    try:
        answer = ask(base + path, _headers(style, endpoint), timeout_s)
    except NoAnswer as problem:
        raise UserError(
            f"{base} cannot be reached ({problem}): is the server running? {address_setting}=… names another "
            f"address for {endpoint.model}"
        ) from problem
    _check_accepted(answer, endpoint, base)
    if one_model:
        if answer.status == 404:
            raise _no_model(setting, endpoint, base, ())
        return
    if answer.status == 200:
        names = _names(answer)
        if names is None:
            raise UserError(
                f"{base} answers, but not as a server of models ({answer.kind or 'no type'}): check "
                f"{address_setting}"
            )
        if _has(endpoint, style, names):
            return
        if style == "ollama":
            raise _no_model(setting, endpoint, base, names, f"; get it with: ollama pull {endpoint.name}")
    elif answer.status >= 500 or answer.status == 429:
        return  # it is there, and busy: the calls wait for it
    else:
        names = []
    _check_by_calling(setting, endpoint, base, names, timeout_s, listed=answer.status == 200)


def _check_by_calling(
    setting: str, endpoint: Endpoint, base: str, names: list[str], timeout_s: float, listed: bool
) -> None:
    """One call for one token: servers may serve a model under a name that they do not list."""
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        "chat": (
            "/chat/completions",
            {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1},
        ),
        "embedding": ("/embeddings", {"input": ["yes"]}),
    }
    if endpoint.use not in bodies:
        return
    path, body = bodies[endpoint.use]
    try:
        headers = _headers("openai", endpoint)
        answer = ask(base + path, headers, timeout_s, {"model": endpoint.name, **body})
    except NoAnswer:
        return  # it listed its models a moment ago: it is slow, perhaps loading this one
    _check_accepted(answer, endpoint, base)
    if answer.status == 404 and not listed and not _NO_MODEL.search(answer.text):
        raise UserError(
            f"there is neither {base}/models nor {base}{path}: an OpenAI-compatible address ends in "
            "/v1 as a rule"
        )
    if answer.status == 404 or (answer.status in (400, 422) and _NO_MODEL.search(answer.text)):
        raise _no_model(setting, endpoint, base, names)


def _check_accepted(answer: Answer, endpoint: Endpoint, base: str) -> None:
    refused = answer.status in (401, 403) or (
        answer.status == 400 and endpoint.provider == "gemini" and _BAD_KEY.search(answer.text)
    )
    if not refused:
        return
    variables = " or ".join(endpoint.key_variables) or "its environment variable"
    if endpoint.secret() is None:
        raise UserError(f"{base} wants a key for {endpoint.model} (HTTP {answer.status}): set {variables}")
    raise UserError(f"{base} does not accept the key in {variables} (HTTP {answer.status})")


def _no_model(
    setting: str, endpoint: Endpoint, base: str, names: Iterable[str], way_out: str = ""
) -> UserError:
    listed = list(names)
    has = f"; it has: {', '.join(listed[:8])}{', …' if len(listed) > 8 else ''}" if listed else ""
    return UserError(f"{base} has no model {endpoint.name!r} ({setting}){has}{way_out}")


def _headers(style: str, endpoint: Endpoint) -> dict[str, str]:
    key = endpoint.secret()
    if key is None:
        return {}
    if style == "anthropic":
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return {"x-goog-api-key": key} if style == "gemini" else {"Authorization": f"Bearer {key}"}


def _names(answer: Answer) -> list[str] | None:
    """The models that are listed; None when the answer is no list."""
    try:
        content: Any = json.loads(answer.text)
    except ValueError:
        return None
    listed = content.get("data", content.get("models")) if isinstance(content, dict) else content
    if not isinstance(listed, list):
        return None
    entries = [entry for entry in listed if isinstance(entry, dict)]
    return [str(entry.get("id") or entry.get("name") or entry.get("model") or "") for entry in entries]


def _has(endpoint: Endpoint, style: str, names: Iterable[str]) -> bool:
    wanted = {endpoint.name, endpoint.model}
    if style == "ollama" and ":" not in endpoint.name:
        wanted.add(f"{endpoint.name}:latest")
    return bool(wanted & set(names))
