"""The transcriber of a hosted backbone: sound goes to `litellm.transcription`, lines with times come back."""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.models.backbone import Reply
from evoharness.models.hosted.attempts import Attempts
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.completion import token_count
from evoharness.models.hosted.faults import CallFailed, Fault
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


class PageInstead(Exception):
    """Something between here and the model replied in its place."""


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
        attempts = Attempts(
            self._seat,
            retries=self._retries,
            timeout_s=self._timeout_s,
            budget=self._budget,
            clock=self._clock,
            request=key,
        )
        try:
            heard, spend = self._heard(task, as_wav(samples), attempts)
        finally:
            attempts.close()
        if self._cache is not None:
            self._cache.put(key, CachedResponse(answer=heard.model_dump_json(), spend=spend))
        return Reply(heard, spend, wasted=attempts.spent.beyond(spend))

    def _key(self, task: Transcribe) -> str:
        asked = f"{task.key} {task.span.start:.3f} {task.span.end:.3f} {task.language} {task.words}"
        digest = hashlib.sha256(asked.encode()).hexdigest()
        return cache_key(self._seat.id, "transcribe", VERSION, digest, self._seat.parameters, 0)

    def _heard(self, task: Transcribe, wav: bytes, attempts: Attempts) -> tuple[Transcription, Spend]:
        """What the model hears, and what that took."""
        seconds = task.span.duration
        estimate = self._estimate(seconds)
        timed = self._gives_times
        while True:
            asked = self._asked_for(task, timed)
            try:
                response, spend = attempts.make(
                    lambda asked=asked: self._call(wav, asked),  # type: ignore[misc]
                    estimate,
                    lambda response: self._spend_of(response, seconds),
                    asked,
                )
            except CallFailed as failure:
                if failure.fault in (Fault.PARAMETER, Fault.REQUEST) and timed:
                    timed = False  # some models refuse to be asked for times, and some this sound
                    continue
                raise attempts.ended(failure, "transcribes") from None
            self._gives_times = self._gives_times and timed
            return Transcription(lines=tuple(_lines(response, task.span))), spend

    def _asked_for(self, task: Transcribe, timed: bool) -> dict[str, Any]:
        times = {"response_format": "verbose_json", "timestamp_granularities": ["segment"]}
        asked: dict[str, Any] = {
            **(times if timed else {"response_format": "json"}),
            "language": task.language or None,
            "prompt": ", ".join(task.words) or None,
            **self._seat.parameters,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def _call(self, wav: bytes, asked: Mapping[str, Any]) -> Any:
        response = litellm_module().transcription(
            model=self._seat.model,
            file=("sound.wav", wav, "audio/wav"),
            api_base=self._seat.endpoint.base,
            api_key=self._seat.secret(),
            timeout=self._timeout_s,
            max_retries=0,
            drop_params=True,
            **asked,
        )
        headers = (getattr(response, "_hidden_params", None) or {}).get("headers") or {}
        if "html" in str(headers.get("content-type")):  # litellm takes any text for a transcript
            raise PageInstead("the reply is a page of HTML")
        return response

    def _estimate(self, seconds: float) -> Spend:
        """The most that one call may take; by the second, no tokens are counted."""
        tokens = (0, 0)
        if self._a_second is None:
            tokens = (round(seconds * TOKENS_HEARD), round(seconds * TOKENS_SAID))
        return Spend(
            calls=1, input_tokens=tokens[0], output_tokens=tokens[1], cost_usd=self._most(seconds, *tokens)
        )

    def _spend_of(self, response: Any, seconds: float) -> Spend:
        usage = _of(response, "usage")
        given, received = (token_count(_of(usage, name)) or 0 for name in ("input_tokens", "output_tokens"))
        told = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        cost = self._most(seconds, given, received)
        is_known = self._price is None and cost is not None
        if is_known and isinstance(told, int | float) and 0 < told < math.inf:
            cost = float(told)
        return Spend(calls=1, input_tokens=given, output_tokens=received, cost_usd=cost)

    def _most(self, seconds: float, given: int = 0, received: int = 0) -> float | None:
        """USD for so much sound, by the second or by tokens (0: not counted yet); None: not known."""
        given, received = given or round(seconds * TOKENS_HEARD), received or round(seconds * TOKENS_SAID)
        if self._price is not None:
            return (given * self._price.input + received * self._price.output) / 1_000_000
        if self._a_second is not None:
            return self._a_second * seconds
        heard = self._in_table.get("input_cost_per_audio_token") or self._in_table.get("input_cost_per_token")
        said = self._in_table.get("output_cost_per_token")
        return given * float(heard) + received * float(said or 0.0) if heard else None

    @cached_property
    def _in_table(self) -> Mapping[str, Any]:
        """What litellm knows of the price; nothing for a server of one's own."""
        if self._seat.endpoint.is_own_server:
            return {}
        try:
            found: Mapping[str, Any] = litellm_module().get_model_info(self._seat.model)
        except Exception:  # litellm raises a bare Exception for a model that is not in its table
            return {}
        return found

    @property
    def _a_second(self) -> float | None:
        """USD for a second, where that is how it is paid for."""
        by_second = self._in_table.get("input_cost_per_second") or self._in_table.get(
            "output_cost_per_second"
        )
        return float(by_second) if by_second and self._price is None else None


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
