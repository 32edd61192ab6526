"""What a person sees while a run goes on: the stage, how far it is, accuracy so far, spend, time left."""

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol, TextIO

from evoharness.errors import UserError
from evoharness.records.amounts import agreeing, how_many
from evoharness.records.spend import Spend

if TYPE_CHECKING:
    from rich.console import Console

Display = Literal["auto", "rich", "plain", "silent"]


class Progress(Protocol):
    """Told about every stage and every finished piece of it; shows what it likes."""

    def start_stage(self, round_number: int | None, name: str, total: int | None) -> None:
        """A stage begins (and the one before it ends): its round if it has one, its name, how many pieces."""
        ...

    def advance(self, n: int = 1, correct: bool | None = None, spend: Spend | None = None) -> None:
        """`n` pieces are done; for an answered question, whether it was right and what it cost."""
        ...

    def expect(self, n: int) -> None:
        """`n` pieces more than was known belong to the stage."""
        ...

    def note(self, message: str) -> None:
        """Something to be read now and kept on the screen: a verdict, a skipped file."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


class Stage:
    """How far one stage is; shared by the displays."""

    def __init__(self, round_number: int | None, name: str, total: int | None, now: float) -> None:
        """Starts at `now`, a time in seconds of any monotonic clock; `total` None: not known."""
        self.round_number = round_number
        self.name = name
        self.total = total
        self.started = now
        self.done = 0
        self.answered = 0
        self.correct = 0

    def advance(self, n: int, correct: bool | None) -> None:
        """Count `n` finished pieces."""
        self.done += n
        if correct is not None:
            self.answered += 1
            self.correct += correct

    def expect(self, n: int) -> None:
        """Count on `n` more pieces."""
        self.total = (self.total or 0) + n

    @property
    def title(self) -> str:
        """Round and name."""
        return self.name if self.round_number is None else f"round {self.round_number} · {self.name}"

    @property
    def accuracy(self) -> float | None:
        """Share of right answers so far; None before the first."""
        return self.correct / self.answered if self.answered else None

    def count(self) -> str:
        """`12/80`, or `12` when the total is unknown."""
        return str(self.done) if self.total is None else f"{self.done}/{self.total}"

    def seconds_left(self, now: float) -> float | None:
        """Estimate from the pace so far; None while there is nothing to estimate from."""
        if not self.total or not self.done or self.done >= self.total:
            return None
        return (now - self.started) / self.done * (self.total - self.done)


class SilentProgress:
    """Shows nothing."""

    def start_stage(self, round_number: int | None, name: str, total: int | None) -> None:
        """Nothing."""

    def advance(self, n: int = 1, correct: bool | None = None, spend: Spend | None = None) -> None:
        """Nothing."""

    def expect(self, n: int) -> None:
        """Nothing."""

    def note(self, message: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class PlainProgress:
    """Lines of text, for logs and pipes: one when a stage ends, and one every `every` seconds within it."""

    def __init__(
        self, stream: TextIO | None = None, every: float = 15.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Writes to `stream` (standard output by default)."""
        self._stream = stream or sys.stdout
        self._every = every
        self._clock = clock
        self._stage: Stage | None = None
        self._spend = Spend()
        self._last = clock()

    def start_stage(self, round_number: int | None, name: str, total: int | None) -> None:
        """Ends the stage before it with a line."""
        self._end_stage()
        self._last = self._clock()
        self._stage = Stage(round_number, name, total, self._last)

    def advance(self, n: int = 1, correct: bool | None = None, spend: Spend | None = None) -> None:
        """Writes a line when the last one is old enough."""
        if spend is not None:
            self._spend += spend
        if self._stage is None:
            return
        self._stage.advance(n, correct)
        if self._clock() - self._last >= self._every:
            self._last = self._clock()
            self._write(describe(self._stage, self._spend, self._last, finished=False))

    def expect(self, n: int) -> None:
        """Counts on them."""
        if self._stage is not None:
            self._stage.expect(n)

    def note(self, message: str) -> None:
        """Writes it."""
        self._write(message)

    def close(self) -> None:
        """Ends the last stage."""
        self._end_stage()

    def _end_stage(self) -> None:
        if self._stage is not None:
            self._write(describe(self._stage, self._spend, self._clock(), finished=True))
            self._stage = None

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


def describe(stage: Stage, spend: Spend, now: float, finished: bool) -> str:
    """A stage in one line."""
    parts = [f"{stage.title}: {stage.count()}"]
    if stage.accuracy is not None:
        parts.append(f"{stage.accuracy:.1%} right")
    parts.append(describe_spend(spend))
    if finished:
        parts.append(f"took {duration_text(now - stage.started)}")
    else:
        left = stage.seconds_left(now)
        if left is not None:
            parts.append(f"{duration_text(left)} left")
    return ", ".join(part for part in parts if part)


def describe_spend(spend: Spend) -> str:
    """`1,204 calls, 3.1M tokens, $0.42`; empty when nothing was used."""
    if not spend.calls:
        return ""
    tokens = agreeing(spend.tokens, "token", "tokens")
    parts = [how_many(spend.calls, "call"), f"{quantity(spend.tokens)} {tokens}"]
    if spend.cost_usd is None:
        parts.append("cost unknown")
    elif spend.cost_usd:
        parts.append(money(spend.cost_usd))
    return ", ".join(parts)


def money(usd: float | None) -> str:
    """`$0.42`, `$0.0031` for what is less than a cent, `unknown` for None."""
    if usd is None:
        return "unknown"
    return f"${usd:,.2f}" if usd >= 0.01 or usd == 0 else f"${usd:.2g}"


def quantity(number: float) -> str:
    """`950`, `12.3k`, `3.1M`."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{suffix}"
    return f"{number:.0f}"


def duration_text(seconds: float) -> str:
    """`8s`, `3m 05s`, `2h 10m`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def percent(share: float | None) -> str:
    """`62.5 %`; a dash for None."""
    return "–" if share is None else f"{share * 100:.1f} %"


def probability(p: float | None, sign: str = "") -> str:
    """`0.0032`, after `sign`; `< 0.0001` for what is less than that; a dash for None."""
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{sign}{p:.4f}"


def make_progress(display: str = "auto", console: "Console | None" = None) -> Progress:
    """The display of that name; `auto` is live on a terminal and plain lines elsewhere."""
    if display == "auto":
        display = "rich" if sys.stdout.isatty() else "plain"
    if display == "rich":
        from evoharness.runs.live import RichProgress

        return RichProgress(console)
    if display == "plain":
        return PlainProgress()
    if display == "silent":
        return SilentProgress()
    raise UserError(f"display={display} is not known: use auto, rich, plain or silent")
