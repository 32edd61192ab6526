"""The whole run: rounds, then the sealed test, then the summary."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evoharness.errors import UserError
from evoharness.evaluation import Evaluator, Executor, TooManyFailed, measure
from evoharness.evolution.gates import level_of
from evoharness.evolution.history import EVOLUTION, at
from evoharness.evolution.pairs import paired
from evoharness.evolution.proposing import Proposer
from evoharness.evolution.rounds import Round
from evoharness.evolution.settings import EvolutionSettings, check_settings
from evoharness.evolution.sources import GivenQuestions, Questioner, QuestionSource
from evoharness.evolution.workshop import Workshop, enter_untold
from evoharness.harness import Harness, HarnessStore
from evoharness.records.amounts import agreeing, how_many
from evoharness.records.base import Record
from evoharness.records.evolution import (
    BeforeAfter,
    NoiseFloor,
    RoundStatus,
    RoundSummary,
    RunStatus,
    SealedNumbers,
    Summary,
)
from evoharness.records.question import Question
from evoharness.records.spend import total
from evoharness.scoring import Judge
from evoharness.scoring.statistics import needed_questions, paired_p

if TYPE_CHECKING:
    from evoharness.questioner import QuestionerSettings
    from evoharness.runs import Progress, RunDirectory
    from evoharness.solver import SolverLimits

SUMMARY = "summary.json"
BEGUN = "begun.json"
TEST = "test.json"
NOISE = "noise.json"
DECIDED = (RoundStatus.RETAINED, RoundStatus.KEPT, RoundStatus.NO_CANDIDATES, RoundStatus.NO_FINALISTS)


class Begun(Record):
    """What a run must find again when it goes on."""

    initial: str
    """Fingerprint of the harness that it began with."""


class Material(Protocol):
    """What a run works on."""

    @property
    def videos(self) -> Mapping[str, Path]:
        """Videos to learn from, by key."""
        ...

    @property
    def questions(self) -> Sequence[Question] | None:
        """Questions about them; None: the Questioner makes them."""
        ...

    @property
    def sealed_videos(self) -> Mapping[str, Path]:
        """Videos of the sealed test, by key."""
        ...

    @property
    def sealed_questions(self) -> Sequence[Question]:
        """The sealed test; empty: none."""
        ...


def evolve(
    settings: EvolutionSettings,
    material: Material,
    initial: Harness,
    executor: Executor,
    run: "RunDirectory",
    progress: "Progress",
    *,
    proposer: Proposer,
    questioner: "QuestionerSettings | None" = None,
    limits: "SolverLimits | None" = None,
    judge: Judge | None = None,
    seed: int = 0,
) -> Summary:
    """Improve `initial` in rounds; every stage that `run` already holds is taken from it.

    A run that was begun before goes on with the harness that it began with, whatever `initial` is now.
    Raises `Interrupted` after Ctrl-C, with everything done so far in `run`: called again with the same
    arguments, it goes on and ends with the same result. UserError for settings that make no sense, and for a
    sealed test that shares a video or a question with what is learned from.
    """
    check_settings(settings)
    _check_sealed(material)
    done = run.load(SUMMARY, Summary)
    if done is not None:
        return done
    if questioner is None:
        from evoharness.questioner import QuestionerSettings

        questioner = QuestionerSettings()
    source: QuestionSource
    if material.questions is not None:
        source = GivenQuestions(material.questions, settings, seed)
    else:
        source = Questioner(questioner, settings, material.videos, executor, run, progress, seed)
    initial = begun_with(run) or begin(run, initial)
    workshop = Workshop(
        settings=settings,
        seed=seed,
        initial=initial,
        videos=material.videos,
        evaluator=Evaluator(executor, material.videos, run.outcomes, limits, judge),
        source=source,
        proposer=proposer,
        run=run,
        progress=progress,
    )
    incumbent = initial
    rounds: list[RoundSummary] = []
    for number in range(1, settings.rounds + 1):
        summary = Round(number, incumbent, questioner.evolution_share, workshop).go()
        rounds.append(summary)
        incumbent = workshop.harnesses.get(summary.harness)
        if number == 1 and settings.noise_floor:
            _noise_floor(workshop)
    test = run.load(TEST, SealedNumbers)
    if test is None and material.sealed_questions:
        test = _sealed_test(workshop, material, incumbent, limits, judge)
        if test is not None:
            run.save(TEST, test)
    status, message = _status(rounds)
    unheard = total(enter_untold(run, finished=True).paid)
    if unheard.calls:
        progress.note(
            f"{how_many(unheard.calls, 'call')} {agreeing(unheard.calls, 'was', 'were')} paid for of which "
            "nobody heard: workers died, replies were lost"
        )
    seconds, spend = workshop.totals()
    used = workshop.used()
    result = Summary(
        status=status,
        message=message,
        seed=seed,
        gate=settings.gate.name,
        initial=initial.fingerprint,
        final=incumbent.fingerprint,
        rounds=tuple(rounds),
        test=test,
        noise=run.load(NOISE, NoiseFloor),
        calls=spend.calls,
        cost_usd=total(used.paid).cost_usd,
        seconds=seconds,
        spend=spend,
        paid=used.paid,
        cached=used.cached,
        lost=used.lost,
    )
    run.ledger.append("finished", status=status, final=incumbent.fingerprint)
    run.save(SUMMARY, result)
    return result


def _check_sealed(material: Material) -> None:
    """UserError when something could be learned from a video or a question of the sealed test."""
    learned = {path.resolve() for path in material.videos.values()}
    asked = {question.public().id for question in material.questions or ()}
    for question in material.sealed_questions:
        path = material.sealed_videos.get(question.video)
        if path is not None and path.resolve() in learned:
            raise UserError(f"{path} is in the sealed test and among the videos to learn from")
        if question.public().id in asked:
            raise UserError(f"question {question.id} is in the sealed test and among those to learn from")


def begin(run: "RunDirectory", initial: Harness) -> Harness:
    """Keep `initial` with the run as what it began with, and return it."""
    HarnessStore(run.harnesses).put(initial)
    run.save(BEGUN, Begun(initial=initial.fingerprint))
    return initial


def begun_with(run: "RunDirectory") -> Harness | None:
    """The run's own copy of the harness that it began with; None before it began."""
    begun = run.load(BEGUN, Begun)
    return None if begun is None else HarnessStore(run.harnesses).get(begun.initial)


def _noise_floor(workshop: Workshop) -> None:
    """Compare the initial harness with itself on the first round's evolution questions."""
    questions = workshop.run.load_lines(at(1, EVOLUTION), Question)
    if not questions or workshop.run.load(NOISE, NoiseFloor) is not None:
        return
    settings, harness = workshop.settings, workshop.initial
    with workshop.stage(1, "noise floor"):
        answer = workshop.answering(1, "comparing with itself")
        first, second = (answer([harness], questions, trial)[harness.fingerprint] for trial in (0, 1))
    pairs = paired(questions, first, second)
    discordance = (pairs.wins + pairs.losses) / max(1, len(pairs.pairs))
    level = level_of(settings.gate, 1, settings.rounds, settings.finalists, reused=False)
    floor = NoiseFloor(
        pairs=len(pairs.pairs),
        discordance=discordance,
        effect=settings.effect,
        needed=needed_questions(settings.effect, discordance, level),
    )
    workshop.run.ledger.append("noise floor", floor=floor)
    workshop.run.save(NOISE, floor)
    workshop.progress.note(
        f"the initial harness differs from itself on {discordance:.1%} of {floor.pairs} questions; "
        f"showing a gain of {settings.effect:.0%} takes at least {floor.needed} validation questions"
    )


def _sealed_test(
    workshop: Workshop, material: Material, final: Harness, limits: "SolverLimits | None", judge: Judge | None
) -> SealedNumbers | None:
    """Answer the sealed test once with the initial and once with the final harness.

    TooManyFailed when more answers did not come than a gate would do without: going on asks for them again.
    """
    questions = material.sealed_questions
    inside = Workshop(
        **{
            **vars(workshop),
            "evaluator": Evaluator(
                workshop.executor, material.sealed_videos, workshop.run.outcomes, limits, judge
            ),
        }
    )
    with inside.stage(None, "sealed test"):
        outcomes = inside.answering(None, "sealed test")([workshop.initial, final], questions)
    first, last = outcomes[workshop.initial.fingerprint], outcomes[final.fingerprint]
    pairs = paired(questions, first, last)
    if pairs.incumbent is None or pairs.candidate is None:
        return None
    if pairs.dropped_share > workshop.settings.gate.max_dropped:
        raise TooManyFailed(
            f"{pairs.dropped} of {len(questions)} questions of the sealed test were not answered, so it does "
            "not count yet"
        )
    before, after = measure(questions, first), measure(questions, last)
    return SealedNumbers(
        questions=len(pairs.pairs),
        initial=pairs.incumbent,
        final=pairs.candidate,
        p_value=paired_p(pairs.wins, pairs.losses),
        wins=pairs.wins,
        losses=pairs.losses,
        frames=BeforeAfter(initial=before.frames, final=after.frames),
        tokens=BeforeAfter(initial=before.tokens, final=after.tokens),
        dropped=pairs.dropped,
    )


def _status(rounds: Sequence[RoundSummary]) -> tuple[RunStatus, str]:
    """How the run as a whole ended: as its best round did."""
    if any(summary.status in DECIDED for summary in rounds):
        return RunStatus.FINISHED, ""
    for wanted, status in (
        (RoundStatus.INDECISIVE, RunStatus.INDECISIVE),
        (RoundStatus.UNDERPOWERED, RunStatus.UNDERPOWERED),
    ):
        for summary in rounds:
            if summary.status is wanted:
                return status, summary.message
    return RunStatus.NO_QUESTIONS, rounds[0].message if rounds else "no round was asked for"
