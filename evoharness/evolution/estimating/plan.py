"""The stages of a run and how often each of its jobs is done, as far as that is known beforehand.

Draws, roles of videos, sizes of sets, stages of the race and limits are those of the run itself. What only
the run can find out (how many questions survive, how often the harness fails) is expected, and given with
its ends.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evaluation import Workbench, WorkbenchConfig
from evoharness.evolution.draw import draw_videos, with_roles
from evoharness.evolution.estimating.expectations import EXPECTED, LEAST, MOST, Expectations
from evoharness.evolution.estimating.load import Amount, Load, mean, summed
from evoharness.evolution.estimating.measuring import Measuring
from evoharness.evolution.gates import could_pass, level_of, make_gate
from evoharness.evolution.screening import kept_after, stages_of
from evoharness.evolution.settings import EvolutionSettings
from evoharness.records.evolution import Draw
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.evolution.proposers.search import SearchSettings
    from evoharness.evolution.run import Material
    from evoharness.harness import Harness
    from evoharness.questioner import QuestionerSettings
    from evoharness.solver import SolverLimits

MOST_MEASURED = 12
"""Videos of a set on which jobs are counted; the others are taken to be like them."""
WATCHED_IN_FULL_S = 120.0
"""Videos from this length on are no longer seen in full."""
ENOUGH_TO_SHOW = 100.0
"""Validation questions from which on a round may well keep a change."""
QUESTIONS_A_SECOND = 1.5
"""More than so many questions cannot be made of a short video."""


@dataclass(frozen=True)
class Estimate:
    """What a run is expected to use, and the least and the most that it may well come to."""

    expected: Load
    least: Load
    most: Load
    notes: tuple[str, ...]
    """What is known about this run, and what had to be assumed."""

    def ends(self, role: str, of: Callable[[Amount], float]) -> tuple[float, float]:
        """The least and the most of one figure of one role."""
        loads = (self.least, self.expected, self.most)
        values = [of(load.roles.get(role, Amount())) for load in loads]
        return min(values), max(values)


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
    """Count the jobs of a run on a backbone that only counts; no model is called and nothing is written."""
    measuring = Measuring(config, initial, limits, questioner)
    try:
        plan = _Plan(settings, material, initial, config, measuring, search, questioner, seed)
        loads = [plan.load(expectations) for expectations in (EXPECTED, LEAST, MOST)]
        return Estimate(loads[0], loads[1], loads[2], plan.notes())
    finally:
        measuring.close()


@dataclass(frozen=True)
class _Sets:
    """Sizes of a round's question sets."""

    evolution: float
    validation: float


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
        self._measuring = measuring
        self._search = search
        self._questioner = questioner
        self._measured: dict[tuple[object, ...], Load] = {}
        self._draws = self._drawn(seed)
        self._known = self._remembered(config)
        self._undecided: set[int] = set()
        self._validation: dict[tuple[Expectations, int], float] = {}

    def load(self, expectations: Expectations) -> Load:
        """The whole run."""
        rounds = [self._round(number, draw, expectations) for number, draw in enumerate(self._draws, 1)]
        return summed([*rounds, self._sealed_test(expectations)])

    def notes(self) -> tuple[str, ...]:
        """What is known about this run, and what had to be assumed."""
        e = EXPECTED
        drawn = {video for draw in self._draws for video in draw.videos}
        notes = [
            f"rounds: {self._settings.rounds}; videos: {len(drawn)}, {len(drawn & self._known)} of them "
            "remembered already; what the response cache may answer is not left out: that is not paid again"
        ]
        if self._undecided:
            rounds = ", ".join(str(number) for number in sorted(self._undecided))
            notes.append(f"round {rounds} may end before anything is answered: too few validation questions")
        notes.append(
            f"expected: {e.retained:.0%} of the questions survive their checks, the harness fails on "
            f"{e.failing:.0%}, {1 - e.fresh:.0%} of the answers of changed harnesses are known already, "
            f"a change is kept in {e.improved:.0%} of the rounds"
        )
        notes.append(
            "answers of models have the usual lengths, thoughts that are not shown are left out, "
            "a picture costs a token for 32 x 32 pixels"
        )
        return tuple(notes)

    def _round(self, number: int, draw: Draw, e: Expectations) -> Load:
        load, sets = self._asked(number, draw, e)
        settings = self._settings
        reused = number > 1 and any(
            set(draw.validation) & set(before.validation) for before in self._draws[: number - 1]
        )
        reused = reused and self._material.questions is not None
        level = level_of(settings.gate, number, settings.rounds, 1, reused, planned=settings.finalists)
        possible = could_pass(settings.gate, level, int(sets.validation), len(draw.validation))
        if not possible or sets.evolution < 1:
            if e is not MOST:
                self._undecided.add(number)
            return load
        self._validation[e, number] = sets.validation
        answer = self._mean("answer", draw.evolution, self._measuring.answering)
        load += answer * sets.evolution
        failures = sets.evolution * e.failing * min(1.0, self._seconds(draw.evolution) / WATCHED_IN_FULL_S)
        load += self._diagnosis(draw, failures, e)
        sample = min(self._search.sample, sets.evolution)
        changed = self._improved(e)[number - 1]  # the initial harness is then another one
        tried, candidates = self._tried(sets.evolution, failures, sample, e)
        load += answer.dearer(e.dearer, e.looks) * tried + answer * (changed * sample)
        fresh_share = 1 - sample / sets.evolution
        raced, finalists = self._raced(sets.evolution, candidates, e)
        load += answer * (fresh_share * (raced + changed * sets.evolution))
        judged = self._mean("answer", draw.validation, self._measuring.answering)
        load += judged * (sets.validation * (1 + changed + finalists * e.fresh * e.finalist * e.judged))
        if number == 1 and settings.noise_floor:
            load += answer * sets.evolution
        return load

    def _asked(self, number: int, draw: Draw, e: Expectations) -> tuple[Load, _Sets]:
        """Memories and questions of a round."""
        settings = self._settings
        given = self._material.questions
        if given is not None:
            load = self._memories(number, [v for v in draw.videos if self._needs_memory(v)], e)
            counts = [sum(q.video in videos for q in given) for videos in (draw.evolution, draw.validation)]
            return load, _Sets(
                min(settings.evolution_questions, counts[0]), min(settings.validation_questions, counts[1])
            )
        load = self._memories(number, draw.videos, e)
        made = {video: self._generated(video) for video in draw.videos}
        total = sum(made.values())
        load += self._mean("texts", draw.videos, self._measuring.checking_texts) * (total * e.checked)
        load += self._mean("looks", draw.videos, self._measuring.looking_afresh) * (total * e.need_evidence)
        evolution = sum(made[video] for video in draw.evolution) * e.retained
        validation = sum(made[video] for video in draw.validation) * e.retained
        return load, _Sets(
            min(settings.evolution_questions, evolution), min(settings.validation_questions, validation)
        )

    def _diagnosis(self, draw: Draw, failures: float, e: Expectations) -> Load:
        source = self._mean("source", draw.evolution, lambda path: self._measuring.diagnosing(path, None))
        wider = self._mean(
            "wider", draw.evolution, lambda path: self._measuring.diagnosing(path, self._settings.wider_s)
        )
        return source * failures + wider * (failures * e.unexplained)

    def _tried(
        self, evolution: float, failures: float, sample: float, e: Expectations
    ) -> tuple[float, float]:
        """Answers that the search takes, and how many candidates it proposes."""
        wrong = min(failures, max(sample / 2, sample - (evolution - failures)))
        tries = self._search.tries * min(1.0, failures)  # without a failure there is nothing to mend
        answers = tries * (wrong + e.promising * (sample - wrong)) * e.fresh
        return answers, min(self._settings.candidates, tries * e.promising)

    def _raced(self, evolution: float, candidates: float, e: Expectations) -> tuple[float, float]:
        """Answers, in those of the incumbent, that the race takes, and how many finalists it leaves."""
        if not make_gate(self._settings.gate, 1.0).screens:
            return 0.0, candidates
        answers, racing, before = 0.0, candidates, 0
        sizes = stages_of(self._settings.race, max(1, int(evolution)))
        for stage, size in enumerate(sizes, start=1):
            answers += racing * (size - before) * e.fresh * e.finalist
            left = kept_after(stage, len(sizes), max(1, round(candidates)), self._settings.finalists)
            racing, before = min(racing, left), size
        return answers, min(self._settings.finalists, racing)

    def _sealed_test(self, e: Expectations) -> Load:
        asked: dict[str, list[Question]] = {}
        for question in self._material.sealed_questions:
            asked.setdefault(question.video, []).append(question)
        both = 1 + self._improved(e)[-1] * e.fresh
        measured = _spread(sorted(asked), MOST_MEASURED)
        if not measured:
            return Load()
        loads = [self._test(video, asked[video][0]) * len(asked[video]) for video in measured]
        share = sum(map(len, asked.values())) / sum(len(asked[video]) for video in measured)
        return summed(loads) * (share * both)

    def _test(self, video: str, question: Question) -> Load:
        path = self._material.sealed_videos[video]
        return self._once(("test", path), lambda: self._measuring.answering(path, question))

    def _improved(self, e: Expectations) -> list[float]:
        """Probability that the incumbent is not the initial harness, before round 1, 2, … and at last."""
        same = [1.0]
        for number in range(1, self._settings.rounds + 1):
            shown = min(1.0, self._validation.get((e, number), 0.0) / ENOUGH_TO_SHOW)
            same.append(same[-1] * (1 - e.improved * shown))
        return [1 - p for p in same]

    def _seconds(self, videos: Sequence[str]) -> float:
        """Length of a video, on average."""
        lengths = [self._measuring.duration(self._material.videos[video]) for video in videos]
        return sum(lengths) / max(1, len(lengths))

    def _memories(self, number: int, videos: Iterable[str], e: Expectations) -> Load:
        earlier = {video for draw in self._draws[: number - 1] for video in draw.videos}
        fresh = [video for video in videos if video not in earlier | self._known]
        name = f"memory {e.segment_s}"
        return self._mean(name, fresh, lambda path: self._measuring.remembering(path, e.segment_s)) * len(
            fresh
        )

    def _needs_memory(self, video: str) -> bool:
        return self._initial.route(self._measuring.duration(self._material.videos[video])).memory

    def _generated(self, video: str) -> float:
        seconds = self._measuring.duration(self._material.videos[video])
        return min(self._questioner.per_video, max(1.0, QUESTIONS_A_SECOND * seconds))

    def _mean(self, name: str, videos: Sequence[str], measure: Callable[[Path], Load]) -> Load:
        """What a job takes on one of the videos, on average."""
        paths = [self._material.videos[video] for video in _spread(sorted(videos), MOST_MEASURED)]
        return mean(self._once((name, path), lambda path=path: measure(path)) for path in paths)  # type: ignore[misc]

    def _once(self, key: tuple[object, ...], measure: Callable[[], Load]) -> Load:
        if key not in self._measured:
            self._measured[key] = measure()
        return self._measured[key]

    def _drawn(self, seed: int) -> list[Draw]:
        """The draws of the run, as its rounds will make them."""
        from evoharness.video import probe

        videos: Mapping[str, Path] = self._material.videos
        sort = {}
        for key, path in videos.items():
            info = probe(path)
            sort[key] = (float(info.width * info.height), info.duration)
        draws: list[Draw] = []
        for number in range(1, self._settings.rounds + 1):
            drawn = draw_videos(videos, self._settings.videos_per_round, number, seed)
            likeness = {key: sort[key] for key in drawn}
            share = self._questioner.evolution_share
            draws.append(with_roles(drawn, draws, share, number, seed, likeness))
        return draws

    def _remembered(self, config: WorkbenchConfig) -> frozenset[str]:
        """Videos whose memory lies on the disk."""
        bench = Workbench(config)
        try:
            return frozenset(
                key
                for key, path in self._material.videos.items()
                if (bench.memories.folder(bench.video(path)) / "memory.json").is_file()
            )
        finally:
            bench.close()


def _spread(items: Sequence[str], most: int) -> list[str]:
    """At most so many of them, evenly."""
    if len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]
