"""Typed tasks done by models that LiteLLM reaches."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evoharness.models.backbone import BackboneUnavailable, Reply, Unparsed
from evoharness.models.hosted.completion import Completion, Request, complete
from evoharness.models.hosted.faults import CallFailed
from evoharness.models.settings import DEFAULT, Price, Rates
from evoharness.models.task import Output, Task
from evoharness.providers import Endpoint
from evoharness.records.spend import Spend

if TYPE_CHECKING:
    from evoharness.models.budget import Budget
    from evoharness.models.response_cache import ResponseCache


class LiteLLMBackbone:
    """A model for each role, called through LiteLLM. May be used from many threads at once.

    `models`: role or `default` → model as litellm names it (`provider/model`), or an endpoint that also
    says where it is and which variable holds its key.
    `api_base`: address of the models that are given by name alone; None: their providers' own.
    `parameters`: further parameters of every call; under the name of a role, or `default`, a mapping of
    those for that role.
    `prices`: model → price, where litellm's table does not know it or knows another.
    `rates`: how fast each model may be called; all processes that are given the same `limits_dir` share it.
    `profiles`: model, provider or role → fields of `profiles.Profile` that differ from what is known.
    """

    def __init__(
        self,
        models: Mapping[str, str | Endpoint],
        *,
        api_base: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        prices: Mapping[str, Price] | None = None,
        rates: Rates | None = None,
        cache: "ResponseCache | None" = None,
        budget: "Budget | None" = None,
        limits_dir: Path | None = None,
        profiles: Mapping[str, Mapping[str, Any]] | None = None,
        image_format: Literal["jpeg", "png"] = "jpeg",
        seed: int = 0,
    ) -> None:
        self._endpoints = {
            role: model if isinstance(model, Endpoint) else Endpoint(model=model, api_base=api_base)
            for role, model in models.items()
        }
        self._rates = rates or Rates()

    @property
    def id(self) -> str:
        """Which models answer, and with what; part of every cache key."""
        return ",".join(f"{role}={endpoint.model}" for role, endpoint in sorted(self._endpoints.items()))

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        from evoharness.models.prompting import read, render

        prompt = render(task)
        endpoint = self._endpoints.get(task.role.value) or self._endpoints[DEFAULT]
        text = "\n".join(part for part in prompt.parts if isinstance(part, str))
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": text}]
        parameters = {"temperature": task.temperature, "max_tokens": task.max_output_tokens}
        request = Request(
            endpoint.model,
            messages,
            parameters,
            endpoint.api_base,
            endpoint.secret() or "none",
            self._rates.timeout_s,
        )
        try:
            completion: Completion = complete(request)
        except CallFailed as failure:
            raise BackboneUnavailable(str(failure)) from failure
        try:
            output = read(task, json.loads(completion.text))
        except ValueError as error:
            raise Unparsed(str(error)) from error
        return Reply(
            output,
            Spend(calls=1, input_tokens=completion.input_tokens, output_tokens=completion.output_tokens),
        )
