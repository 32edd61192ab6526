"""`python -m evoharness.evolve`: the main job. A harness improves itself in rounds, from unlabeled videos."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.errors import UserError
from evoharness.records.amounts import how_many

if TYPE_CHECKING:
    from evoharness.cli.inputs import Inputs
    from evoharness.config import EvolveConfig
    from evoharness.harness import Harness
    from evoharness.records.evolution import Summary
    from evoharness.runs import Progress, RunDirectory

RESUMABLE = ("limits", "executor", "display", "runs", "budget")
"""What may be given beside `resume=`."""


def evolve(config: "EvolveConfig", call: Call) -> Numbers:
    """Check everything, make a run or open one to go on with, evolve, print the tables."""
    from evoharness.cli.inputs import gather, keep_knowledge, load_inputs, save_inputs
    from evoharness.cli.parts import harness_of
    from evoharness.cli.resume import resumed
    from evoharness.cli.runs import check_runs_folder, facts_of, new_run
    from evoharness.cli.spending import cut_short
    from evoharness.evolution import begin, begun_with
    from evoharness.models.backbone import CannotGoOn
    from evoharness.runs import make_progress

    if config.estimate:
        return _estimated(config)
    with ExitStack() as stack:
        if config.resume is not None:
            config, run = resumed(config, call, RESUMABLE)
            stack.enter_context(run)
            progress = make_progress(config.display)
            stack.callback(progress.close)
            facts_of(config, "evolve")  # what the run was begun with can still be had here
            inputs = load_inputs(run)
            config.knowledge = keep_knowledge(run, config.knowledge)
            initial = begun_with(run) or harness_of(config.harness)
        else:
            _check(config)
            check_runs_folder(config, call)
            progress = make_progress(config.display)
            stack.callback(progress.close)
            initial = harness_of(config.harness)
            facts = facts_of(config, "evolve", [initial])
            inputs = gather(config, progress)
            run = stack.enter_context(new_run(config, call, config.name or call.preset or "evolve", facts))
            config.knowledge = keep_knowledge(run, config.knowledge)
            begin(run, initial)
            save_inputs(run, inputs)
        try:
            summary = _evolve(config, inputs, initial, run, progress)
        except KeyboardInterrupt:
            progress.close()
            print(f"interrupted; go on with: python -m evoharness.evolve resume={_quoted(run)}")
            raise
        except CannotGoOn as error:
            raise cut_short(error, run) from error
        progress.close()
        print_summary(summary)
        print(f"run: {run.shown}")
    return numbers_of(summary)


def _estimated(config: "EvolveConfig") -> Numbers:
    from evoharness.cli.estimating import print_estimate

    if config.resume is not None:
        raise UserError("estimate=true is about a new run: leave resume= out")
    _check(config)
    return print_estimate(config)


def _check(config: "EvolveConfig") -> None:
    """UserError for settings that make no sense, before anything is made."""
    from evoharness.cli.parts import executor_of
    from evoharness.evolution.settings import check_settings
    from evoharness.questioner import initial_policy

    with executor_of(config):
        pass  # no worker is started before it is needed
    check_settings(config.evolution)
    initial_policy(config.questioner)
    if config.proposers.name != "search":
        raise UserError(f"proposers.name={config.proposers.name} is not known: use search")


def _evolve(
    config: "EvolveConfig", inputs: "Inputs", initial: "Harness", run: "RunDirectory", progress: "Progress"
) -> "Summary":
    from evoharness.cli.parts import executor_of
    from evoharness.cli.spending import budget_of
    from evoharness.evolution import evolve as run_evolution
    from evoharness.evolution.proposers import SearchProposer

    with executor_of(config, budget_of(config, run)) as executor:
        executor.on_note = progress.note
        return run_evolution(
            config.evolution,
            inputs,
            initial,
            executor,
            run,
            progress,
            proposer=SearchProposer(config.proposers.search),
            questioner=config.questioner,
            limits=config.limits.of_solver(),
            seed=config.seed,
        )


def _quoted(run: "RunDirectory") -> str:
    from shlex import quote

    return quote(run.shown)


def print_summary(summary: "Summary") -> None:
    """Accuracy, frames and tokens by round on validation, and initial against final on the sealed test."""
    from evoharness.cli.spending import print_used
    from evoharness.cli.tables import Table
    from evoharness.records.spend import Used
    from evoharness.runs.progress import percent, probability, quantity

    columns = ["round", "questions", "incumbent", "candidate", "p", "frames", "tokens"]
    table = Table("validation, by round", columns)
    for each in summary.rounds:
        v = each.validation
        table.add(
            [
                str(each.round),
                str(v.questions),
                percent(v.incumbent),
                percent(v.candidate),
                probability(v.p_value),
                _both(v.frames, lambda frames: f"{frames:.1f}"),
                _both(v.tokens, quantity),
            ]
        )
    table.print()
    for each in summary.rounds:
        change = f"{each.retained} retained ({each.change})" if each.retained else "no change retained"
        message = f": {each.message}" if each.message else ""
        print(f"round {each.round}, {each.status.value.replace('_', ' ')}: {change}{message}")
    print()
    if summary.test is not None:
        t = summary.test
        test = Table(
            f"sealed test, {how_many(t.questions, 'question')}", ["harness", "accuracy", "frames", "tokens"]
        )
        test.add(["initial", percent(t.initial), f"{t.frames.initial:.1f}", f"{t.tokens.initial:,.0f}"])
        test.add(["final", percent(t.final), f"{t.frames.final:.1f}", f"{t.tokens.final:,.0f}"])
        test.print()
        print(
            f"{how_many(t.wins, 'question')} won, {t.losses} lost, "
            f"p {probability(t.p_value, '= ')} (exact paired test, one-sided)"
        )
    else:
        print("no sealed test: test.questions=FILE compares the initial with the final harness on yours")
    print()
    print_used(Used(paid=summary.paid, cached=summary.cached, lost=summary.lost))
    print(f"{summary.status.value}{f': {summary.message}' if summary.message else ''}")


def _both(values: dict[str, float], shown: Callable[[float], str]) -> str:
    return " → ".join(shown(values[name]) for name in ("incumbent", "candidate") if name in values)


def numbers_of(summary: "Summary") -> dict[str, str | int | float | None]:
    """The line of this run in the table of a sweep."""
    test = summary.test
    return {
        "status": summary.status.value,
        "kept": sum(each.retained is not None for each in summary.rounds),
        "initial": test.initial if test else None,
        "final": test.final if test else None,
        "p": test.p_value if test else None,
        "frames before": test.frames.initial if test else None,
        "frames after": test.frames.final if test else None,
        "seconds": round(summary.seconds, 1),
    }


COMMAND = Command(
    name="evolve",
    purpose="Improves a harness in rounds from unlabeled videos, and keeps only what is shown to help.",
    job=evolve,
    examples=(
        "",
        "videos=my_videos/",
        "videos=my_videos/ test.questions=sealed.jsonl test.videos=sealed_videos/",
        "videos=my_videos/ backbone=openai estimate=true",
        "-m gate=paired,argmax seed=1,2",
        "resume=latest",
    ),
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
