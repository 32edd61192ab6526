"""A hosted backbone put together from its settings: endpoints by role, cache, budget, limits."""

import tempfile
from pathlib import Path

from evoharness.models.backbone import Backbone
from evoharness.models.settings import HostedSettings


def hosted_backbone(settings: HostedSettings, cache_dir: Path | None) -> Backbone:
    """The backbone; neither litellm is imported nor a file made before its first call.

    `cache_dir`: where responses are kept and limits are shared; None: nowhere.
    """
    from evoharness.models.budget import BUDGET_FILE, Budget
    from evoharness.models.hosted import LiteLLMBackbone
    from evoharness.models.response_cache import RESPONSES_FILE, ResponseCache

    budget = None
    if settings.budget_file is not None:
        budget = Budget(settings.budget_file, settings.budget)
    elif settings.budget:
        # No run that others take part in: this process counts for itself.
        folder = Path(tempfile.mkdtemp(prefix="evoharness-budget-"))
        budget = Budget(folder / BUDGET_FILE, settings.budget)
    return LiteLLMBackbone(
        settings.distinct_endpoints(),
        parameters=settings.parameters,
        prices=settings.prices_by_model(),
        rates=settings.rates,
        cache=ResponseCache(cache_dir / RESPONSES_FILE, settings.cache) if cache_dir is not None else None,
        budget=budget,
        limits_dir=cache_dir,
        **settings.options,
    )
