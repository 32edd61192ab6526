"""A hosted backbone put together from its settings: endpoints by role, cache, budget, limits, a listener."""

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evoharness.models.backbone import Reply, UnsupportedTask
from evoharness.models.perception_tasks import Transcribe
from evoharness.models.settings import HostedSettings
from evoharness.models.task import Output, Role, Task

if TYPE_CHECKING:
    from evoharness.models.budget import Budget
    from evoharness.models.listening import Listener


class HostedBackbone:
    """Models that read and look, and one that listens; may be used from many threads."""

    def __init__(self, settings: HostedSettings, cache_dir: Path | None) -> None:
        """Neither litellm is imported nor a file made before the first call.

        `cache_dir`: where responses are kept and limits are shared; None: nowhere.
        """
        from evoharness.models.hosted import LiteLLMBackbone
        from evoharness.models.response_cache import RESPONSES_FILE, ResponseCache

        self._settings = settings
        self._listens = settings.endpoint(Role.TRANSCRIBER)
        self._shared: dict[str, Any] = {
            "rates": settings.rates,
            "cache": ResponseCache(cache_dir / RESPONSES_FILE, settings.cache) if cache_dir else None,
            "budget": _budget(settings),
            "limits_dir": cache_dir,
        }
        endpoints = settings.called_endpoints()
        endpoints.pop(Role.TRANSCRIBER, None)
        self._models = LiteLLMBackbone(
            endpoints,
            parameters=settings.parameters,
            prices=settings.prices_by_model(),
            **self._shared,
            **settings.options,
        )

    @property
    def id(self) -> str:
        """Which models answer for which roles, with their profiles and parameters."""
        if self._listens is None:
            return self._models.id
        # Another server may serve another model by that name, and what is heard depends on what is asked.
        apart = [self._listening, self._listens.base if self._listens.is_own_server else None]
        written = json.dumps(apart, sort_keys=True, default=str).encode()
        told = f"#{hashlib.sha256(written).hexdigest()[:8]}" if any(apart) else ""
        return f"{self._models.id}:{self._listens.model}{told}"

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        if not isinstance(task, Transcribe):
            return self._models.run(task)
        return cast("Reply[Output]", self._listener.run(task))

    def price(self, role: str, input_tokens: int, output_tokens: int) -> float | None:
        """The most USD that a call of a role with so many tokens costs; None: its price is not known."""
        return self._models.price(role, input_tokens, output_tokens)

    @property
    def _listening(self) -> dict[str, Any]:
        """Parameters of calls that transcribe."""
        named = self._settings.parameters.get(Role.TRANSCRIBER.value)
        return named if isinstance(named, dict) else {}

    @cached_property
    def _listener(self) -> "Listener":
        from evoharness.models.listening import Listener

        if self._listens is None:
            raise UnsupportedTask(
                "no model is named that listens: backbone.models.transcriber=provider/model"
            )
        return Listener(
            self._listens,
            parameters=self._listening,
            price=self._settings.prices_by_model().get(self._listens.model),
            **self._shared,
        )


def _budget(settings: HostedSettings) -> "Budget | None":
    from evoharness.models.budget import Budget

    if settings.budget_file is None and not settings.budget:
        return None
    return Budget(settings.budget_file, settings.budget)
