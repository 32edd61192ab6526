"""Harnesses answer questions; what comes out is kept, and never asked again.

Only public questions and harness files go to the workers. The reference stays in the parent, which
computes the reward. One item is one question for all harnesses that have not answered it yet, so that
they answer at neighbouring times, and items of one video go to one worker, which has it open.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evoharness.errors import UserError
from evoharness.evaluation.executor import Executor, WorkerLost, check_failed, place_of
from evoharness.evaluation.workbench import Workbench
from evoharness.records.outcome import APPARATUS, OVER_LIMIT, SANDBOX_PREFIX, Answered, Outcome, Trace
from evoharness.records.question import PublicQuestion, Question
from evoharness.scoring import Judge, reward_of

if TYPE_CHECKING:
    from evoharness.harness import Harness
    from evoharness.solver import SolverLimits

APPARATUS_RETRIES = 2
SECONDS_BEFORE_RETRY = 1.0
UNREADABLE = "NotAVideo: "
HARNESSES_AN_ITEM = 8
"""Most harnesses that answer a question in one item: what Ctrl-C waits for stays short."""


class OutcomeStore(Protocol):
    """Keeps outcomes by (harness fingerprint, public question id, trial).

    Not by the readable id: two question files may use the same ones.
    """

    def get(self, harness: str, public_id: str, trial: int = 0) -> Outcome | None:
        """The outcome, or None when that pair was never answered."""
        ...

    def put(self, outcomes: Sequence[Outcome]) -> None:
        """Keep outcomes, replacing those of the same key."""
        ...


class OutcomesInMemory:
    """An outcome store that lasts as long as the process."""

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, str, int], Outcome] = {}

    def get(self, harness: str, public_id: str, trial: int = 0) -> Outcome | None:
        """See `OutcomeStore`."""
        return self._outcomes.get((harness, public_id, trial))

    def put(self, outcomes: Sequence[Outcome]) -> None:
        """See `OutcomeStore`."""
        self._outcomes.update({(o.harness, o.answered.question, o.trial): o for o in outcomes})


@dataclass(frozen=True)
class AnswerItem:
    """What crosses to a worker: one public question for some harnesses."""

    question: PublicQuestion
    path: Path
    """The video file."""
    harnesses: "tuple[Harness, ...]"
    limits: "SolverLimits"
    trial: int = 0


def answer(bench: Workbench, item: AnswerItem) -> list[Answered]:
    """Job: each harness of the item answers its question.

    A defect that one answer meets is told in one line, and counts as a failure of the apparatus. When no
    call can be made any more, what was answered before is given back alone; CannotGoOn when that is nothing.
    """
    from evoharness.models.backbone import BackboneUnavailable, CannotGoOn
    from evoharness.sandbox import SandboxUnavailable
    from evoharness.video import NotAVideo

    answered = []
    for harness in item.harnesses:
        try:
            answered.append(_solved(bench, item, harness))
        except CannotGoOn:
            if not answered:
                raise
            break
        except (BackboneUnavailable, SandboxUnavailable, NotAVideo, OSError) as error:
            answered.append(_no_answer(item.question, f"{type(error).__name__}: {error}"))
        except UserError:
            raise
        except Exception as error:
            place = place_of(error)
            bench.note(f"an answer met a defect: {place}")
            answered.append(_no_answer(item.question, place))
    return answered


def _solved(bench: Workbench, item: AnswerItem, harness: "Harness") -> Answered:
    """The answer of one harness; that of another one which must answer alike, where there is one."""
    from evoharness.solver import behaviour, solve

    video = bench.video(item.path)
    alike = behaviour(harness, video.info.duration)
    key = (alike, item.question.id, str(item.trial), repr(item.limits))
    fresh: list[Answered] = []

    def solved() -> Answered:
        waited = bench.waited_s
        answer = solve(item.question, video, harness, bench.solver_bench, item.limits, item.trial)
        late = answer.status == OVER_LIMIT or answer.status.startswith(SANDBOX_PREFIX)
        if late and bench.waited_s > waited:
            said = f"its time went by while nobody was answered: {answer.message}"
            answer = answer.model_copy(update={"status": APPARATUS, "message": said})
        fresh.append(answer)
        return answer

    answered = bench.answered.get(key, solved, worth=lambda answer: answer.status != APPARATUS)
    return answered if fresh else answered.model_copy(update={"reused": True})


OnOutcome = Callable[[Outcome, bool], None]
"""Told of every outcome, and whether it is new (False: it was in the store)."""


class Evaluator:
    """Answers (harness, question) pairs on an executor and scores them."""

    def __init__(
        self,
        executor: Executor,
        videos: Mapping[str, Path],
        store: OutcomeStore | None = None,
        limits: "SolverLimits | None" = None,
        judge: Judge | None = None,
    ) -> None:
        """`videos`: key of a question's video → file; `limits` None: the Solver's own."""
        self.executor = executor
        self.videos = videos
        self.store: OutcomeStore = store if store is not None else OutcomesInMemory()
        self.judge = judge
        self._limits = limits

    @property
    def limits(self) -> "SolverLimits":
        """What one answer may use."""
        if self._limits is None:
            from evoharness.solver import SolverLimits

            self._limits = SolverLimits()
        return self._limits

    def evaluate(
        self,
        harnesses: "Sequence[Harness]",
        questions: Sequence[Question],
        trial: int = 0,
        on_outcome: OnOutcome | None = None,
    ) -> dict[str, list[Outcome]]:
        """Fingerprint → outcomes in the order of `questions`.

        Pairs in the store are not asked again. A failure of the apparatus is tried again, and is
        neither stored nor scored when it stays. UserError for a question about an unknown video, and
        TooManyFailed when it stays for more than a few questions: what was answered is in the store.
        """
        by_print = {harness.fingerprint: harness for harness in harnesses}
        found: dict[tuple[str, str], Outcome] = {}
        missing: dict[str, list[Harness]] = {}
        public_ids = [question.public().id for question in questions]
        by_id = dict(zip(public_ids, questions, strict=True))
        for public_id, question in by_id.items():
            self._path(question)
            for fingerprint, harness in by_print.items():
                kept = self.store.get(fingerprint, public_id, trial)
                if kept is None:
                    missing.setdefault(public_id, []).append(harness)
                else:
                    found[fingerprint, public_id] = kept
                    if on_outcome:
                        on_outcome(kept, False)
        for attempt in range(APPARATUS_RETRIES + 1):
            if not missing:
                break
            time.sleep(SECONDS_BEFORE_RETRY * attempt)
            last = attempt == APPARATUS_RETRIES
            missing = self._ask(missing, by_id, trial, found, on_outcome, last)
        _check_apparatus(found)
        return {
            fingerprint: [found[fingerprint, public_id] for public_id in public_ids]
            for fingerprint in by_print
        }

    def _ask(
        self,
        missing: "dict[str, list[Harness]]",
        questions: Mapping[str, Question],
        trial: int,
        found: dict[tuple[str, str], Outcome],
        on_outcome: OnOutcome | None,
        last: bool,
    ) -> "dict[str, list[Harness]]":
        """Ask what is missing, fill `found` (both by public id); returns what the apparatus failed.

        Raises CannotGoOn when no call can be made any more, with everything stored that was answered before.
        """
        items = [
            AnswerItem(
                questions[public_id].public(),
                self._path(questions[public_id]),
                tuple(harnesses[first : first + HARNESSES_AN_ITEM]),
                self.limits,
                trial,
            )
            for public_id, harnesses in missing.items()
            for first in range(0, len(harnesses), HARNESSES_AN_ITEM)
        ]
        failed: dict[str, list[Harness]] = {}
        unpaid: dict[str, list[Harness]] = {}
        for index, answers in self.executor.map(answer, items, key=_video, on_lost=_lost):
            public_id = items[index].question.id
            question = questions[public_id]
            fresh = []
            if left := items[index].harnesses[len(answers) :]:
                unpaid.setdefault(public_id, []).extend(left)
            for harness, answered in zip(items[index].harnesses, answers, strict=False):
                outcome = Outcome(
                    harness=harness.fingerprint,
                    question=question.id,
                    trial=trial,
                    reward=reward_of(question, answered, self.judge),
                    answered=answered,
                )
                if outcome.status == APPARATUS and not last:
                    failed.setdefault(public_id, []).append(harness)
                    continue
                found[outcome.harness, public_id] = outcome
                fresh.append(outcome)
            self.store.put([outcome for outcome in fresh if outcome.status != APPARATUS])
            if on_outcome:
                for outcome in fresh:
                    on_outcome(outcome, True)
        if unpaid:  # each turn answers at least one more, or raises
            for public_id, harnesses in self._ask(unpaid, questions, trial, found, on_outcome, last).items():
                failed.setdefault(public_id, []).extend(harnesses)
        return failed

    def _path(self, question: Question) -> Path:
        try:
            return self.videos[question.video]
        except KeyError:
            raise UserError(
                f"question {question.id} is about the video {question.video!r}, which is not among the videos"
            ) from None


def _check_apparatus(found: Mapping[tuple[str, str], Outcome]) -> None:
    """TooManyFailed when it is more than a few questions; a video that cannot be read is no outage."""
    failed = {
        public_id: outcome.answered.message
        for (_, public_id), outcome in found.items()
        if outcome.status == APPARATUS and not outcome.answered.message.startswith(UNREADABLE)
    }
    if failed:
        questions = {public_id for _, public_id in found}
        check_failed(len(failed), len(questions), "questions", next(reversed(failed.values())))


def _video(item: AnswerItem) -> str:
    return item.question.video


def _no_answer(question: PublicQuestion, message: str) -> Answered:
    return Answered(question=question.id, status=APPARATUS, message=message, trace=Trace(strategy=""))


def _lost(item: AnswerItem, error: WorkerLost) -> list[Answered]:
    return [_no_answer(item.question, str(error))] * len(item.harnesses)
