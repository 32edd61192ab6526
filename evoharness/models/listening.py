"""The transcriber of a hosted backbone: sound goes to `litellm.transcription`, lines with times come back."""

import hashlib
import random
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.models.backbone import (
    BackboneError,
    BackboneUnavailable,
    MissingKey,
    Refused,
    Reply,
    UnknownModel,
    Unreachable,
)
from evoharness.models.budget import CannotPay
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.faults_of import failed_call
from evoharness.models.hosted.profiles import Profile
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.hosted.seats import Seat
from evoharness.models.perception_tasks import SpokenLine, Transcribe, Transcription
from evoharness.models.response_cache import CachedResponse, cache_key
from evoharness.models.settings import Price, Rates
from evoharness.providers import Endpoint, litellm_module
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend
from evoharness.video import as_wav, sound_of

if TYPE_CHECKING:
    from evoharness.models.budget import Budget
    from evoharness.models.response_cache import ResponseCache

VERSION = "1"
"""Changed whenever the same sound is asked about, or the answer is read, otherwise."""
SILENT = 40
"""Loudest sample, of 32,768, of what counts as silence, in which models of speech make words up."""
_NO_SPEECH, _UNLIKELY = 0.6, -1.0
"""Whisper's own rule for a segment without speech: this probable, and words this improbable."""


class Listener:
    """Does `Transcribe` tasks by one model; may be used from many threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        parameters: Mapping[str, Any],
        price: Price | None,
        rates: Rates,
        cache: "ResponseCache | None",
        budget: "Budget | None",
        limits_dir: Path | None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._seat = Seat(endpoint, Profile(), parameters, price, rates, limits_dir, self._clock)
        self._price = price
        self._retries = RetryPolicy(rates.attempts)
        self._timeout_s = rates.timeout_s
        self._cache = cache
        self._budget = budget

    @property
    def id(self) -> str:
        """Which model, with its parameters."""
        return self._seat.id

    def run(self, task: Transcribe) -> Reply[Transcription]:
        """See `Backbone`. Sound in which nothing is to be heard is not sent."""
        key = self._key(task)
        if self._cache is not None and (kept := self._cache.get(key)) is not None:
            try:
                return Reply(Transcription.model_validate_json(kept.answer), kept.spend, cached=True)
            except ValueError:
                pass  # written by another version: ask again
        samples = sound_of(task.path, task.span)
        if not samples.size or abs(samples.astype("int32")).max() < SILENT:
            return Reply(Transcription(lines=()), Spend())
        heard, spend = self._heard(task, as_wav(samples), random.Random(key))
        if self._cache is not None:
            self._cache.put(key, CachedResponse(answer=heard.model_dump_json(), spend=spend))
        return Reply(heard, spend)

    def _key(self, task: Transcribe) -> str:
        asked = f"{task.key} {task.span.start:.3f} {task.span.end:.3f} {task.language} {task.words}"
        digest = hashlib.sha256(asked.encode()).hexdigest()
        return cache_key(self._seat.id, "transcribe", VERSION, digest, self._seat.parameters, 0)

    def _heard(self, task: Transcribe, wav: bytes, chance: random.Random) -> tuple[Transcription, Spend]:
        """What the model hears, over passing faults, within the budget."""
        seconds = task.span.duration
        estimate = Spend(calls=1, cost_usd=self._cost(seconds) if self._budget is not None else None)
        reservation = self._budget.reserve(estimate) if self._budget is not None else None
        spend = None
        try:
            response = self._patiently(task, wav, chance)
            spend = Spend(calls=1, cost_usd=self._cost(seconds))
            return Transcription(lines=tuple(_lines(response, task.span))), spend
        finally:
            if self._budget is not None and reservation is not None:
                if spend is None:
                    self._budget.refund(reservation)
                else:
                    self._budget.settle(reservation, spend)

    def _patiently(self, task: Transcribe, wav: bytes, chance: random.Random) -> Any:
        seat, attempt = self._seat, 0
        while True:
            attempt += 1
            try:
                with seat.limiter.admit(0):
                    response = self._call(task, wav)
                seat.known = True
                return response
            except CallFailed as failure:
                seat.known = seat.known or failure.fault not in (Fault.NO_CONNECTION, Fault.TIMEOUT)
                wait = self._retries.wait(failure, attempt, seat.known, chance)
                if wait is None:
                    raise self._ended(failure, attempt) from None
                if failure.fault is Fault.BUSY:
                    seat.limiter.hold(wait)
                self._clock.sleep(wait)

    def _call(self, task: Transcribe, wav: bytes) -> Any:
        secret = self._seat.secret()
        asked: dict[str, Any] = {
            "response_format": "verbose_json",
            "timestamp_granularities": ["segment"],
            "language": task.language or None,
            "prompt": ", ".join(task.words) or None,
            **self._seat.parameters,
        }
        try:
            return litellm_module().transcription(
                model=self._seat.model,
                file=("sound.wav", wav, "audio/wav"),
                api_base=self._seat.endpoint.base,
                api_key=secret,
                timeout=self._timeout_s,
                max_retries=0,
                drop_params=True,
                **{name: value for name, value in asked.items() if value is not None},
            )
        except Exception as error:
            failure = failed_call(error, asked, [secret], time.time())
        raise failure  # outside the handler: what litellm raised may hold a key, and goes no further

    def _ended(self, failure: CallFailed, attempts: int) -> BackboneError:
        """The error that a failed call ends in."""
        seat, said = self._seat, str(failure)
        where = seat.endpoint.address or "its provider"
        if failure.fault is Fault.KEY:
            names = " or ".join(seat.endpoint.key_variables) or "its provider's environment variable"
            return MissingKey(f"{seat.model}: the key in {names} is not accepted: {said}")
        if failure.fault is Fault.MODEL:
            return UnknownModel(f"{seat.model}: {where} has no such model that transcribes: {said}")
        if failure.fault is Fault.QUOTA:
            return CannotPay(f"{seat.model}: the account at {where} is out of credit or quota: {said}")
        if failure.fault is Fault.NO_CONNECTION and not seat.known:
            return Unreachable(f"{seat.model}: nothing answers at {where} ({said}): is the server running?")
        if failure.fault in (Fault.BLOCKED, Fault.TOO_LARGE, Fault.REQUEST, Fault.PARAMETER):
            return Refused(f"{seat.model} does not transcribe it: {said}")
        return BackboneUnavailable(f"{seat.model} at {where} gave no answer in {attempts} attempts: {said}")

    def _cost(self, seconds: float) -> float | None:
        """USD for so much sound; None: not known. Of a price by tokens only that it is 0 can be used."""
        if self._price is not None:
            return 0.0 if self._price.input == self._price.output == 0 else None
        if self._seat.endpoint.is_own_server:
            return None
        try:
            info = litellm_module().get_model_info(self._seat.model)
        except Exception:  # litellm raises a bare Exception for a model that is not in its table
            return None
        a_second = info.get("input_cost_per_second") or info.get("output_cost_per_second")
        return None if not a_second else float(a_second) * seconds


def _lines(response: Any, span: Interval) -> Iterator[SpokenLine]:
    """Segments with their times in the video; the whole span for a model that gives only text."""
    segments = _of(response, "segments")
    if not isinstance(segments, list) or not segments:
        text = str(_of(response, "text") or "").strip()
        if text:
            yield SpokenLine(interval=span, text=text)
        return
    for segment in segments:
        text, start, end = str(_of(segment, "text") or "").strip(), _of(segment, "start"), _of(segment, "end")
        if not text or not isinstance(start, int | float) or _is_no_speech(segment):
            continue
        begin = min(span.start + max(0.0, float(start)), span.end)
        finish = span.start + float(end) if isinstance(end, int | float) else begin
        yield SpokenLine(interval=Interval(start=begin, end=min(max(begin, finish), span.end)), text=text)


def _is_no_speech(segment: Any) -> bool:
    silence, certain = _of(segment, "no_speech_prob"), _of(segment, "avg_logprob")
    numbers = isinstance(silence, int | float) and isinstance(certain, int | float)
    return numbers and silence > _NO_SPEECH and certain < _UNLIKELY


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
