"""One call through LiteLLM: a request in, a completion or a `CallFailed` out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.providers import litellm_module


@dataclass(frozen=True)
class Request:
    """What is sent, and where."""

    model: str
    """As litellm names it."""
    messages: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any]
    api_base: str | None
    secret: str | None
    """The key; it goes to litellm and nowhere else."""
    timeout_s: float


@dataclass(frozen=True)
class Completion:
    """What came back."""

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    refusal: str = ""


def complete(request: Request) -> Completion:
    """Make the call, in this thread and once. Raises `CallFailed`."""
    litellm = litellm_module()
    try:
        response = litellm.completion(
            model=request.model,
            messages=list(request.messages),
            api_base=request.api_base,
            api_key=request.secret,
            timeout=request.timeout_s,
            max_retries=0,
            **request.parameters,
        )
    except Exception as error:
        raise CallFailed(Fault.SERVER, type(error).__name__) from error
    choice = response.choices[0]
    usage = response.usage
    return Completion(
        choice.message.content or "",
        choice.finish_reason or "",
        usage.prompt_tokens,
        usage.completion_tokens,
        None,
    )
