"""One task asked of one seat: calls until there is a readable answer, or an error that says why not."""

import json
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic

from evoharness.models.answers import parse
from evoharness.models.backbone import (
    BackboneError,
    BackboneUnavailable,
    MissingKey,
    Refused,
    UnknownModel,
    Unparsed,
    Unreachable,
    UnsupportedTask,
)
from evoharness.models.budget import CannotPay
from evoharness.models.hosted.calling import Called, Calls, Means
from evoharness.models.hosted.clip import Clip, make_clip, suits
from evoharness.models.hosted.completion import Completion
from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.messages import Message, corrected, response_format, to_messages
from evoharness.models.hosted.output_limit import NAMES as OUTPUT_NAMES
from evoharness.models.hosted.pictures import Picture, thinned
from evoharness.models.hosted.retrying import PASSING
from evoharness.models.hosted.seats import Seat
from evoharness.models.prompting import read, render
from evoharness.models.task import Output, Task
from evoharness.records.frame import Frame
from evoharness.records.spend import Spend

MORE_ROOM = 3
"""How many times the tokens a model gets that used all it had before it came to an end."""
MOST_LEARNED = 8
"""How many refused parameters or limits one task works around."""
BLOCKED_ENDS = ("content_filter", "safety", "refusal", "prohibited_content")


@dataclass(frozen=True)
class Answer(Generic[Output]):
    """A readable answer."""

    output: Output
    written: str
    """The answer on the wire, as JSON."""
    spend: Spend
    """What the call took that gave it."""
    wasted: Spend
    """What calls before it took that gave nothing to read."""
    notes: tuple[str, ...]


class _NeedsFewer(Exception):
    """The request was too large; so many frames may do."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class Asking(Generic[Output]):
    """Asks one task; used once."""

    def __init__(self, task: Task[Output], seat: Seat, means: Means) -> None:
        """Thins the frames to as many pictures as the model takes; UnsupportedTask when it takes none."""
        self._task = task
        self._seat = seat
        self._means = means
        self._calls = Calls(seat, means)
        self._notes = self._calls.notes
        self._room = 1
        self._may_grow = True
        """The model has not refused more room than it had at first."""
        self._most_output: int | None = None
        """What is left of the context for the answer, where that turned out to be less than asked for."""
        if len(frames_in(task)) > seat.known_images:
            self._thin_to(seat.known_images)
        self.prompt = render(self._task)

    @property
    def chance(self) -> random.Random:
        """Where the jitter comes from."""
        return self._calls.chance

    def read(self, written: str) -> Output:
        """The output of an answer that was kept. ValueError when it cannot be read any more."""
        return read(self._task, json.loads(written))

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be done that the caller should know, so far."""
        return tuple(dict.fromkeys(self._notes))

    def answer(self) -> Answer[Output]:
        """Ask. Raises a BackboneError, with what was paid before it."""
        try:
            while True:
                try:
                    return self._answer()
                except _NeedsFewer as fewer:
                    self._thin(fewer.count, "takes no more at once" if fewer.count else "takes no pictures")
                    self.prompt = render(self._task)
        except BackboneError as error:
            booking = self._calls.booking
            raise error.costing(error.spend + booking.heard, booking.unheard) from None
        finally:
            self._calls.booking.close()

    def _answer(self) -> Answer[Output]:
        messages, shown = self._messages()
        first = self._say(messages, shown)
        try:
            return self._readable(first, first)
        except (ValueError, ArithmeticError) as error:
            wrong = str(error)
        if first.completion.finish_reason == "length":
            self._grow()
        second = self._say(corrected(messages, first.completion.text, wrong), shown)
        try:
            return self._readable(second, first)
        except (ValueError, ArithmeticError) as error:
            raise Unparsed(f"{self._seat.model} on {self._named}: {error}") from None

    def _readable(self, last: Called, first: Called) -> Answer[Output]:
        """The answer that `last` holds. ValueError when it cannot be read.

        What it takes is what it would have taken at the first attempt, so that a fault that passed is paid
        for and changes nothing else.
        """
        value = parse(last.completion.text, self.prompt.accepted)
        output = read(self._task, value)
        if last.completion.finish_reason == "length":
            self._notes.append(f"the answer of {self._seat.model} is cut off: what is whole of it is used")
        spend = last.spend
        if last is not first:
            given = first.spend.input_tokens
            cost = self._seat.estimated_cost(given, spend.output_tokens)
            spend = spend.model_copy(update={"input_tokens": given, "cost_usd": cost})
        booking = self._calls.booking
        wasted = _less(booking.heard, spend) + booking.unheard
        return Answer(output, json.dumps(value), spend, wasted, self.notes)

    def _messages(self) -> tuple[list[Message], Sequence[Frame]]:
        """The messages, and the frames that they show."""
        profile = self._seat.profile
        while True:
            frames = [part for part in self.prompt.parts if isinstance(part, Frame)]
            if len(frames) > profile.max_images:  # as was learned: what is asked for stays the same question
                self._thin_to(profile.max_images)
                self.prompt = render(self._task)
                continue
            clip: Clip | None = make_clip(frames, profile) if suits(frames, profile) else None
            pictures: list[Picture] | int = [] if clip else self._means.encoder.within(frames, profile)
            if not isinstance(pictures, int):
                return to_messages(self.prompt, pictures, clip, profile), frames
            limit = f"takes at most {profile.max_request_bytes / 1e6:g} MB of pictures a request"
            self._thin(pictures, limit)
            self.prompt = render(self._task)

    def _thin_to(self, most: int) -> None:
        self._thin(most, f"takes at most {most} pictures a request" if most else "takes no pictures")

    def _thin(self, count: int, because: str) -> None:
        frames = frames_in(self._task)
        field = type(self._task).model_fields.get("frames")
        if field is None or (count < 1 and field.is_required()):
            raise UnsupportedTask(
                f"{self._seat.model} {because}, and {self._named} shows {len(frames)}: "
                f"name another model for the role {self._task.role.value}"
            )
        kept = tuple(thinned(frames, count))
        self._task = self._task.model_copy(update={"frames": kept})
        self._notes.append(f"{len(kept)} of {len(frames)} frames are shown: {self._seat.model} {because}")

    def _say(self, messages: Sequence[Message], shown: Sequence[Frame]) -> Called:
        """A completion that is not empty. Raises Refused when there is none."""
        for _ in range(2):
            called = self._call(messages, shown)
            completion = called.completion
            if completion.text.strip() and not completion.refusal:
                return called
            if completion.refusal or completion.finish_reason in BLOCKED_ENDS:
                said = f": {completion.refusal}" if completion.refusal else ""
                raise Refused(f"{self._seat.model} declines {self._named}{said[:300]}")
            if completion.finish_reason == "length":
                self._grow()
            elif (aside := self._fitting_aside(completion)) is not None:
                return replace(called, completion=replace(completion, text=aside))
        if completion.finish_reason == "length":
            raise self._out_of_room()
        if completion.asides:
            raise Unparsed(f"{self._seat.model} on {self._named}: the answer is empty, and so it was before")
        raise Refused(f"{self._seat.model} gave an empty answer to {self._named}, twice")

    def _fitting_aside(self, completion: Completion) -> str | None:
        """What stands beside an empty answer and is one: some servers put it there."""
        for aside in completion.asides:
            with suppress(ValueError):
                parse(aside, self.prompt.accepted)
                return aside
        return None

    def _grow(self) -> None:
        if self._may_grow:
            self._room *= MORE_ROOM

    def _out_of_room(self) -> Unparsed:
        return Unparsed(f"{self._seat.model} on {self._named}: all tokens were used before it answered")

    def _call(self, messages: Sequence[Message], shown: Sequence[Frame]) -> Called:
        """One completion, whatever it takes to get it."""
        learned = 0
        while True:
            parameters = self._parameters()
            try:
                estimate = self._estimate(messages, shown, parameters)
                return self._calls.make(messages, shown, parameters, estimate)
            except CallFailed as failure:
                learned += 1
                if learned > MOST_LEARNED or not self._learn(failure, parameters, shown):
                    raise self._ended(failure) from None

    def _learn(self, failure: CallFailed, sent: Mapping[str, Any], shown: Sequence[Frame]) -> bool:
        """Change what the failure shows to be wrong; whether there was anything."""
        if failure.fault is Fault.PARAMETER:
            note = self._seat.learn_parameter(failure, sent)
            if note is not None:
                self._notes.append(note)
            return note is not None
        if failure.fault is Fault.OUTPUT and failure.output_limit is not None:
            limit = failure.output_limit
            if limit.lasting:
                self._notes.append(self._seat.learn_output(limit.tokens))
            else:
                self._most_output = limit.tokens
            return True
        if failure.fault is Fault.TOO_LARGE and self._room > 1:
            self._room, self._may_grow = 1, False
            return True
        if failure.fault is Fault.TOO_LARGE and shown:
            fewer = len(shown) // 2
            if failure.most_images is not None:
                fewer = failure.most_images
                self._seat.learn_images(fewer)
            if fewer < len(shown) and (fewer or failure.most_images == 0):
                raise _NeedsFewer(fewer)
        return False

    def _ended(self, failure: CallFailed) -> BackboneError:
        """The error of the task that a failed call ends in."""
        seat, said = self._seat, str(failure)
        model, base = seat.model, seat.endpoint.base or "its provider"
        if failure.fault is Fault.KEY:
            names = " or ".join(seat.endpoint.key_variables) or "its provider's environment variable"
            return MissingKey(f"{model}: the key in {names} is not accepted: {said}")
        if failure.fault is Fault.QUOTA:
            return CannotPay(f"{model}: the account at {base} is out of credit or quota: {said}")
        if failure.fault is Fault.MODEL:
            return UnknownModel(f"{model}: there is no such model at {base}: {said}")
        if failure.fault is Fault.NO_CONNECTION and not seat.known:
            return Unreachable(f"{model}: nothing answers at {base} ({said}): is the server running?")
        if failure.fault is Fault.BLOCKED:
            return Refused(f"{model} declines {self._named}: {said}")
        if failure.fault is Fault.TOO_LARGE and not self._may_grow:
            return self._out_of_room()
        if failure.fault is Fault.TOO_LARGE:
            return Refused(f"{self._named} is larger than {model} takes: {said}")
        tries = "" if failure.attempts == 1 else f" after {failure.attempts} attempts"
        unavailable = BackboneUnavailable(f"{model} at {base} gave no answer{tries}: {said}")
        unavailable.lasting = failure.fault not in PASSING
        return unavailable

    def _parameters(self) -> dict[str, Any]:
        profile = self._seat.profile
        asked = {
            "temperature": self._task.temperature,
            "max_tokens": (self._task.max_output_tokens + profile.thinking_tokens) * self._room,
            "response_format": response_format(self.prompt, profile.json_mode),
            **self._seat.parameters,
        }
        if self._most_output is not None:
            asked |= {
                name: min(value, self._most_output)
                for name, value in asked.items()
                if name in OUTPUT_NAMES and isinstance(value, int)
            }
        return self._seat.accepted(asked)

    def _estimate(
        self, messages: Sequence[Message], shown: Sequence[Frame], parameters: Mapping[str, Any]
    ) -> Spend:
        """The most that one call may take, its price aside."""
        text = sum(_text_bytes(message["content"]) for message in messages)
        profile = self._seat.profile
        given = text // 2 + 64 + sum(profile.image_tokens(frame.width, frame.height) for frame in shown)
        room = parameters.get("max_tokens") or parameters.get("max_completion_tokens")
        received = int(room) if room else self._task.max_output_tokens + profile.thinking_tokens
        return Spend(calls=1, input_tokens=given, output_tokens=received, frames=len(shown))

    @property
    def _named(self) -> str:
        return type(self._task).__name__


def frames_in(task: Task[Any]) -> tuple[Frame, ...]:
    """The frames that a task shows."""
    one = getattr(task, "frame", None)
    return (one,) if isinstance(one, Frame) else tuple(getattr(task, "frames", ()))


def _less(whole: Spend, part: Spend) -> Spend:
    """What is left of a spend without a part of it."""
    if whole == part:
        return Spend()
    known = whole.cost_usd is not None and part.cost_usd is not None
    return Spend(
        calls=max(0, whole.calls - part.calls),
        input_tokens=max(0, whole.input_tokens - part.input_tokens),
        output_tokens=max(0, whole.output_tokens - part.output_tokens),
        frames=max(0, whole.frames - part.frames),
        cost_usd=max(0.0, (whole.cost_usd or 0.0) - (part.cost_usd or 0.0)) if known else None,
    )


def _text_bytes(content: Any) -> int:
    if isinstance(content, str):
        return len(content.encode())
    return sum(len(part["text"].encode()) for part in content if part["type"] == "text")
