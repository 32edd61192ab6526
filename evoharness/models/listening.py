"""The transcriber of a hosted backbone: sound goes to `litellm.transcription`, lines with times come back."""

import hashlib
import math
import random
import re
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
from evoharness.models.hosted.completion import token_count
from evoharness.models.hosted.deadline import within
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
TOKENS_HEARD, TOKENS_SAID = 32, 8
"""Tokens of a second of sound, and the most that are said in it."""
LONGEST_S = 1e7
"""Seconds; a time beyond it is none."""
LONGEST_SENTENCE = 30
"""Words; a longer one is cut."""
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
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
        self._gives_times = True
        """Until the model turns out to give text alone."""

    @property
    def id(self) -> str:
        """Which model, with its parameters."""
        return self._seat.id

    def run(self, task: Transcribe) -> Reply[Transcription]:
        """See `Backbone`. Sound in which nothing is to be heard is not sent."""
        key = self._key(task)
        if self._cache is None:
            return self._asked(task, key)
        if (kept := self._kept(key, self._cache)) is not None:
            return kept
        with self._cache.flight(key):
            return self._kept(key, self._cache) or self._asked(task, key)

    def _kept(self, key: str, cache: "ResponseCache") -> Reply[Transcription] | None:
        if (kept := cache.get(key)) is not None:
            try:
                return Reply(Transcription.model_validate_json(kept.answer), kept.spend, cached=True)
            except ValueError:
                pass  # written by another version: ask again
        return None

    def _asked(self, task: Transcribe, key: str) -> Reply[Transcription]:
        samples = sound_of(task.path, task.span)
        if not samples.size or abs(samples.astype("int32")).max() < SILENT:
            return Reply(Transcription(lines=()), Spend())
        heard, spend, wasted = self._heard(task, as_wav(samples), random.Random(key))
        if self._cache is not None:
            self._cache.put(key, CachedResponse(answer=heard.model_dump_json(), spend=spend))
        return Reply(heard, spend, wasted=wasted)

    def _key(self, task: Transcribe) -> str:
        asked = f"{task.key} {task.span.start:.3f} {task.span.end:.3f} {task.language} {task.words}"
        digest = hashlib.sha256(asked.encode()).hexdigest()
        return cache_key(self._seat.id, "transcribe", VERSION, digest, self._seat.parameters, 0)

    def _heard(
        self, task: Transcribe, wav: bytes, chance: random.Random
    ) -> tuple[Transcription, Spend, Spend]:
        """What the model hears, what that took, and what calls took whose reply was lost."""
        seat, attempt = self._seat, 0
        lost: list[Spend] = []
        while True:
            attempt += 1
            try:
                response, spend = self._attempt(task, wav, lost)
            except CallFailed as failure:
                if failure.fault in (Fault.PARAMETER, Fault.REQUEST) and self._gives_times:
                    self._gives_times = False  # some models refuse to be asked for times
                    continue
                seat.known = seat.known or failure.fault not in (Fault.NO_CONNECTION, Fault.TIMEOUT)
                wait = self._retries.wait(failure, attempt, seat.known, chance)
                if wait is None:
                    raise self._ended(failure, attempt).costing(sum(lost, Spend())) from None
                if failure.fault is Fault.BUSY:
                    seat.limiter.hold(wait)
                self._clock.sleep(wait)
            except CannotPay as error:
                raise error.costing(sum(lost, Spend())) from None
            else:
                seat.known = True
                lines = tuple(_lines(response, task.span))
                return Transcription(lines=lines), spend, sum(lost, Spend())

    def _attempt(self, task: Transcribe, wav: bytes, lost: list[Spend]) -> tuple[Any, Spend]:
        """One call within the limits and the budget. One whose reply was lost may have been served: it is
        booked at the most that it may take, and put to those that are lost."""
        seconds = task.span.duration
        estimate = Spend(calls=1, cost_usd=self._most(seconds))
        reservation = self._budget.reserve(estimate) if self._budget is not None else None
        spend: Spend | None = None
        try:
            with self._seat.limiter.admit(0):
                response = self._call(task, wav)
            spend = self._spend_of(response, seconds)
            return response, spend
        except CallFailed as failure:
            if failure.served:
                spend = estimate
                lost.append(spend)
            raise
        finally:
            if self._budget is not None and reservation is not None:
                if spend is None:
                    self._budget.refund(reservation)
                else:
                    self._budget.settle(reservation, spend)

    def _call(self, task: Transcribe, wav: bytes) -> Any:
        secret = self._seat.secret()
        timed = {"response_format": "verbose_json", "timestamp_granularities": ["segment"]}
        asked: dict[str, Any] = {
            **(timed if self._gives_times else {"response_format": "json"}),
            "language": task.language or None,
            "prompt": ", ".join(task.words) or None,
            **self._seat.parameters,
        }
        transcription = litellm_module().transcription
        try:
            return within(
                self._timeout_s,
                lambda: transcription(
                    model=self._seat.model,
                    file=("sound.wav", wav, "audio/wav"),
                    api_base=self._seat.endpoint.base,
                    api_key=secret,
                    timeout=self._timeout_s,
                    max_retries=0,
                    drop_params=True,
                    **{name: value for name, value in asked.items() if value is not None},
                ),
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

    def _spend_of(self, response: Any, seconds: float) -> Spend:
        usage = _of(response, "usage")
        given, received = (token_count(_of(usage, name)) or 0 for name in ("input_tokens", "output_tokens"))
        told = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        cost = self._most(seconds, given=given, received=received)
        if isinstance(told, int | float) and 0 < told < math.inf and self._price is None:
            cost = float(told)
        return Spend(calls=1, input_tokens=given, output_tokens=received, cost_usd=cost)

    def _most(self, seconds: float, given: int = 0, received: int = 0) -> float | None:
        """USD for so much sound, by the second or by tokens (0: not counted yet); None: not known."""
        given, received = given or round(seconds * TOKENS_HEARD), received or round(seconds * TOKENS_SAID)
        if self._price is not None:
            return (given * self._price.input + received * self._price.output) / 1_000_000
        if self._seat.endpoint.is_own_server:
            return None
        try:
            info = litellm_module().get_model_info(self._seat.model)
        except Exception:  # litellm raises a bare Exception for a model that is not in its table
            return None
        if a_second := info.get("input_cost_per_second") or info.get("output_cost_per_second"):
            return float(a_second) * seconds
        heard = info.get("input_cost_per_audio_token") or info.get("input_cost_per_token")
        said = info.get("output_cost_per_token")
        return given * float(heard) + received * float(said or 0.0) if heard else None


def _lines(response: Any, span: Interval) -> Iterator[SpokenLine]:
    """Segments with their times in the video."""
    segments = _of(response, "segments")
    if not isinstance(segments, list) or not segments:
        yield from _by_length(str(_of(response, "text") or ""), span)
        return
    for segment in segments:
        text, start, end = str(_of(segment, "text") or "").strip(), _of(segment, "start"), _of(segment, "end")
        if not text or not _is_time(start) or _is_no_speech(segment):
            continue
        begin = min(span.start + max(0.0, float(start)), span.end)
        finish = span.start + float(end) if _is_time(end) else begin
        yield SpokenLine(interval=Interval(start=begin, end=min(max(begin, finish), span.end)), text=text)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < LONGEST_S


def _by_length(text: str, span: Interval) -> Iterator[SpokenLine]:
    """Sentences of a text without times, spread over the span in proportion to their length."""
    sentences = [piece for sentence in _SENTENCE.split(text.strip()) for piece in _pieces(sentence)]
    total = sum(len(sentence) for sentence in sentences)
    begin = span.start
    for sentence in sentences:
        end = min(span.end, begin + span.duration * len(sentence) / total)
        yield SpokenLine(interval=Interval(start=begin, end=max(begin, end)), text=sentence)
        begin = end


def _pieces(sentence: str) -> Iterator[str]:
    words = sentence.split()
    for start in range(0, len(words), LONGEST_SENTENCE):
        yield " ".join(words[start : start + LONGEST_SENTENCE])


def _is_no_speech(segment: Any) -> bool:
    silence, certain = _of(segment, "no_speech_prob"), _of(segment, "avg_logprob")
    numbers = isinstance(silence, int | float) and isinstance(certain, int | float)
    return numbers and silence > _NO_SPEECH and certain < _UNLIKELY


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
