"""Typed tasks done by models that LiteLLM reaches."""

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evoharness.errors import UserError
from evoharness.models.backbone import Refused, Reply, Unparsed
from evoharness.models.hosted.asking import Asking
from evoharness.models.hosted.calling import Means
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.pictures import Encoder, ImageFormat
from evoharness.models.hosted.profiles import profile_of
from evoharness.models.hosted.retrying import RetryPolicy, policy_of
from evoharness.models.hosted.seats import Seat
from evoharness.models.prompting import Prompt
from evoharness.models.response_cache import CachedResponse, cache_key
from evoharness.models.settings import DEFAULT, ROLES, Price, Rates
from evoharness.models.task import Output, Task
from evoharness.providers import Endpoint
from evoharness.records.frame import Frame

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
    `profiles`: pattern of a model's id, provider, or role → fields of `Profile` that differ from what is
    known.
    `retries`: what to do about passing faults, or the fields of a RetryPolicy that differ from its defaults;
    by default as often as `rates.attempts` says.
    `seed`: of the jitter between attempts.
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
        image_format: ImageFormat = "jpeg",
        retries: RetryPolicy | Mapping[str, Any] | None = None,
        seed: int = 0,
        clock: Clock | None = None,
    ) -> None:
        if image_format not in get_args(ImageFormat):
            raise UserError(
                f"image_format={image_format} is not known: use {', '.join(get_args(ImageFormat))}"
            )
        rates = rates or Rates()
        clock = clock or Clock()
        self._cache = cache
        self._seed = seed
        self._seats: dict[str, Seat] = {}
        self._image_format = image_format
        shared: dict[tuple[str, str | None, tuple[str, ...], str], Seat] = {}
        for role, model in models.items():
            endpoint = model if isinstance(model, Endpoint) else Endpoint(model=model, api_base=api_base)
            seat = Seat(
                endpoint,
                profile_of(endpoint.model, endpoint.is_own_server, profiles, role),
                _of_role(parameters or {}, role),
                (prices or {}).get(endpoint.model),
                rates,
                limits_dir,
                clock,
            )
            same = (seat.id, endpoint.base, endpoint.key_variables, endpoint.model)
            self._seats[role] = shared.setdefault(same, seat)
        if not isinstance(retries, RetryPolicy):
            retries = policy_of({"attempts": rates.attempts, **(retries or {})})
        self._means = Means(Encoder(image_format), retries, clock, rates.timeout_s, budget)
        self._prepared = False
        self._preparing = threading.Lock()

    @property
    def id(self) -> str:
        """Which models answer for which roles, with their profiles and parameters."""
        seats = ",".join(f"{role}={seat.id}" for role, seat in sorted(self._seats.items()))
        return f"litellm:{seats}:{self._image_format}"

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`. BackboneUnavailable that is a UserError as well is for the user to put right."""
        seat = self._seat(task)
        asking = Asking(task, seat, self._means)
        key = self._key(task, seat, asking.prompt)
        if self._cache is None:
            return self._asked(asking, seat, key)
        if (kept := self._kept(asking, key, self._cache)) is not None:
            return kept
        with self._cache.flight(key):  # several threads with one question pay for one answer
            return self._kept(asking, key, self._cache) or self._asked(asking, seat, key)

    def _kept(self, asking: Asking[Output], key: str, cache: "ResponseCache") -> Reply[Output] | None:
        """What an earlier call gave, or raises what it ended in if that was paid for; None: it was none."""
        if (kept := cache.get(key)) is not None:
            try:
                output = asking.read(kept.answer)
            except ValueError:
                pass  # written when answers were read otherwise: ask again
            else:
                notes = tuple(dict.fromkeys((*asking.notes, *kept.notes)))
                return Reply(output, kept.spend, cached=True, notes=notes)
        if (failure := cache.failure(key)) is not None:
            raise failure
        return None

    def _asked(self, asking: Asking[Output], seat: Seat, key: str) -> Reply[Output]:
        seat.secret()
        self._prepare(seat)
        asking.chance.seed(f"{self._seed} {key}")
        try:
            answer = asking.answer()
        except (Refused, Unparsed) as error:
            if self._cache is not None and error.spend.calls:
                self._cache.put_failure(key, error)
            raise
        if self._cache is not None:
            kept = CachedResponse(answer=answer.written, spend=answer.spend, notes=answer.notes)
            self._cache.put(key, kept)
        return Reply(answer.output, answer.spend, notes=answer.notes, wasted=answer.wasted)

    def price(self, role: str, input_tokens: int, output_tokens: int) -> float | None:
        """The most USD that a call of a role with so many tokens costs; None: its price is not known."""
        seat = self._seats.get(role) or self._seats.get(DEFAULT)
        return None if seat is None else seat.estimated_cost(input_tokens, output_tokens)

    def _seat(self, task: Task[Any]) -> Seat:
        seat = self._seats.get(task.role.value) or self._seats.get(DEFAULT)
        if seat is None:
            raise UserError(f"no model is named for the role {task.role.value}, and none as default")
        return seat

    def _prepare(self, seat: Seat) -> None:
        """Import litellm and look the model up, in one thread; the others wait."""
        if not self._prepared:
            with self._preparing:
                seat.prepare()
                self._prepared = True
        seat.prepare()

    def _key(self, task: Task[Any], seat: Seat, prompt: Prompt) -> str:
        digest = hashlib.sha256(f"{self._image_format}\0{prompt.system}".encode())
        for part in prompt.parts:
            written = f"frame {part.key}" if isinstance(part, Frame) else f"text {part}"
            digest.update(b"\0" + written.encode("utf-8", "surrogatepass"))
        sampling = {
            "temperature": task.temperature,
            "max_tokens": task.max_output_tokens,
            **seat.parameters,
        }
        return cache_key(
            seat.id, prompt.name, prompt.version, digest.hexdigest(), sampling, getattr(task, "sample", 0)
        )


def _of_role(parameters: Mapping[str, Any], role: str) -> dict[str, Any]:
    """Those for every call, then those under `default`, then those under the role."""
    found = {name: value for name, value in parameters.items() if name not in (DEFAULT, *ROLES)}
    for whose in (DEFAULT, role):
        found.update(parameters.get(whose) or {})
    return found
