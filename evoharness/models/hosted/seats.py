"""A seat: one model at one address, with what is known and what is learned about it while it is called."""

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evoharness.errors import UserError
from evoharness.models.backbone import MissingKey
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.faults import CallFailed
from evoharness.models.hosted.faults_of import RENAMED
from evoharness.models.hosted.limiter import Limiter
from evoharness.models.hosted.output_limit import NAMES as OUTPUT_NAMES
from evoharness.models.hosted.profiles import Profile, SchemaSupport
from evoharness.models.settings import Price, Rates
from evoharness.providers import Endpoint, litellm_module, provider_named

_WEAKER: dict[SchemaSupport, SchemaSupport] = {"schema": "object", "object": "none"}
NO_KEY = "no-key-needed"
"""Sent to servers that ask for no key: clients insist on one. No word that a server may say: what was sent as
a key is taken out of messages."""
_LOOKED_UP_BY_CALLING = ("ollama", "ollama_chat", "lemonade")
"""Providers of whose models litellm knows nothing without asking a server."""


class Seat:
    """What the calls of one model share; may be used from many threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile,
        parameters: Mapping[str, Any],
        price: Price | None,
        rates: Rates,
        limits_dir: Path | None,
        clock: Clock,
    ) -> None:
        self.endpoint = endpoint
        self.profile = profile
        """With what was learned since."""
        self.known_images = profile.max_images
        """Pictures that it takes at once, as far as that was known before the first call."""
        self.parameters = dict(parameters)
        self.known = False
        """Somebody has answered at this address."""
        self.limiter = Limiter(rates, limits_dir, f"{endpoint.model} {endpoint.base}", clock)
        self._price = price
        self._lock = threading.Lock()
        self._left_out: set[str] = set(profile.refuses)
        self._renamed: dict[str, str] = {}
        self._most_output: int | None = None
        self._priced: bool | None = None
        known = [profile.version, self.parameters]
        where = [endpoint.base] if endpoint.is_own_server else []
        written = json.dumps([*known, *where], sort_keys=True, default=str)
        self.id = f"{endpoint.model}#{hashlib.sha256(written.encode()).hexdigest()[:8]}"
        """The model with its profile and parameters, and the address of a server of one's own, whose model of
        that name may be another one; what is learned later does not change it."""

    @property
    def model(self) -> str:
        """As litellm names it."""
        return self.endpoint.model

    def secret(self) -> str | None:
        """The key; None: litellm looks for it. MissingKey names the variable that should hold a good one."""
        try:
            secret = self.endpoint.secret()
        except UserError as error:
            raise MissingKey(f"{self.model}: {error}") from None
        if secret is not None:
            return secret
        if self.endpoint.needs_key:
            names = " or ".join(self.endpoint.key_variables)
            raise MissingKey(f"{self.model} needs a key: put it into the environment variable {names}")
        return NO_KEY if provider_named(self.endpoint.provider) is not None else None

    def accepted(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters, without those that this model turned out to refuse, some under another name."""
        return {
            self._renamed.get(name, name): self._within_output(name, value)
            for name, value in parameters.items()
            if name not in self._left_out and value is not None
        }

    def _within_output(self, name: str, value: Any) -> Any:
        most = self._most_output
        return min(value, most) if name in OUTPUT_NAMES and most and isinstance(value, int) else value

    def learn_output(self, tokens: int) -> str:
        """Ask for at most so many tokens, from now on; what to tell."""
        with self._lock:
            self._most_output = min(tokens, self._most_output or tokens)
        return f"{self.model} gives at most {tokens} tokens: no more are asked for"

    def learn_parameter(self, failure: CallFailed, sent: Mapping[str, Any]) -> str | None:
        """Go without a parameter that was refused, from now on; what to tell, or None if nothing is new."""
        name = failure.parameter
        if name is None or name not in sent:
            return None
        with self._lock:
            if name == "response_format":
                mode: SchemaSupport = "schema" if sent[name].get("type") == "json_schema" else "object"
                if self.profile.json_mode == mode:
                    self.profile = self.profile.changed(json_mode=_WEAKER[mode])
                return f"{self.model} does not take this response_format; the prompt alone asks for the form"
            if name in RENAMED and name not in self._renamed:
                self._renamed[name] = RENAMED[name]
                return f"{self.model} takes {RENAMED[name]} instead of {name}"
            if name in OUTPUT_NAMES:
                return None  # without it nobody would know what a call may take
            own = next((old for old, new in self._renamed.items() if new == name), name)
            self._left_out.add(own)
        return f"{self.model} does not accept {name}: it is left out"

    def learn_images(self, count: int) -> None:
        """Send at most so many pictures at once, from now on."""
        with self._lock:
            if count < self.profile.max_images:
                self.profile = self.profile.changed(max_images=count)

    @property
    def asks_price(self) -> bool:
        """Whether what a call costs is what litellm makes of it."""
        return self._price is None and self._has_price()

    def cost(self, input_tokens: int, output_tokens: int, told: float | None) -> float | None:
        """USD of a call; `told` is what litellm makes of it. None: the price is not known."""
        if self._price is not None:
            return (input_tokens * self._price.input + output_tokens * self._price.output) / 1_000_000
        return told if self._has_price() else None

    def estimated_cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """The most that a call of so many tokens may cost, in USD; None: the price is not known."""
        if self._price is not None or not self._has_price():
            return self.cost(input_tokens, output_tokens, None)
        given, received = litellm_module().cost_per_token(
            model=self.model, prompt_tokens=input_tokens, completion_tokens=output_tokens
        )
        return float(given + received)

    def prepare(self) -> None:
        """What is done once before the first call: litellm looks up a model that it knows much faster."""
        self._has_price()

    def _has_price(self) -> bool:
        if self._priced is None:
            with self._lock:
                if self._priced is None:
                    self._priced = _in_table(self.endpoint)
        return self._priced


def _in_table(endpoint: Endpoint) -> bool:
    """Whether litellm's table has the price of this model; one that it does not have is entered without."""
    litellm = litellm_module()
    if endpoint.provider in _LOOKED_UP_BY_CALLING:
        return False
    try:
        info = litellm.get_model_info(endpoint.model)
    except Exception:  # litellm raises a bare Exception for a model that is not in its table
        if endpoint.provider in ("openai", "hosted_vllm"):
            litellm.register_model({endpoint.model: {"litellm_provider": endpoint.provider, "mode": "chat"}})
        return False
    return not endpoint.is_own_server and bool(
        info.get("input_cost_per_token") or info.get("tiered_pricing") or info.get("output_cost_per_token")
    )
