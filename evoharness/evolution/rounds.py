"""One round: draw, questions, answers, diagnosis, proposals, verification, race, gate.

Every stage leaves a file in the folder of the round, and is not done again when the file is there. Answers
are kept one by one. A run that was killed therefore goes on where it was, and ends as it would have.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TypeVar

from pydantic import BaseModel

from evoharness.evaluation import measure
from evoharness.evolution import history as files
from evoharness.evolution.combining import combination, kept_alone, kept_together
from evoharness.evolution.diagnosis import diagnose
from evoharness.evolution.draw import draw_videos, with_roles
from evoharness.evolution.gates import could_pass, level_of, make_gate
from evoharness.evolution.history import History, at
from evoharness.evolution.power import advice, is_underpowered
from evoharness.evolution.proposing import Candidate, ProposalContext, Rejection
from evoharness.evolution.screening import screen
from evoharness.evolution.sources import RoundQuestions
from evoharness.evolution.validation import validate
from evoharness.evolution.verification import verify
from evoharness.evolution.workshop import Workshop, sorts
from evoharness.harness import Harness, load_harness, save_harness
from evoharness.records.evolution import (
    CandidateRecord,
    Candidates,
    Decision,
    Diagnosis,
    Draw,
    GateReport,
    QuestionCounts,
    RoundStatus,
    RoundSummary,
    Screening,
)
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question

Kept = TypeVar("Kept", bound=BaseModel)


class Round:
    """Round `number` (from 1) of a run, beginning with the harness `incumbent`."""

    def __init__(self, number: int, incumbent: Harness, share: float, workshop: Workshop) -> None:
        """`share`: which part of the videos is for evolution."""
        self.number = number
        self.incumbent = incumbent
        self.share = share
        self.workshop = workshop
        self.run = workshop.run
        self.settings = workshop.settings
        self.history = History(self.run, number, self.settings.gate)

    def go(self) -> RoundSummary:
        """Do the round, or what is left of it."""
        summary = self.run.load(at(self.number, files.SUMMARY), RoundSummary)
        if summary is None:
            summary = self._go()
            self.run.ledger.append("round", summary=summary)
            self.run.save(at(self.number, files.SUMMARY), summary)
        return summary

    def _go(self) -> RoundSummary:
        draw = self._kept(files.DRAW, Draw, self._draw)
        questions = self._questions(draw)
        begun = RoundSummary(
            round=self.number,
            status=RoundStatus.NO_QUESTIONS,
            videos=len(draw.videos),
            questions=questions.counts,
            harness=self.incumbent.fingerprint,
        )
        if not questions.evolution and not questions.validation:
            said = f"the {len(draw.videos)} videos gave no usable question: try other or longer videos"
            return begun.model_copy(update={"message": said})
        reused = not self.history.validated().isdisjoint(q.id for q in questions.validation)
        best_level = self._level(1, reused)
        possible = could_pass(self.settings.gate, best_level, len(questions.validation), len(draw.validation))
        if not possible or not questions.evolution:
            said = advice(self.settings, best_level, None, draw, questions)
            return begun.model_copy(update={"status": RoundStatus.UNDERPOWERED, "message": said})
        outcomes = self._answers(questions)
        diagnosis = self._kept(files.DIAGNOSIS, Diagnosis, lambda: self._diagnosis(draw, questions, outcomes))
        quality = self.workshop.source.learn(self.number, questions, outcomes, diagnosis)
        candidates = self._candidates(draw, questions, outcomes, diagnosis)
        begun = begun.model_copy(
            update={
                "quality": quality,
                "failures": diagnosis.counts,
                "evolution_accuracy": measure(questions.evolution, outcomes).accuracy,
                "candidates": len(candidates),
            }
        )
        finalists = self._finalists(candidates, questions)
        level = self._level(len(finalists), reused)
        report = self._kept(files.GATE, GateReport, lambda: self._validated(finalists, questions, level))
        return self._ended(begun, candidates, finalists, report, draw, questions)

    def _kept(self, name: str, model: type[Kept], make: Callable[[], Kept]) -> Kept:
        """What is kept in the file `name` of the round; made now, and kept there, where nothing is."""
        found = self.run.load(at(self.number, name), model)
        if found is None:
            found = make()
            self.run.save(at(self.number, name), found)
        return found

    def _level(self, finalists: int, reused: bool) -> float:
        rounds, most = self.settings.rounds, self.settings.finalists
        return level_of(self.settings.gate, self.number, rounds, finalists, reused, planned=most)

    def _draw(self) -> Draw:
        seed = self.workshop.seed
        videos = draw_videos(self.workshop.videos, self.settings.videos_per_round, self.number, seed)
        likeness = sorts(self.workshop.executor, {key: self.workshop.videos[key] for key in videos})
        draw = with_roles(videos, self.history.draws(), self.share, self.number, seed, likeness)
        self.run.ledger.append("draw", round=self.number, draw=draw)
        return draw

    def _questions(self, draw: Draw) -> RoundQuestions:
        counts = self.run.load(at(self.number, files.COUNTS), QuestionCounts)
        if counts is None:
            with self.workshop.stage(self.number, "questions"):
                made = self.workshop.source.questions(self.number, draw, self.history.validated())
            self.run.save(at(self.number, files.EVOLUTION), made.evolution)
            self.run.save(at(self.number, files.VALIDATION), made.validation)
            self.run.save(at(self.number, files.COUNTS), made.counts)
            self.run.ledger.append("questions", round=self.number, counts=made.counts)
            return made
        evolution = self.run.load_lines(at(self.number, files.EVOLUTION), Question) or []
        validation = self.run.load_lines(at(self.number, files.VALIDATION), Question) or []
        return RoundQuestions(tuple(evolution), tuple(validation), counts)

    def _answers(self, questions: RoundQuestions) -> Sequence[Outcome]:
        with self.workshop.stage(self.number, "answering"):
            answer = self.workshop.answering(self.number, "answering")
            return answer([self.incumbent], questions.evolution)[self.incumbent.fingerprint]

    def _diagnosis(self, draw: Draw, questions: RoundQuestions, outcomes: Sequence[Outcome]) -> Diagnosis:
        progress = self.workshop.progress
        progress.start_stage(self.number, "diagnosing failures", None)
        with self.workshop.stage(self.number, "diagnosis"):
            diagnosis = diagnose(
                questions.evolution,
                outcomes,
                self.incumbent,
                self.workshop.videos,
                self._durations(draw),
                self.workshop.executor,
                self.workshop.evaluator.limits,
                self.settings.wider_s,
                on_done=lambda: progress.advance(),
            )
        self.run.ledger.append("diagnosis", round=self.number, counts=diagnosis.counts)
        return diagnosis

    def _durations(self, draw: Draw) -> dict[str, float]:
        videos = {key: self.workshop.videos[key] for key in draw.evolution}
        return {key: seconds for key, (_, seconds) in sorts(self.workshop.executor, videos).items()}

    def _candidates(
        self,
        draw: Draw,
        questions: RoundQuestions,
        outcomes: Sequence[Outcome],
        diagnosis: Diagnosis,
    ) -> list[Candidate]:
        """The candidates that passed verification: proposed now, or read back."""
        known = self.run.load(at(self.number, files.CANDIDATES), Candidates)
        if known is None:
            with self.workshop.stage(self.number, "proposals"):
                proposed = self._proposed(draw, questions, outcomes, diagnosis)
            with self.workshop.stage(self.number, "verification"):
                known = Candidates(candidates=tuple(self._verified(proposed, questions)))
            # what was left by a run that was killed while it filed is filed anew
            shutil.rmtree(self._folder(""), ignore_errors=True)
            for candidate, record in zip(proposed, known.candidates, strict=True):
                self._file(candidate, record)
            self.run.save(at(self.number, files.CANDIDATES), known)
        return [
            Candidate(record.proposal, load_harness(self._folder(record.proposal.id) / "harness"))
            for record in known.sound
        ]

    def _proposed(
        self,
        draw: Draw,
        questions: RoundQuestions,
        outcomes: Sequence[Outcome],
        diagnosis: Diagnosis,
    ) -> list[Candidate]:
        gate = self.settings.gate
        ratio = gate.observation_ratio
        context = ProposalContext(
            round=self.number,
            incumbent=self.incumbent,
            initial=self.workshop.initial,
            questions=questions.evolution,
            outcomes=outcomes,
            diagnosis=diagnosis,
            durations=self._durations(draw),
            videos={key: self.workshop.videos[key] for key in draw.evolution},
            rejections=self._rejections(),
            answer=self.workshop.answering(self.number, "searching"),
            executor=self.workshop.executor,
            rng=Random(f"{self.workshop.seed}/proposals/{self.number}"),
            count=self.settings.candidates,
            limits={"frames_ratio": ratio, "tokens_ratio": ratio} if gate.observation == "equal" else {},
        )
        proposed = self.workshop.proposer.propose(context)[: self.settings.candidates]
        width = len(str(self.settings.candidates))
        return [
            replace(
                candidate,
                proposal=candidate.proposal.model_copy(update={"id": f"r{self.number}-{i:0{width}d}"}),
            )
            for i, candidate in enumerate(proposed, start=1)
        ]

    def _rejections(self) -> list[Rejection]:
        return self.history.rejections()

    def _verified(self, proposed: Sequence[Candidate], questions: RoundQuestions) -> list[CandidateRecord]:
        tried = {
            rejection.harness: f"tried before: {rejection.reason}"
            for rejection in self._rejections()
            if rejection.ground.bars
        }
        records = verify(
            proposed,
            self.incumbent,
            tried,
            questions.evolution,
            self.workshop.videos,
            self.workshop.executor,
            self.workshop.answering(self.number, "verifying"),
        )
        for record in records:
            self.run.ledger.append("candidate", round=self.number, candidate=record)
        return records

    def _file(self, candidate: Candidate, record: CandidateRecord) -> None:
        folder = self._folder(candidate.id)
        self.run.save(folder / "proposal.json", record)
        self.run.save(folder / "change.diff", self.incumbent.diff(candidate.harness))
        save_harness(candidate.harness, folder / "harness")

    def _why_no_candidates(self) -> str:
        proposed = self.run.load(at(self.number, files.CANDIDATES), Candidates)
        if proposed is None or not proposed.candidates:
            return "nothing that was tried did better on the evolution questions within the limits"
        return f"none of {len(proposed.candidates)} proposed changes passed verification"

    def _folder(self, candidate: str) -> Path:
        return self.run.round_path(self.number) / "candidates" / candidate

    def _finalists(self, candidates: Sequence[Candidate], questions: RoundQuestions) -> list[Candidate]:
        """What goes to the gate: the best of the race, or with a gate that does not screen everything."""
        if not make_gate(self.settings.gate, 1.0).screens:
            return list(candidates)
        screening = self._kept(files.SCREENING, Screening, lambda: self._screened(candidates, questions))
        by_id = {candidate.id: candidate for candidate in candidates}
        return [by_id[name] for name in screening.finalists]

    def _screened(self, candidates: Sequence[Candidate], questions: RoundQuestions) -> Screening:
        with self.workshop.stage(self.number, "screening"):
            screening = screen(
                candidates,
                self.incumbent,
                self.workshop.initial,
                questions.evolution,
                self.settings.race,
                self.settings.finalists,
                self.settings.gate,
                self.workshop.answering(self.number, "screening"),
            )
        self.run.ledger.append("screening", round=self.number, screening=screening)
        return screening

    def _validated(
        self, finalists: Sequence[Candidate], questions: RoundQuestions, level: float
    ) -> GateReport:
        with self.workshop.stage(self.number, "validation"):
            report = self._judged(finalists, questions, level)
            if len(report.retained) > 1:
                by_id = {candidate.id: candidate for candidate in finalists}
                parts = [by_id[name] for name in report.retained]
                report = self._combined(report, parts, questions, level)
        self.run.ledger.append("gate", round=self.number, report=report)
        return report

    def _judged(self, finalists: Sequence[Candidate], questions: RoundQuestions, level: float) -> GateReport:
        return validate(
            finalists,
            self.incumbent,
            self.workshop.initial,
            questions.validation,
            make_gate(self.settings.gate, level, self.workshop.seed),
            level,
            self.settings.gate.looks,
            self.workshop.answering(self.number, "validating"),
        )

    def _combined(
        self, report: GateReport, parts: Sequence[Candidate], questions: RoundQuestions, level: float
    ) -> GateReport:
        """The report when several changes passed: with their combination, if that passes too."""
        try:
            made = combination(f"r{self.number}-combined", self.incumbent, parts)
        except ValueError as error:
            return kept_alone(report, f"they make no harness together: {' '.join(str(error).split())}")
        if made.harness.fingerprint == parts[0].harness.fingerprint:
            return kept_alone(report, f"what it changes, {parts[0].id} changes too")
        (record,) = self._verified([made], questions)
        # what was left by a run that was killed here is filed anew
        shutil.rmtree(self._folder(made.id), ignore_errors=True)
        self._file(made, record)
        tested = None if record.rejected else self._judged([made], questions, level)
        return kept_together(report, record, tested)

    def _ended(
        self,
        begun: RoundSummary,
        candidates: Sequence[Candidate],
        finalists: Sequence[Candidate],
        report: GateReport,
        draw: Draw,
        questions: RoundQuestions,
    ) -> RoundSummary:
        by_id = {candidate.id: candidate for candidate in candidates}
        if report.combination is not None and not report.combination.rejected:
            name = report.combination.proposal.id
            by_id[name] = Candidate(report.combination.proposal, load_harness(self._folder(name) / "harness"))
        for verdict in report.verdicts:
            self.run.save(self._folder(verdict.candidate) / "verdict.json", verdict)
            self.workshop.progress.note(
                f"round {self.number}: {verdict.candidate} ({by_id[verdict.candidate].proposal.title}) "
                f"{verdict.decision.value}: {verdict.reason}"
            )
        kept = by_id[report.retained[0]] if report.retained else None
        harness = kept.harness if kept else self.incumbent
        if kept:
            self.workshop.harnesses.put(harness)
        status, message = self._status(candidates, finalists, report, draw, questions)
        return begun.model_copy(
            update={
                "status": status,
                "message": message,
                "finalists": len(finalists),
                "retained": kept.id if kept else None,
                "change": kept.proposal.title if kept else "",
                "harness": harness.fingerprint,
                "validation": report.numbers,
            }
        )

    def _status(
        self,
        candidates: Sequence[Candidate],
        finalists: Sequence[Candidate],
        report: GateReport,
        draw: Draw,
        questions: RoundQuestions,
    ) -> tuple[RoundStatus, str]:
        if report.retained:
            return RoundStatus.RETAINED, ""
        if not candidates:
            said = advice(self.settings, report.level, None, draw, questions)
            return RoundStatus.NO_CANDIDATES, "; ".join(filter(None, (self._why_no_candidates(), said)))
        said = advice(self.settings, report.level, report.discordance, draw, questions)
        if is_underpowered(self.settings, report.level, report.discordance, draw, questions):
            return RoundStatus.UNDERPOWERED, said
        if not finalists:
            return RoundStatus.NO_FINALISTS, "no change did better on the evolution questions"
        if all(verdict.decision is Decision.INDECISIVE for verdict in report.verdicts):
            return RoundStatus.INDECISIVE, report.verdicts[0].reason
        return RoundStatus.KEPT, said
