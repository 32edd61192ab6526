"""Where a round's questions come from: the Questioner, or a file of questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Protocol

from evoharness.errors import UserError
from evoharness.evaluation import BesideWorkers, remembered
from evoharness.evolution.draw import interleaved
from evoharness.evolution.settings import EvolutionSettings
from evoharness.records.evolution import Diagnosis, Draw, FailureCause, QualityNumbers, QuestionCounts
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.evaluation import Executor
    from evoharness.questioner import Policy, QuestionerSettings
    from evoharness.records.memory import VideoMemory
    from evoharness.runs import Progress, RunDirectory


@dataclass(frozen=True)
class RoundQuestions:
    """The questions of one round."""

    evolution: tuple[Question, ...]
    """In the order of the race."""
    validation: tuple[Question, ...]
    counts: QuestionCounts


class QuestionSource(Protocol):
    """Gives a round its questions, and learns from how they went."""

    def questions(self, round_number: int, draw: Draw, used: frozenset[str]) -> RoundQuestions:
        """Questions about the drawn videos; `used`: ids of earlier validation questions."""
        ...

    def learn(
        self, round_number: int, questions: RoundQuestions, outcomes: Sequence[Outcome], diagnosis: Diagnosis
    ) -> QualityNumbers:
        """Judge the round's questions from the incumbent's evolution outcomes; prepare the next round.

        May be called again after a run was interrupted: the same arguments give the same.
        """
        ...


def limited(
    questions: Sequence[Question], draw: Draw, settings: EvolutionSettings, rng: Random
) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """Evolution and validation questions, at most as many as the settings allow, evenly over videos."""

    def some(videos: Sequence[str], most: int) -> tuple[Question, ...]:
        groups = [[q for q in questions if q.video == video] for video in sorted(videos)]
        return tuple(interleaved([group for group in groups if group], rng)[:most])

    return (
        some(draw.evolution, settings.evolution_questions),
        some(draw.validation, settings.validation_questions),
    )


class GivenQuestions:
    """Questions of a file; rounds that draw the same videos use the same questions again."""

    def __init__(self, questions: Sequence[Question], settings: EvolutionSettings, seed: int) -> None:
        self._questions = questions
        self._settings = settings
        self._seed = seed

    def questions(
        self,
        round_number: int,
        draw: Draw,
        used: frozenset[str],  # noqa: ARG002
    ) -> RoundQuestions:
        """See `QuestionSource`."""
        drawn = [question for question in self._questions if question.video in draw.videos]
        rng = Random(f"{self._seed}/given/{round_number}")
        evolution, validation = limited(drawn, draw, self._settings, rng)
        counts = QuestionCounts(
            generated=len(drawn),
            retained=len(drawn),
            evolution=len(evolution),
            validation=len(validation),
        )
        return RoundQuestions(evolution, validation, counts)

    def learn(
        self,
        round_number: int,  # noqa: ARG002
        questions: RoundQuestions,  # noqa: ARG002
        outcomes: Sequence[Outcome],  # noqa: ARG002
        diagnosis: Diagnosis,  # noqa: ARG002
    ) -> QualityNumbers:
        """See `QuestionSource`; questions of a file are taken as they are."""
        return QualityNumbers()


class Questioner:
    """Questions made from memories by a policy φ that is refined after every round but the last.

    Leaves `policy.json`, `questions/filters.json`, `quality.json` and `refinement.json` in the folder of
    the round; the refined policy is the next round's `policy.json`.
    """

    def __init__(
        self,
        questioner: "QuestionerSettings",
        settings: EvolutionSettings,
        videos: Mapping[str, Path],
        executor: "Executor",
        run: "RunDirectory",
        progress: "Progress",
        seed: int,
    ) -> None:
        self._questioner = questioner
        self._settings = settings
        self._videos = videos
        self._executor = executor
        self._run = run
        self._progress = progress
        self._seed = seed

    def questions(self, round_number: int, draw: Draw, used: frozenset[str]) -> RoundQuestions:
        """See `QuestionSource`; what was used before in a validation is left out."""
        from evoharness.questioner import filter_questions, generate

        policy = self._policy(round_number)
        memories = self._memories(round_number, draw)
        generated = [
            question
            for key, memory in memories.items()
            for question in generate(
                memory,
                key,
                policy,
                self._questioner.per_video,
                Random(f"{self._seed}/questions/{round_number}/{key}"),
            )
            if question.id not in used
        ]
        self._progress.start_stage(round_number, "filtering questions", len(generated))
        report = filter_questions(
            generated,
            self._videos,
            memories,
            self._executor,
            BesideWorkers(self._executor),
            self._questioner,
            on_checked=lambda n: self._progress.advance(n),
        )
        self._run.save(_at(round_number, "questions/filters.json"), report)
        rng = Random(f"{self._seed}/sets/{round_number}")
        evolution, validation = limited(report.retained, draw, self._settings, rng)
        counts = QuestionCounts(
            generated=len(generated),
            retained=len(report.retained),
            evolution=len(evolution),
            validation=len(validation),
        )
        return RoundQuestions(evolution, validation, counts)

    def learn(
        self, round_number: int, questions: RoundQuestions, outcomes: Sequence[Outcome], diagnosis: Diagnosis
    ) -> QualityNumbers:
        """See `QuestionSource`: J_Q, and the next round's policy."""
        from evoharness.questioner import (
            FilterReport,
            Findings,
            RuleRefiner,
            accuracies,
            quality,
            target_proportions,
        )

        report = self._run.load(_at(round_number, "questions/filters.json"), FilterReport)
        if report is None:
            raise UserError(f"{self._run.path}: round {round_number} has lost its questions/filters.json")
        policy = self._policy(round_number)
        targets = target_proportions(self._questioner)
        by_kind, by_form = accuracies(questions.evolution, outcomes)
        judged = quality(
            report, {k: a.share for k, a in by_kind.items()}, targets, self._questioner, policy.options
        )
        self._run.save(_at(round_number, "quality.json"), judged)
        if round_number < self._settings.rounds:
            forms = {question.id: question.form for question in questions.evolution}
            too_narrow: dict[str, int] = {}
            for failure in diagnosis.failures:
                if failure.cause is FailureCause.QUESTION_EVIDENCE:
                    form = forms[failure.question]
                    too_narrow[form] = too_narrow.get(form, 0) + 1
            findings = Findings(judged, report, by_kind, by_form, targets, too_narrow)
            refiner = RuleRefiner(low=self._questioner.accuracy_low, high=self._questioner.accuracy_high)
            refinement = refiner.refine(policy, findings)
            self._run.save(_at(round_number, "refinement.json"), refinement)
            self._run.save(_at(round_number + 1, "policy.json"), refinement.policy)
        return QualityNumbers(
            J=judged.J,
            blind=judged.blind,
            oracle=judged.oracle,
            coverage=judged.coverage,
            difficulty=judged.difficulty,
            removed=judged.removed,
        )

    def _policy(self, round_number: int) -> "Policy":
        """φ of a round: what the round before refined, else the configured one."""
        from evoharness.questioner import Policy, initial_policy

        policy = self._run.load(_at(round_number, "policy.json"), Policy)
        if policy is None:
            # A round without questions refines nothing: the policy before it stays in force.
            policy = initial_policy(self._questioner) if round_number == 1 else self._policy(round_number - 1)
            self._run.save(_at(round_number, "policy.json"), policy)
        return policy

    def _memories(self, round_number: int, draw: Draw) -> "dict[str, VideoMemory]":
        """Memories by key, in the order drawn; a video that cannot be remembered is left out, with a note."""
        self._progress.start_stage(round_number, "remembering videos", len(draw.videos))
        found: dict[str, VideoMemory] = {}
        for key, memory in remembered(self._executor, {key: self._videos[key] for key in draw.videos}):
            if isinstance(memory, str):
                self._progress.note(f"left out {memory}")
                self._run.ledger.append("video left out", round=round_number, reason=memory)
            else:
                found[key] = memory
            self._progress.advance()
        return {key: found[key] for key in draw.videos if key in found}


def _at(round_number: int, name: str) -> str:
    return f"rounds/{round_number:02d}/{name}"
