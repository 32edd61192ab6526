"""Calls whose price litellm need not work out.

litellm prices every reply, which takes a fifth of the time that a call costs here, also where it cannot know
the price or where the user has told it. The record of a call that litellm makes for its loggers is where it
does so; a record that gives no price is handed to it instead, as its own proxy hands in one.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from evoharness.providers import litellm_module


def unpriced(model: str, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Further arguments of one call of `litellm.completion`; none where this litellm does not take them."""
    record_class = _record_class()
    return {} if record_class is None else _arguments(record_class, model, messages)


def _arguments(record_class: Any, model: str, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    call = str(uuid.uuid4())
    record = record_class(
        model=model,
        messages=list(messages),
        stream=False,
        call_type="completion",
        start_time=datetime.now(),  # without a zone, as litellm's own are
        litellm_call_id=call,
        function_id="",
    )
    return {"litellm_logging_obj": record, "litellm_call_id": call}


@cache
def _record_class() -> Any | None:
    """None: it is another one in this version, and prices are worked out for nothing."""
    litellm_module()
    try:
        from litellm.litellm_core_utils.litellm_logging import Logging

        class Unpriced(Logging):  # type: ignore[misc]
            """A record of a call that asks no price."""

            def response_cost_calculator(self, *_: Any, **__: Any) -> None:
                """None: not known here."""

        _arguments(Unpriced, "openai/any", [{"role": "user", "content": ""}])
    except (ImportError, AttributeError, TypeError):
        return None
    return Unpriced
