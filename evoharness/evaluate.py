"""`python -m evoharness.evaluate`: a harness, or two side by side, on a question set."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.errors import UserError
from evoharness.records.amounts import agreeing, how_many

if TYPE_CHECKING:
    from evoharness.config import EvaluateConfig
    from evoharness.evaluation import Evaluator, Measure
    from evoharness.evolution.sensitivity import ParameterEffect
    from evoharness.harness import Harness
    from evoharness.records.outcome import Outcome
    from evoharness.records.question import Question
    from evoharness.runs import Progress, RunDirectory


def evaluate(config: "EvaluateConfig", call: Call) -> Numbers:
    """Answer every question, print accuracy and cost, and keep the outcomes in a run."""
    from evoharness.cli.parts import (
        executor_of,
        harness_at,
        harness_of,
        judge_for,
        needed,
        question_set,
    )
    from evoharness.cli.runs import check_runs_folder, facts_of, new_run
    from evoharness.cli.spending import all_used, budget_of, print_used
    from evoharness.evaluation import Evaluator, measure
    from evoharness.harness import HarnessStore
    from evoharness.models.backbone import CannotGoOn
    from evoharness.runs import make_progress

    check_runs_folder(config, call)
    progress = make_progress(config.display)
    try:
        file = needed(config.questions, "questions", "questions.jsonl")
        questions, videos = question_set(file, config.videos, progress)
        judge = judge_for(questions)
        harnesses: dict[str, Harness] = {"harness": harness_of(config.harness)}
        if config.against is not None:
            harnesses["against"] = harness_at(config.against)
        facts = facts_of(config, "evaluate", harnesses.values())
        with executor_of(config):
            pass  # one that cannot be is told before a run is made
        with (
            new_run(config, call, config.name or "evaluate", facts) as run,
            executor_of(config, budget_of(config, run)) as executor,
        ):
            store = HarnessStore(run.harnesses)
            for harness in harnesses.values():
                store.put(harness)
            progress.start_stage(
                None, "answering", len(questions) * len({h.fingerprint for h in harnesses.values()})
            )
            executor.on_note = progress.note
            run.save("questions.jsonl", questions)
            evaluator = Evaluator(executor, videos, run.outcomes, config.limits.of_solver(), judge)
            ended: CannotGoOn | None = None
            effects = None
            try:
                found = evaluator.evaluate(
                    list(harnesses.values()),
                    questions,
                    on_outcome=lambda outcome, new: progress.advance(
                        1, outcome.correct, outcome.answered.spend if new else None
                    ),
                )
                if config.parameters:
                    effects = _parameter_effects(harnesses["harness"], questions, evaluator, run, progress)
                    run.save("parameters.json", [effect.model_dump(mode="json") for effect in effects])
            except CannotGoOn as error:
                ended = error
                questions, found = _answered_so_far(questions, harnesses, run)
            progress.close()
            measures = {name: measure(questions, found[h.fingerprint]) for name, h in harnesses.items()}
            used = all_used(executor.used, run)
            summary = _summary(harnesses, measures, questions, found) | used.model_dump(mode="json")
            if ended is not None:
                summary["ended"] = str(ended)
            run.save("summary.json", summary)
            _print(summary, measures)
            if effects is not None:
                print_effects(effects)
            print_used(used)
            print(f"outcomes and traces: {run.shown}")
            if ended is not None:
                done = len(questions)
                raise UserError(
                    f"{ended}; {how_many(done, 'question')} {agreeing(done, 'was', 'were')} answered before, "
                    f"kept in {run.shown}"
                ) from ended
            if questions and not any(measured.questions for measured in measures.values()):
                last = found[harnesses["harness"].fingerprint][-1]
                raise UserError(f"no question was answered: {last.answered.message}")
    finally:
        progress.close()
    measured = measures["harness"]
    return {
        "accuracy": measured.accuracy,
        "frames": measured.frames,
        "tokens": measured.tokens,
        "questions": measured.questions,
    }


def _answered_so_far(
    questions: "Sequence[Question]", harnesses: "Mapping[str, Harness]", run: "RunDirectory"
) -> "tuple[list[Question], dict[str, list[Outcome]]]":
    """The questions that all harnesses have answered, and their outcomes."""
    prints = [harness.fingerprint for harness in harnesses.values()]
    found: dict[str, list[Outcome]] = {fingerprint: [] for fingerprint in prints}
    answered = []
    for question in questions:
        outcomes = {name: run.outcomes.get(name, question.public().id) for name in found}
        if all(outcomes.values()):
            answered.append(question)
            for name, outcome in outcomes.items():
                found[name].extend([outcome] if outcome else [])
    return answered, found


def _parameter_effects(
    harness: "Harness",
    questions: "Sequence[Question]",
    evaluator: "Evaluator",
    run: "RunDirectory",
    progress: "Progress",
) -> "list[ParameterEffect]":
    """What one step of each parameter changes; the harnesses tried are kept in the run."""
    from evoharness.evolution.sensitivity import parameter_effects
    from evoharness.harness import HarnessStore

    def answer(
        harnesses: "Sequence[Harness]", questions: "Sequence[Question]", trial: int = 0
    ) -> "dict[str, list[Outcome]]":
        store = HarnessStore(run.harnesses)
        for changed in harnesses:
            store.put(changed)
        unique = {changed.fingerprint for changed in harnesses}
        progress.start_stage(None, "moving each parameter", len(unique) * len(questions))
        return evaluator.evaluate(
            harnesses,
            questions,
            trial,
            lambda outcome, new: progress.advance(
                1, outcome.correct, outcome.answered.spend if new and not outcome.answered.reused else None
            ),
        )

    return parameter_effects(harness, questions, answer)


def print_effects(effects: "Sequence[ParameterEffect]") -> None:
    """A line for each step, and the parameters that change no answer."""
    from evoharness.cli.tables import Table
    from evoharness.evolution.sensitivity import inert

    table = Table(
        "one step of each parameter",
        ["step", "questions", "answers changed", "looks changed", "accuracy, points"],
    )
    for effect in effects:
        table.add(
            [
                effect.change,
                str(effect.questions),
                str(effect.answers),
                str(effect.looks),
                f"{100 * effect.delta:+.1f}",
            ]
        )
    table.print()
    print(f"change no answer here: {', '.join(inert(effects)) or 'none'}")


def _summary(
    harnesses: "Mapping[str, Harness]",
    measures: "Mapping[str, Measure]",
    questions: "Sequence[Question]",
    found: "Mapping[str, Sequence[Outcome]]",
) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "questions": len(questions),
        **{
            name: {"fingerprint": harnesses[name].fingerprint, **measured.model_dump(mode="json")}
            for name, measured in measures.items()
        },
    }
    if "against" in harnesses:
        summary["comparison"] = compare(
            found[harnesses["harness"].fingerprint], found[harnesses["against"].fingerprint]
        )
    return summary


def compare(these: "Sequence[Outcome]", those: "Sequence[Outcome]") -> dict[str, Any]:
    """Two harnesses on the same questions: pairs won and lost by the first, and the exact one-sided p."""
    from evoharness.scoring.statistics import paired_p

    pairs = [
        (a.reward, b.reward)
        for a, b in zip(these, those, strict=True)
        if a.reward is not None and b.reward is not None
    ]
    wins = sum(a > b for a, b in pairs)
    losses = sum(a < b for a, b in pairs)
    return {"pairs": len(pairs), "wins": wins, "losses": losses, "p_value": paired_p(wins, losses)}


def _print(summary: Mapping[str, Any], measures: "Mapping[str, Measure]") -> None:
    from evoharness.cli.tables import Table
    from evoharness.runs.progress import percent, probability

    table = Table(
        how_many(summary["questions"], "question"),
        ["", "accuracy", "frames a question", "tokens a question", "statuses"],
    )
    for name, measured in measures.items():
        statuses = ", ".join(f"{status} {count}" for status, count in measured.statuses.items())
        table.add(
            [name, percent(measured.accuracy), f"{measured.frames:,.1f}", f"{measured.tokens:,.0f}", statuses]
        )
    table.print()
    kinds = Table("accuracy by kind", ["kind", *measures])
    for kind in measures["harness"].by_kind:
        kinds.add([kind, *(percent(measured.by_kind.get(kind)) for measured in measures.values())])
    kinds.print()
    if comparison := summary.get("comparison"):
        print(
            f"harness against the other: {how_many(comparison['wins'], 'question')} won, "
            f"{comparison['losses']} lost, p {probability(comparison['p_value'], '= ')} (exact, one-sided)"
        )


COMMAND = Command(
    name="evaluate",
    purpose="Measures a harness on a question file: accuracy by kind, frames and tokens a question.",
    job=evaluate,
    examples=(
        "questions=questions.jsonl videos=my_videos/",
        "questions=questions.jsonl harness=exported/ against=initial",
        "questions=questions.jsonl parameters=true",
        "-m questions=questions.jsonl harness.parameters.frame_cap=64,192",
    ),
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
