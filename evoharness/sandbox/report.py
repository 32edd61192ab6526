"""Prints what a self-test found: the level first, then a table by group, then what is wrong."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evoharness.sandbox.attacks import groups, load_group
from evoharness.sandbox.result import SandboxLevel, demand_level
from evoharness.sandbox.selftest import Report, Trial, self_test

HELD, FAILED = 0, 1


def print_self_test(allow_weaker: bool, chosen: Sequence[str] = (), backend: str = "process") -> int:
    """Try the attacks of the groups chosen (none: all) on a backend and print what came of them.

    The exit code: 1 when anything got through, else 0. Raises SandboxUnavailable when the level reached
    needs consent and there is none.
    """
    printer = _Printer()

    def on_level(level: SandboxLevel) -> None:
        printer.level(level)
        demand_level(level, allow_weaker)

    attacks = [attack for group in chosen or groups() for attack in load_group(group)]
    report = self_test(
        attacks, allow_weaker=allow_weaker, backend=backend, on_level=on_level, on_trial=printer.trial
    )
    printer.end(report)
    return FAILED if report.failed else HELD


class _Printer:
    """On a terminal a table for each group; elsewhere plain lines as they come."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        self._group = ""
        self._trials: list[Trial] = []

    def level(self, level: SandboxLevel) -> None:
        self._say(f"level: {level}")

    def trial(self, trial: Trial) -> None:
        if trial.attack.group != self._group:
            self._end_group()
            self._group = trial.attack.group
            if not self._console.is_terminal:
                self._say(f"\n{self._group}")
        self._trials.append(trial)
        if not self._console.is_terminal:
            self._say(f"  {trial.attack.id:32} {trial.kind:26} {trial.seconds:6.2f} s  {_verdict(trial)}")

    def end(self, report: Report) -> None:
        self._end_group()
        self._say("")
        if report.skipped:
            self._say(
                f"{report.skipped} raw attacks not tried: without landlock and seccomp nothing holds them"
            )
        for trial in report.failed:
            self._say(f"WRONG {trial.attack.group}/{trial.attack.id} ({trial.attack.tries})")
            for wrong in trial.wrong:
                self._say(f"      {wrong}")
        ordinary = [trial for trial in report.trials if trial.attack.ordinary]
        attacks = len(report.trials) - len(ordinary)
        through = sum(not trial.attack.ordinary for trial in report.failed)
        broken = len(report.failed) - through
        self._say(
            f"{attacks} attacks: {attacks - through} held, {through} did not; "
            f"{len(ordinary)} pieces of ordinary code: {len(ordinary) - broken} ran, {broken} did not"
        )

    def _end_group(self) -> None:
        if self._trials and self._console.is_terminal:
            table = Table("id", "tries", "ended as", "seconds", "", title=self._group, title_justify="left")
            for trial in self._trials:
                verdict = _verdict(trial)
                style = "red" if trial.wrong else "green"
                table.add_row(
                    trial.attack.id,
                    escape(trial.attack.tries),
                    trial.kind,
                    f"{trial.seconds:.2f}",
                    f"[{style}]{verdict}[/{style}]",
                )
            self._console.print(table)
        self._trials = []

    def _say(self, line: str) -> None:
        """A line with nothing in it that a terminal would obey."""
        self._console.print("".join(c if c.isprintable() or c == "\n" else "?" for c in line), markup=False)


def _verdict(trial: Trial) -> str:
    if trial.attack.ordinary:
        return "DOES NOT RUN" if trial.wrong else "runs"
    return "GOT THROUGH" if trial.wrong else "held"
