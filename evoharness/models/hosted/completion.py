"""One call through LiteLLM: a request in, a completion or a `CallFailed` out."""

import asyncio
import json
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evoharness.models.hosted.deadline import within
from evoharness.models.hosted.faults_of import failed_call
from evoharness.models.hosted.unpriced import unpriced
from evoharness.models.lenient_json import whole_letters
from evoharness.providers import litellm_module

CONNECT_S = 10.0
"""How long a connection may take to be made."""
MOST_TOKENS = 10_000_000
"""No model takes so many at once: a larger count is a mistake."""
LONGEST_CHAIN = 12
"""Causes of an error that are looked at."""


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
    priced: bool = True
    """Whether the completion has to say what litellm's table makes of it."""


@dataclass(frozen=True)
class Completion:
    """What came back."""

    text: str
    finish_reason: str
    """`stop`, `length` (the limit of tokens was reached), `content_filter`, …; empty: there is no choice."""
    refusal: str
    """Why the model will not answer, in its words; empty when it does."""
    input_tokens: int | None
    output_tokens: int | None
    """As the server counts them; None when it does not say, or nothing that can be true."""
    cost_usd: float | None
    """As litellm's table of prices has it; None when it has none or was not asked."""
    asides: tuple[str, ...] = ()
    """Texts beside an empty one: arguments of tools that were not offered, thoughts that are shown."""


def complete(request: Request) -> Completion:
    """Make the call, once, and wait for it as long as it may take. Raises `CallFailed`."""
    litellm_module()
    try:
        return within(request.timeout_s, lambda: _complete(request))
    except Exception as error:
        said = _odd_content(error)
        if said is not None:
            return Completion(said, "stop", "", None, None, None)
        failure = failed_call(error, request.parameters, [request.secret], time.time())
    raise failure  # outside the handler: what litellm raised may hold a key, and goes no further


def _complete(request: Request) -> Completion:
    _keep_an_event_loop()
    response = litellm_module().completion(
        model=request.model,
        messages=list(request.messages),
        api_base=request.api_base,
        api_key=request.secret,
        timeout=_timeout(request.timeout_s),
        max_retries=0,
        **request.parameters,
        **({} if request.priced else unpriced(request.model, request.messages)),
    )
    return _read(response)


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
    paid = (
        token_count(getattr(usage, "prompt_tokens", None)),
        token_count(getattr(usage, "completion_tokens", None)),
        float(cost) if isinstance(cost, int | float) and 0 <= cost < math.inf else None,
    )
    choices = getattr(response, "choices", None) or []
    if not choices:
        return Completion("", "", "", *paid)
    message = getattr(choices[0], "message", None)
    content = _text(getattr(message, "content", None))
    refusal = getattr(message, "refusal", None)
    return Completion(
        whole_letters(content),
        str(getattr(choices[0], "finish_reason", "") or ""),
        refusal if isinstance(refusal, str) else "",
        *paid,
        () if content.strip() else tuple(_asides(message)),
    )


def token_count(value: Any) -> int | None:
    """The number of tokens that a server tells, if it can be true."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return math.ceil(value)


def _text(content: Any) -> str:
    """The text of a message: as it is, in parts, or an object where its JSON should be."""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, dict):
        return json.dumps(content)
    return content if isinstance(content, str) else ""


def _asides(message: Any) -> Iterator[str]:
    for call in getattr(message, "tool_calls", None) or ():
        arguments = getattr(getattr(call, "function", None), "arguments", None)
        if isinstance(arguments, str) and arguments.strip():
            yield whole_letters(arguments)
    thoughts = getattr(message, "reasoning_content", None)
    if isinstance(thoughts, str) and thoughts.strip():
        yield whole_letters(thoughts)


def _odd_content(error: BaseException) -> str | None:
    """The text of a message whose content is none: litellm refuses the reply, and says what it refuses."""
    from pydantic import ValidationError

    seen: BaseException | None = error
    for _ in range(LONGEST_CHAIN):
        if seen is None:
            return None
        if isinstance(seen, ValidationError) and seen.title == "Message":
            for each in seen.errors(include_url=False):
                if each["loc"] == ("content",) and isinstance(each["input"], list | dict):
                    return whole_letters(_text(each["input"]))
        seen = seen.__cause__ or seen.__context__
    return None
