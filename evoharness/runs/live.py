"""The live display on a terminal."""

import time

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from evoharness.records.spend import Spend
from evoharness.runs.progress import Stage, describe, describe_spend, duration_text


class RichProgress:
    """A line that moves: stage, bar, count, accuracy, spend, time left; finished stages stay above it."""

    def __init__(self, console: Console | None = None) -> None:
        """Takes the terminal over when the first stage starts, until `close`."""
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]}"),
            TextColumn("[green]{task.fields[accuracy]}"),
            TextColumn("[cyan]{task.fields[spend]}"),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[left]}"),
            console=console,
            transient=True,
            refresh_per_second=4,
        )
        self._stage: Stage | None = None
        self._bar: TaskID | None = None
        self._spend = Spend()

    def start_stage(self, round_number: int | None, name: str, total: int | None) -> None:
        """Replaces the moving line; the finished stage is printed above it."""
        self._end_stage()
        self._bars.start()
        self._stage = Stage(round_number, name, total, time.monotonic())
        self._bar = self._bars.add_task(
            self._stage.title,
            total=total,
            count=self._stage.count(),
            accuracy="",
            spend=describe_spend(self._spend),
            left="",
        )

    def advance(self, n: int = 1, correct: bool | None = None, spend: Spend | None = None) -> None:
        """Moves the line."""
        if spend is not None:
            self._spend += spend
        if self._stage is None or self._bar is None:
            return
        self._stage.advance(n, correct)
        left = self._stage.seconds_left(time.monotonic())
        accuracy = self._stage.accuracy
        self._bars.update(
            self._bar,
            completed=self._stage.done,
            count=self._stage.count(),
            accuracy="" if accuracy is None else f"{accuracy:.1%} right",
            spend=describe_spend(self._spend),
            left="" if left is None else f"{duration_text(left)} left",
        )

    def expect(self, n: int) -> None:
        """Makes the bar longer."""
        if self._stage is None or self._bar is None:
            return
        self._stage.expect(n)
        self._bars.update(self._bar, total=self._stage.total, count=self._stage.count())

    def note(self, message: str) -> None:
        """Printed above the moving line."""
        self._bars.console.print(message, markup=False, highlight=False)

    def close(self) -> None:
        """Gives the terminal back."""
        self._end_stage()
        self._bars.stop()

    def _end_stage(self) -> None:
        if self._stage is None or self._bar is None:
            return
        self.note(describe(self._stage, self._spend, time.monotonic(), finished=True))
        self._bars.remove_task(self._bar)
        self._stage = self._bar = None
