"""Further parameters of calls, checked before any is made."""

import difflib
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

ELSEWHERE = {
    "model": "backbone.models",
    "api_base": "backbone.api_base",
    "base_url": "backbone.api_base",
    "messages": "",
    "input": "",
    "timeout": "backbone.rates.timeout_s",
    "request_timeout": "backbone.rates.timeout_s",
    "max_retries": "backbone.rates.attempts",
    "num_retries": "backbone.rates.attempts",
    "stream": "",
    "stream_options": "",
    "n": "",
    "mock_response": "",
    "fallbacks": "",
    "caching": "backbone.cache",
}
"""What is no parameter here → the setting for it; empty: calls are made as they have to be."""
COMMON = (
    *("temperature", "top_p", "top_k", "min_p", "seed", "stop", "max_tokens", "max_completion_tokens"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "reasoning_effort", "verbosity"),
    *("logit_bias", "logprobs", "top_logprobs", "user", "service_tier", "safety_settings", "enable_thinking"),
    *("thinking_budget", "num_ctx", "keep_alive", "parallel_tool_calls", "response_format", "extra_body"),
)
"""Parameters that are well known; others are taken as well, unless they look like one of these misspelt."""
MAPPINGS = (
    *("extra_body", "extra_query", "thinking", "reasoning", "response_format", "logit_bias", "metadata"),
    *("chat_template_kwargs", "provider", "output_config", "generation_config", "options", "text"),
)
"""Parameters that are mappings themselves; any other goes into `extra_body`."""
ALIKE = 0.88


def check_parameters(parameters: Mapping[str, Any], roles: Collection[str]) -> None:
    """ValueError in one line for what is no parameter of a call: nothing that is wrong is sent to anybody.

    `roles`: names under which a mapping has those of one role, `default` among them.
    """
    for name, value in parameters.items():
        if name in roles:
            if value is not None and not isinstance(value, Mapping):
                raise ValueError(f"{name}: a mapping of the parameters of that role is needed")
            for own, inner in (value or {}).items():
                if own in roles:
                    raise ValueError(f"{name}.{own}: there are no roles within a role")
                _check(f"{name}.{own}", own, inner, ())
        else:
            _check(name, name, value, roles)


def _check(where: str, name: str, value: Any, roles: Collection[str]) -> None:
    if name in ELSEWHERE:
        setting = ELSEWHERE[name]
        way_out = (
            f"{setting} is the setting for it" if setting else "calls are made without it, or with our own"
        )
        raise ValueError(f"{where} is not taken: {way_out}")
    if isinstance(value, Mapping) and name not in MAPPINGS:
        listed = f"there is no role {name!r}: there are {', '.join(roles)}; " if roles else ""
        raise ValueError(
            f"{where}: {listed}a parameter that is a mapping is one of {', '.join(MAPPINGS)}, "
            "any other goes into extra_body"
        )
    if name not in COMMON and name not in MAPPINGS:
        close = difflib.get_close_matches(name, COMMON, n=1, cutoff=ALIKE)
        if close:
            raise ValueError(f"{where}: did you mean {close[0]}? Known are {', '.join(COMMON)}")
    if name == "extra_body" and isinstance(value, Mapping):
        for inner in value:
            if inner in ELSEWHERE:
                _check(f"{where}.{inner}", inner, None, ())
    if not _is_plain(value):
        raise ValueError(f"{where}: texts, finite numbers, lists and mappings can be sent, nothing else")


def _is_plain(value: Any) -> bool:
    """Whether JSON can hold it."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return all(_is_plain(inner) for inner in value)
    return (
        value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    )
