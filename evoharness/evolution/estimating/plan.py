"""The stages of a run and how often each of its jobs is done, as far as that is known beforehand.

Draws, roles of videos, sizes of sets, the moves of the search, stages of the race and limits are those of the
run itself. What only the run can find out (how many questions survive, how often the harness fails) is
expected, and given with its ends.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evaluation import WorkbenchConfig
from evoharness.evolution.estimating.chances import Failing, at_least, failing_on, preferred
from evoharness.evolution.estimating.expectations import EXPECTED, Expectations
from evoharness.evolution.estimating.known import draws_of, remembered
from evoharness.evolution.estimating.load import Estimate, Load, mean, spread_out, summed
from evoharness.evolution.estimating.measuring import Measuring
from evoharness.evolution.estimating.spread import around
from evoharness.evolution.estimating.trying import Tries, Trying
from evoharness.evolution.gates import could_pass, level_of, make_gate
from evoharness.evolution.screening import kept_after, stages_of
from evoharness.evolution.settings import EvolutionSettings
from evoharness.models.registry import LITELLM
from evoharness.records.evolution import Draw
from evoharness.records.question import Question, QuestionKind

if TYPE_CHECKING:
    from evoharness.evolution.proposers.search import SearchSettings
    from evoharness.evolution.run import Material
    from evoharness.harness import Harness
    from evoharness.questioner import QuestionerSettings
    from evoharness.solver import SolverLimits

MOST_MEASURED = 12
"""Videos of a set on which jobs are counted; the others are taken to be like them."""
CLEARED = 0.2
"""How much less often changes mend what was seen and confused than what was not seen."""
ENOUGH_TO_SHOW = 100.0
"""Validation questions from which on a round may well keep a change."""
QUESTIONS_A_SECOND = 1.5
"""More than so many questions cannot be made of a short video."""
WIDE = (QuestionKind.COUNTING, QuestionKind.TEMPORAL_ORDER)
"""Kinds of questions about more than one moment."""
RARE = (QuestionKind.CAUSAL, QuestionKind.TOPIC, QuestionKind.ANOMALY, QuestionKind.SUMMARIZATION)
"""Kinds that the records of most videos do not give."""
WIDE_SHARE = 0.55
"""Part of a short video between the moments of such a question."""


def estimate(
    settings: EvolutionSettings,
    material: "Material",
    initial: "Harness",
    config: WorkbenchConfig,
    *,
    search: "SearchSettings",
    questioner: "QuestionerSettings",
    limits: "SolverLimits",
    seed: int = 0,
) -> Estimate:
    """Count the jobs of a run on a backbone that only counts; no model is called and no run is made."""
    measuring = Measuring(config, initial, limits, questioner)
    try:
        plan = _Plan(settings, material, initial, config, measuring, search, questioner, seed)
        expected = plan.load(EXPECTED)
        notes = plan.notes()
        ends = [(plan.load(low), plan.load(high)) for low, high in EXPECTED.ends()]
        least, most = around(expected, ends)
        return Estimate(expected, least, most, notes)
    finally:
        measuring.close()


@dataclass(frozen=True)
class _Sets:
    """Sizes of a round's question sets."""

    evolution: float
    validation: float


@dataclass(frozen=True)
class _Found:
    """What a round's search comes to, in expectation."""

    load: Load
    answers: float
    """How many answers are tried."""
    candidates: float
    any: float
    """Probability that there is a candidate."""


class _Plan:
    def __init__(
        self,
        settings: EvolutionSettings,
        material: "Material",
        initial: "Harness",
        config: WorkbenchConfig,
        measuring: Measuring,
        search: "SearchSettings",
        questioner: "QuestionerSettings",
        seed: int,
    ) -> None:
        self._settings = settings
        self._material = material
        self._initial = initial
        self._config = config
        self._measuring = measuring
        self._search = search
        self._questioner = questioner
        self._trying = Trying(measuring, initial, search, settings.gate)
        self._measured: dict[tuple[object, ...], Load] = {}
        self._draws = draws_of(settings, questioner, material.videos, seed)
        self._known = remembered(config, {*material.videos.values(), *material.sealed_videos.values()})
        self._undecided: set[int] = set()
        self.stages: dict[tuple[int | None, str], Load] = {}
        """What each stage takes, as it was counted last."""

    def load(self, e: Expectations) -> Load:
        """The whole run."""
        self.stages = {}
        changed, extra = 0.0, Load()
        for number, draw in enumerate(self._draws, 1):
            changed, extra = self._round(number, draw, e, changed, extra)
        self.stages[None, "sealed test"] = self._sealed_test(changed, extra, e)
        return summed(self.stages.values()).wordy(e.wordy) * e.other

    def notes(self) -> tuple[str, ...]:
        """What is known about this run, and what had to be assumed."""
        e = EXPECTED
        drawn = {video for draw in self._draws for video in draw.videos}
        known = sum(path in self._known for path in self._paths(drawn))
        notes = [
            f"rounds: {self._settings.rounds}; videos: {len(drawn)}, {known} of them "
            "remembered already; what the response cache may answer from earlier runs is not left out: that "
            "is not paid again"
        ]
        if self._undecided:
            rounds = ", ".join(str(number) for number in sorted(self._undecided))
            notes.append(f"round {rounds} may end before anything is answered: too few validation questions")
        first = self._draws[0]
        fails = self._failing(first.evolution, e)
        notes.append(
            f"expected: {self._needing(e) * e.agreed:.0%} of the questions survive their checks, the harness "
            f"fails on {fails.share:.0%}, a change mends up to {e.mended:.0%} of that"
        )
        notes.append(
            "answers of models have the usual lengths, thoughts that are not shown are left out, "
            "a picture costs a token for 32 x 32 pixels"
        )
        if self._config.embeds_elsewhere and self._config.backbone != LITELLM:
            notes.append(f"vectors that the backbone {self._config.backbone} asks for are left out")
        return tuple(notes)

    def _round(
        self, number: int, draw: Draw, e: Expectations, changed: float, extra: Load
    ) -> tuple[float, Load]:
        """Enter the stages of a round. `changed`: probability that the incumbent is not the initial harness;
        `extra`: what its answers then take beyond those of that. Returns both for the next round."""
        sets = self._asked(number, draw, e)
        settings = self._settings
        reused = number > 1 and any(
            set(draw.validation) & set(before.validation) for before in self._draws[: number - 1]
        )
        reused = reused and self._material.questions is not None
        level = level_of(settings.gate, number, settings.rounds, 1, reused, planned=settings.finalists)
        possible = could_pass(settings.gate, level, int(sets.validation), len(draw.validation))
        if not possible or sets.evolution < 1:
            if e is EXPECTED:
                self._undecided.add(number)
            return changed, extra
        base = self._mean("answer", draw.evolution, self._measuring.answering)
        self.stages[number, "answering"] = (base + extra * changed) * sets.evolution
        fails = self._failing(draw.evolution, e)
        tries = self._trying.tries(
            self._paths(draw.evolution),
            base,
            fails.unsure_wrong,
            fails.unsure_right,
            fails.unsure,
            e.finer,
        )
        found = self._searched(number, draw, sets, fails, tries, e)
        sample = min(self._search.sample, sets.evolution)
        # where the incumbent was changed before, so is what is tried on top; the response cache knows that
        before = Load() if self._measuring.kept else extra * changed
        self.stages[number, "proposals"] = found.load + before * found.answers + base * (changed * sample)
        raced, finalists = self._raced(sets.evolution, found, e)
        fresh = max(0.0, 1 - sample / sets.evolution)  # share of the questions that are not in the sample
        proposed = tries.proposed + before
        self.stages[number, "verification"] = proposed * (found.candidates * fresh)
        self.stages[number, "screening"] = proposed * (fresh * raced) + base * (
            changed * fresh * sets.evolution * found.any
        )
        judged = self._mean("answer", draw.validation, self._measuring.answering)
        scale = judged.total.tokens / base.total.tokens if base.total.tokens else 1.0
        alone = 1.0 + changed
        self.stages[number, "validation"] = (
            judged * (sets.validation * alone)
            + extra * (sets.validation * changed)
            + proposed * (sets.validation * scale * finalists * e.judged)
        )
        if number == 1 and settings.noise_floor:
            again = self._mean("again", draw.evolution, self._measuring.repeating)
            self.stages[number, "noise floor"] = again * sets.evolution
        kept = self._kept(found, finalists, sets.validation, e)
        more = tries.full.beyond(base)
        total = 1 - (1 - changed) * (1 - kept)
        if total:
            # of a harness that was changed before, another change comes on top
            extra = (extra * changed + more * kept) * (1 / total)
        return total, extra

    def _kept(self, found: _Found, finalists: float, validation: float, e: Expectations) -> float:
        """Probability that a round keeps a change."""
        if not finalists:
            return 0.0
        each = finalists / max(found.any, 1e-9)
        better = found.any * (1 - float((1 - e.better) ** each))
        if not make_gate(self._settings.gate, 1.0).screens:
            return better
        return better * e.shown * min(1.0, validation / ENOUGH_TO_SHOW)

    def _asked(self, number: int, draw: Draw, e: Expectations) -> _Sets:
        """Memories and questions of a round."""
        settings = self._settings
        given = self._material.questions
        if given is not None:
            needing = [video for video in draw.videos if self._needs_memory(self._material.videos[video])]
            self.stages[number, "questions"] = self._memories(number, needing, e)
            counts = [sum(q.video in videos for q in given) for videos in (draw.evolution, draw.validation)]
            return _Sets(
                min(settings.evolution_questions, counts[0]), min(settings.validation_questions, counts[1])
            )
        made = {video: self._generated(video) for video in draw.videos}
        total = sum(made.values())
        texts = self._mean("texts", draw.videos, self._measuring.checking_texts) * (total * e.checked)
        looks = summed(
            self._looked(video, e) * (made[video] * self._needing(e))
            for video in spread_out(sorted(draw.videos), MOST_MEASURED)
        )
        measured = sum(made[video] for video in spread_out(sorted(draw.videos), MOST_MEASURED))
        looks *= total / measured
        self.stages[number, "questions"] = self._memories(number, draw.videos, e) + texts + looks
        if self._config.embeds_elsewhere:
            self.stages[number, "questions"] += summed(self._compared(video, made[video]) for video in made)
        share = self._needing(e) * e.agreed
        evolution = sum(made[video] for video in draw.evolution) * share
        validation = sum(made[video] for video in draw.validation) * share
        return _Sets(
            min(settings.evolution_questions, evolution), min(settings.validation_questions, validation)
        )

    def _compared(self, video: str, questions: float) -> Load:
        path, number = self._material.videos[video], round(questions)
        return self._once(("compared", path, number), partial(self._measuring.comparing, path, number))

    def _needing(self, e: Expectations) -> float:
        """Share of the generated questions that are looked at afresh: not those that are guessed rightly."""
        return e.checked * (1 - 1 / max(2, self._questioner.options))

    def _looked(self, video: str, e: Expectations) -> Load:
        """A fresh look at the source of a question, on average over kinds."""
        path = self._material.videos[video]
        targets = {kind: self._questioner.targets.get(kind.value, 0.0) for kind in QuestionKind}
        usual = sum(share for kind, share in targets.items() if kind not in RARE)
        wide = sum(targets[kind] for kind in WIDE) / usual if usual else 0.0
        segment = min(self._measuring.duration(path), e.segment_s)
        lengths = (round(min(WIDE_SHARE * segment, e.wide_s), 1), e.source_s)
        loads = [
            self._once(("look", path, seconds), partial(self._measuring.looking_afresh, path, seconds))
            for seconds in lengths
        ]
        return loads[0] * wide + loads[1] * (1 - wide)

    def _failing(self, videos: Sequence[str], e: Expectations) -> Failing:
        """How often the harness fails on questions about these videos."""
        seen = []
        for video in spread_out(sorted(videos), MOST_MEASURED):
            path, more = self._material.videos[video], 1.0
            shown = self._once(("answer", path), partial(self._measuring.answering, path)).total.frames
            if self._material.questions is None:
                possible = max(1.0, QUESTIONS_A_SECOND * self._measuring.duration(path))
                more = preferred(self._questioner.brief, self._generated(video) / possible)
            seen.append(self._measuring.sighting(path, shown, more))
        return failing_on(seen, self._questioner.options, e)

    def _searched(
        self, number: int, draw: Draw, sets: _Sets, fails: Failing, tries: Tries, e: Expectations
    ) -> _Found:
        """The diagnosis of failures, and the search on them: the mean over how many there may be."""
        asked = max(1, round(sets.evolution))
        sample = min(self._search.sample, asked)
        source = self._mean("source", draw.evolution, lambda path: self._measuring.diagnosing(path, None))
        wider = self._mean(
            "wider", draw.evolution, lambda path: self._measuring.diagnosing(path, self._settings.wider_s)
        )
        scale = sets.evolution / asked
        failures = asked * fails.share * scale
        self.stages[number, "diagnosis"] = source * failures + wider * (failures * fails.unexplained)
        # another look shows what was not seen, and seldom clears up what was
        mended = e.mended * (fails.caught * (1 - fails.unexplained) + CLEARED * fails.unexplained)
        load, answers, candidates, any_ = Load(), 0.0, 0.0, 0.0
        for count in range(1, asked + 1):
            chance = comb(asked, count) * fails.share**count * (1 - fails.share) ** (asked - count)
            if chance < 1e-4:
                continue
            wrong = min(count, max(sample // 2, sample - (asked - count)))
            right = min(asked - count, sample - wrong)
            # one of them can be mended: by several of the changes
            some = min(1.0, e.luck * (1 - (1 - mended) ** wrong))
            promising = tries.looking * e.mending * some
            again = min(1.0, promising + tries.saving) * right
            load += (tries.wrong * wrong + tries.right * again) * (chance * tries.number)
            answers += chance * tries.number * (wrong + again)
            fitting = tries.number * tries.looking * e.mending * tries.fitting
            candidates += chance * some * min(float(self._settings.candidates), fitting)
            any_ += chance * some * min(1.0, fitting)
        return _Found(load, answers, candidates, any_)

    def _raced(self, evolution: float, found: _Found, e: Expectations) -> tuple[float, float]:
        """Answers that the race takes, and how many finalists it leaves."""
        if not make_gate(self._settings.gate, 1.0).screens or not found.any:
            return 0.0, found.candidates
        candidates = found.candidates / found.any  # where there are any
        answers, racing, before = 0.0, candidates, 0
        sizes = stages_of(self._settings.race, max(1, int(evolution)))
        for stage, size in enumerate(sizes, start=1):
            answers += racing * (size - before)
            left = kept_after(stage, len(sizes), max(1, round(candidates)), self._settings.finalists)
            racing, before = min(racing, left), size
        number = max(1, round(candidates))
        most = min(number, self._settings.finalists)
        chances = [at_least(least, number, e.lasting) for least in range(1, most + 1)]
        return answers * found.any, sum(chances) * found.any

    def _sealed_test(self, changed: float, extra: Load, e: Expectations) -> Load:
        asked: dict[str, list[Question]] = {}
        for question in self._material.sealed_questions:
            asked.setdefault(question.video, []).append(question)
        measured = spread_out(sorted(asked), MOST_MEASURED)
        if not measured:
            return Load()
        number = sum(map(len, asked.values()))
        share = number / sum(len(asked[video]) for video in measured)
        initial = summed(
            self._test(video, asked[video][0]) * (len(asked[video]) * share) for video in measured
        )
        paths = [self._material.sealed_videos[video] for video in sorted(asked)]
        paths = [path for path in paths if self._needs_memory(path) and path not in self._known]
        self._measuring.look_at(paths)
        remembering = summed(
            self._once(
                (f"memory {e.segment_s}", path), partial(self._measuring.remembering, path, e.segment_s)
            )
            for path in paths
        )
        initial += remembering
        again = extra * number if self._measuring.kept else initial + extra * number
        return initial + again * changed

    def _test(self, video: str, question: Question) -> Load:
        path = self._material.sealed_videos[video]
        return self._once(("test", path), lambda: self._measuring.answering(path, question))

    def _memories(self, number: int, videos: Iterable[str], e: Expectations) -> Load:
        earlier = {video for draw in self._draws[: number - 1] for video in draw.videos}
        new = [video for video in videos if video not in earlier]
        fresh = [video for video in new if self._material.videos[video] not in self._known]
        self._measuring.look_at(self._paths(sorted(fresh)))
        name = f"memory {e.segment_s}"
        return self._mean(name, fresh, lambda path: self._measuring.remembering(path, e.segment_s)) * len(
            fresh
        )

    def _needs_memory(self, path: Path) -> bool:
        return self._initial.route(self._measuring.duration(path)).memory

    def _generated(self, video: str) -> float:
        seconds = self._measuring.duration(self._material.videos[video])
        return min(self._questioner.per_video, max(1.0, QUESTIONS_A_SECOND * seconds))

    def _mean(self, name: str, videos: Sequence[str], measure: Callable[[Path], Load]) -> Load:
        """What a job takes on one of the videos, on average."""
        paths = self._paths(spread_out(sorted(videos), MOST_MEASURED))
        return mean(self._once((name, path), lambda path=path: measure(path)) for path in paths)  # type: ignore[misc]

    def _paths(self, videos: Iterable[str]) -> list[Path]:
        return [self._material.videos[video] for video in videos]

    def _once(self, key: tuple[object, ...], measure: Callable[[], Load]) -> Load:
        if key not in self._measured:
            self._measured[key] = measure()
        return self._measured[key]
