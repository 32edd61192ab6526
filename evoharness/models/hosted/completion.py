"""One call through LiteLLM: a request in, a completion or a `CallFailed` out."""

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evoharness.models.hosted.faults_of import failed_call
from evoharness.models.lenient_json import whole_letters
from evoharness.providers import litellm_module

CONNECT_S = 10.0
"""How long a connection may take to be made."""


@dataclass(frozen=True)
class Request:
    """What is sent, and where."""

    model: str
    """As litellm names it."""
    messages: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any]
    api_base: str | None
    timeout_s: float
    secret: str | None = field(default=None, repr=False)
    """The key; it goes to litellm and nowhere else. None: litellm looks for it itself."""


@dataclass(frozen=True)
class Completion:
    """What came back."""

    text: str
    finish_reason: str
    """`stop`, `length` (the limit of tokens was reached), `content_filter`, …; empty: there is no choice."""
    refusal: str
    """Why the model will not answer, in its words; empty when it does."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """As litellm's table of prices has it; None when it has none."""


def complete(request: Request) -> Completion:
    """Make the call, in this thread and once. Raises `CallFailed`."""
    litellm = litellm_module()
    _keep_an_event_loop()
    try:
        response = litellm.completion(
            model=request.model,
            messages=list(request.messages),
            api_base=request.api_base,
            api_key=request.secret,
            timeout=_timeout(request.timeout_s),
            max_retries=0,
            **request.parameters,
        )
    except Exception as error:
        failure = failed_call(error, request.parameters, [request.secret], time.time())
    else:
        return _read(response)
    raise failure  # outside the handler: what litellm raised may hold a key, and goes no further


def _timeout(seconds: float) -> Any:
    """So long between two signs of life; an address where nobody is is known much sooner."""
    import httpx

    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_S))


class _Loop:
    """An event loop of a thread, closed when the thread ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be going down
            self.loop.close()


_OF_THREAD = threading.local()


def _keep_an_event_loop() -> None:
    """litellm runs a coroutine after each call; in a thread without a loop it would make one each time."""
    main = threading.current_thread() is threading.main_thread()
    if not main and getattr(_OF_THREAD, "kept", None) is None:
        _OF_THREAD.kept = _Loop()
        asyncio.set_event_loop(_OF_THREAD.kept.loop)


def _read(response: Any) -> Completion:
    usage = getattr(response, "usage", None)
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    tokens = [max(0, getattr(usage, name, 0) or 0) for name in ("prompt_tokens", "completion_tokens")]
    paid = (int(tokens[0]), int(tokens[1]), cost if isinstance(cost, int | float) and cost >= 0 else None)
    choices = getattr(response, "choices", None) or []
    if not choices:
        return Completion("", "", "", *paid)
    message = getattr(choices[0], "message", None)
    content = getattr(message, "content", None)
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    refusal = getattr(message, "refusal", None)
    return Completion(
        whole_letters(content) if isinstance(content, str) else "",
        str(getattr(choices[0], "finish_reason", "") or ""),
        refusal if isinstance(refusal, str) else "",
        *paid,
    )
