"""What a hosted backbone is made from: the options of a configuration, checked, without a key among them."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator

from evoharness.errors import UserError
from evoharness.models.budget import Caps
from evoharness.models.call_parameters import check_parameters
from evoharness.models.response_cache import CacheMode
from evoharness.models.task import Role
from evoharness.providers import Endpoint
from evoharness.records.base import Record
from evoharness.records.mistakes import in_words
from evoharness.records.secrets import secrets_in

DEFAULT = "default"
"""Stands for every role that is not named."""
ROLES = tuple(role.value for role in Role)
OPTIONS = ("image_format", "profiles", "retries", "seed")
"""Further arguments of the backbone's class that a configuration may give; the rest are settings."""


class Rates(Record):
    """How fast models may be called, by all workers together; None: no limit."""

    concurrency: int | None = 16
    """Calls in flight at the same time."""
    requests_a_minute: int | None = None
    tokens_a_minute: int | None = None
    timeout_s: float = Field(default=120.0, le=86_400)
    """How long one call may take, in seconds; a day at the most."""
    attempts: int = 6
    """How often a call is tried in all before the model counts as unavailable."""

    @model_validator(mode="after")
    def _positive(self) -> "Rates":
        for name, value in self:
            if value is not None and value <= 0:
                raise ValueError(f"{name}={value}: more than 0 is needed")
        return self


class Price(Record):
    """USD for a million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)


class EmbedderTerms(Record):
    """What calls of a hosted embedder cost, and how fast they may be made."""

    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """USD for a million tokens; None: as litellm's table has it, for a model that is at its provider's."""
    rates: Rates = Rates()


class HostedSettings(Record):
    """Models by role, where they are, and what calling them may take. Names of keys, never keys."""

    models: dict[str, str]
    """Role, or `default` → model as litellm names it."""
    api_base: str | None = None
    api_bases: dict[str, str] = {}
    """Role → address."""
    key: str | None = None
    keys: dict[str, str] = {}
    """Role → name of an environment variable."""
    parameters: dict[str, Any] = {}
    """Further parameters of every call."""
    prices: dict[str, Price] = {}
    """Role, `default` or model → price; of `default`: the price of the model that is the default."""
    rates: Rates = Rates()
    cache: CacheMode = "on"
    budget: Caps = Caps()
    budget_file: Path | None = None
    """Where the workers of a run keep count together; None: there is no run."""
    options: dict[str, Any] = {}
    """Further arguments of the backbone's class."""

    @field_validator("cache", mode="before")
    @classmethod
    def _yaml_words(cls, value: Any) -> Any:
        return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value

    @field_validator("models", "api_bases", "keys")
    @classmethod
    def _roles(cls, named: dict[str, str]) -> dict[str, str]:
        for role in named:
            if role != DEFAULT and role not in ROLES:
                raise ValueError(f"there is no role {role!r}: there are {', '.join((DEFAULT, *ROLES))}")
        return named

    @field_validator("parameters", "options")
    @classmethod
    def _no_secrets(cls, values: dict[str, Any]) -> dict[str, Any]:
        for name in secrets_in(values):
            raise ValueError(
                f"{name} may hold a key, and configurations are written down: name the environment "
                "variable that holds it with backbone.key"
            )
        return values

    @field_validator("parameters")
    @classmethod
    def _sendable(cls, values: dict[str, Any]) -> dict[str, Any]:
        check_parameters(values, (DEFAULT, *ROLES))
        return values

    @field_validator("options")
    @classmethod
    def _known_options(cls, values: dict[str, Any]) -> dict[str, Any]:
        for name in values:
            if name not in OPTIONS:
                raise ValueError(f"there is no option {name!r}: there are {', '.join(OPTIONS)}")
        return values

    @model_validator(mode="after")
    def _complete(self) -> "HostedSettings":
        missing = [role for role in ROLES if role != Role.TRANSCRIBER and self.model_of(role) is None]
        if missing:
            raise ValueError(
                "models.default: provider/model is needed, or a model for each role"
                + (f": there is none for {', '.join(missing)}" if self.models else "")
            )
        self.endpoints()
        self._check_prices()
        return self

    def _check_prices(self) -> None:
        models = {model for role in (DEFAULT, *ROLES) if (model := self.model_of(role))}
        for key in self.prices:
            if key in models:
                continue
            if key in (DEFAULT, *ROLES):
                if self.model_of(key) is not None:
                    continue
                raise ValueError(f"prices.{key}: no model is named for it (models.{key}=provider/model)")
            raise ValueError(
                f"prices.{key} is the price of nothing here: a price is that of {DEFAULT}, of a role "
                f"({', '.join(ROLES)}) or of a model ({', '.join(sorted(models))})"
            )

    def model_of(self, role: str) -> str | None:
        """The model that does a role's tasks; None when none was named for it, and none for the rest."""
        return self.models.get(role, self.models.get(DEFAULT) if role != Role.TRANSCRIBER else None)

    def endpoint(self, role: str) -> Endpoint | None:
        """Where a role's tasks are done; ValueError for an address or a variable's name that is none."""
        model = self.model_of(role)
        if model is None:
            return None
        try:
            return Endpoint(
                model=model,
                api_base=self.api_bases.get(role, self.api_base),
                key=self.keys.get(role, self.key),
                use="transcription" if role == Role.TRANSCRIBER else "chat",
            )
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            field = str(first["loc"][0])
            said = in_words(first)
            raise ValueError(f"{self._setting(role) if field == 'model' else field}: {said}") from None

    def _setting(self, role: str) -> str:
        return f"models.{role if role in self.models else DEFAULT}"

    def endpoints(self) -> dict[str, Endpoint]:
        """Role → endpoint, for every role that has a model; a transcriber has to be named itself."""
        found = {role: self.endpoint(role) for role in ROLES}
        return {role: endpoint for role, endpoint in found.items() if endpoint is not None}

    def distinct_endpoints(self) -> dict[str, Endpoint]:
        """`default`, where it was given, and the roles that are done elsewhere."""
        found = self.endpoints()
        default = self.endpoint(DEFAULT)
        if default is None:
            return found
        return {DEFAULT: default, **{role: each for role, each in found.items() if each != default}}

    def called_endpoints(self) -> dict[str, Endpoint]:
        """`distinct_endpoints`, and the roles that have parameters or a profile of their own."""
        own = {*self.parameters, *(self.options.get("profiles") or {})}
        found = self.endpoints()
        return {
            **{role: found[role] for role in ROLES if role in own and role in found},
            **self.distinct_endpoints(),
        }

    def endpoints_by_setting(self, roles: Collection[str] = ROLES) -> list[tuple[str, Endpoint]]:
        """(the setting that names the model, where it is) of each of these roles that has a model."""
        return [
            (f"backbone.{self._setting(role)}", endpoint)
            for role, endpoint in self.endpoints().items()
            if role in roles
        ]

    def prices_by_model(self) -> dict[str, Price]:
        """Model → price, from prices that were given by role or by model.

        The price of `default` is that of the model named as `default`, and of no other.
        """
        found = {key: price for key, price in self.prices.items() if key != DEFAULT and key not in ROLES}
        for role in (*ROLES, DEFAULT):
            model = self.model_of(role)
            if model is not None and role in self.prices:
                found.setdefault(model, self.prices[role])
        return found


def hosted_settings(options: Mapping[str, Any]) -> HostedSettings:
    """The options of a hosted backbone, checked; UserError in one line names what does not do."""
    try:
        settings = HostedSettings(**options)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(["backbone", *(str(part) for part in first["loc"])])
        said = in_words(first)
        if first["loc"][:1] == ("prices",) and first["type"] in ("model_type", "missing"):
            raise UserError(f"{where}: a price is given as '{{input: 0.3, output: 2.5}}'") from None
        if first["type"] == "extra_forbidden":
            raise UserError(f"there is no setting {where}") from None
        raise UserError(f"{where}: {said}" if first["loc"] else f"backbone.{said}") from None
    _check_options(settings)
    return settings


def _check_options(settings: HostedSettings) -> None:
    """UserError for retries and profiles that are none, or of no model."""
    from evoharness.models.hosted.profiles import profile_of
    from evoharness.models.hosted.retrying import policy_of

    where = "backbone.options"
    profiles, retries = settings.options.get("profiles"), settings.options.get("retries")
    for name, value in (("profiles", profiles), ("retries", retries)):
        if value is not None and not isinstance(value, Mapping):
            raise UserError(f"{where}.{name}: a mapping is needed")
    models = {endpoint.model: endpoint.provider for endpoint in settings.endpoints().values()}
    try:
        policy_of(retries or {})
        for whose, figures in (profiles or {}).items():
            named = whose in (DEFAULT, *ROLES) or whose in models.values()
            if not named and not any(fnmatchcase(model, whose) for model in models):
                raise UserError(
                    f"profiles.{whose} is of no model here: there are {', '.join((DEFAULT, *ROLES))} and "
                    f"{', '.join(sorted(models))}"
                )
            profile_of("", changes={whose: figures}, role=whose)
    except UserError as error:
        raise UserError(f"{where}.{error}") from None
