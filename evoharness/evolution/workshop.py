"""What every round works with, and the books it keeps: time, spend and progress of each stage."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evaluation import Evaluator, Workbench
from evoharness.evolution.proposing import Answer, Proposer
from evoharness.evolution.settings import EvolutionSettings
from evoharness.evolution.sources import QuestionSource
from evoharness.harness import Harness, HarnessStore
from evoharness.records.outcome import APPARATUS, Outcome
from evoharness.records.question import Question
from evoharness.records.spend import Spend, Used, beyond, total

if TYPE_CHECKING:
    from evoharness.evaluation import Executor
    from evoharness.runs import Ledger, Progress, RunDirectory

STAGE = "stage"


@dataclass
class Books:
    """What was used for answers that are kept with their outcomes, so that it is not counted twice."""

    answers: Spend = field(default_factory=Spend)


@dataclass(frozen=True)
class Workshop:
    """The parts that stay the same for the whole run."""

    settings: EvolutionSettings
    seed: int
    initial: Harness
    """What the run began with, and what observation is measured against."""
    videos: Mapping[str, Path]
    """Videos to learn from, by key."""
    evaluator: Evaluator
    source: QuestionSource
    proposer: Proposer
    run: "RunDirectory"
    progress: "Progress"
    books: Books = field(default_factory=Books)

    @property
    def executor(self) -> "Executor":
        """Where jobs run."""
        return self.evaluator.executor

    @property
    def harnesses(self) -> HarnessStore:
        """Every harness that was used, by fingerprint."""
        return HarnessStore(self.run.harnesses)

    @contextmanager
    def stage(self, round_number: int | None, name: str) -> Iterator[None]:
        """Enter a stage in the ledger, however it ends.

        That is its time, what it used beside kept answers, what was paid in it by role, and what came from
        the response cache.
        """
        began, before, kept = time.monotonic(), self.executor.used, self.books.answers
        try:
            yield
        finally:
            used = self.executor.used.spend.beyond(before.spend).beyond(self.books.answers.beyond(kept))
            paid = beyond(self.executor.used.paid, before.paid)
            seconds = round(time.monotonic() - began, 3)
            cached = self.executor.used.cached.beyond(before.cached)
            self.run.ledger.append(
                STAGE, round=round_number, stage=name, seconds=seconds, spend=used, paid=paid, cached=cached
            )

    def answering(self, round_number: int | None, name: str) -> Answer:
        """A way to have questions answered that shows progress under that name."""

        def answer(
            harnesses: Sequence[Harness], questions: Sequence[Question], trial: int = 0
        ) -> dict[str, list[Outcome]]:
            unique = {harness.fingerprint: harness for harness in harnesses}
            graded = {question.id for question in questions if not question.options}
            shown = total(self.executor.used.paid)

            def on_outcome(outcome: Outcome, new: bool) -> None:
                nonlocal shown
                if new and not outcome.answered.reused and outcome.status != APPARATUS:
                    self.books.answers += outcome.answered.spend
                known = outcome.status != APPARATUS and outcome.question not in graded
                paid = total(self.executor.used.paid)
                self.progress.advance(correct=outcome.correct if known else None, spend=paid.beyond(shown))
                shown = paid

            self.progress.start_stage(round_number, name, len(unique) * len(questions))
            return self.evaluator.evaluate(list(unique.values()), questions, trial, on_outcome)

        return answer

    def totals(self) -> tuple[float, Spend]:
        """Seconds worked and everything used so far, however often the run was resumed."""
        seconds, spend = 0.0, self.run.outcomes.spend()
        for event in self.run.ledger.events(STAGE):
            seconds += event["seconds"]
            spend += Spend.model_validate(event["spend"])
        return seconds, spend

    def used(self) -> Used:
        """What was paid by role, and what came from the response cache, however often the run was resumed."""
        return used_in(self.run.ledger)


def used_in(ledger: "Ledger") -> Used:
    """What was paid by role, and what came from the response cache, in all stages of a run."""
    return sum((Used(**{name: e[name] for name in USED if name in e}) for e in ledger.events(STAGE)), Used())


USED = ("paid", "cached", "lost")
"""What the event of a stage tells of what was used."""
UNTOLD = "not told"
"""Stands for the role of calls that were paid for, and of which nobody said what for."""


def untold(told: Mapping[str, Spend], file: Path, finished: bool = True) -> Used:
    """What the books of a run hold, by role, on top of what its stages told: workers that were killed had
    no time to say what they paid for, and replies were lost. Nothing where no books are kept.

    `finished`: with calls that were never answered; until then they may be, and are corrected.
    """
    from evoharness.models.budget import Budget, Caps

    if not file.exists():
        return Used()
    books = Budget(file, Caps())
    try:
        used, by_role = books.used(lost=finished), books.used_by_role(lost=finished)
        lost = books.lost() if finished else Spend()
    finally:
        books.close()
    rest = used.beyond(total(told))
    if not rest.calls:
        return Used()
    found = beyond(by_role, told)
    nameless = rest.beyond(total(found))
    return Used(paid=found | ({UNTOLD: nameless} if nameless.calls else {}), lost=lost)


def enter_untold(run: "RunDirectory", finished: bool = False) -> Used:
    """Enter in the ledger what stages did not tell, see `untold`; returns it.

    `finished`: no call is made any more, and those whose replies were lost stay booked at the most that they
    may have taken.
    """
    from evoharness.models.budget import BUDGET_FILE, Budget, Caps

    file = run.path / BUDGET_FILE
    more = untold(used_in(run.ledger).paid, file, finished)
    if more.paid:
        run.ledger.append(
            STAGE, round=None, stage="killed", seconds=0.0, spend=Spend(), paid=more.paid, lost=more.lost
        )
    if more.lost.calls:
        books = Budget(file, Caps())
        books.conclude()
        books.close()
    return more


def sorts(executor: "Executor", videos: Mapping[str, Path]) -> dict[str, tuple[float, float]]:
    """Pixels and seconds of each video, by key: what makes looking at it cheap or dear."""
    keys = sorted(videos)
    found = dict(executor.map(sort_of, [videos[key] for key in keys]))
    return {keys[index]: sort for index, sort in sorted(found.items())}


def sort_of(bench: Workbench, path: Path) -> tuple[float, float]:
    """Job: pixels and seconds of a video."""
    info = bench.video(path).info
    return (float(info.width * info.height), info.duration)
