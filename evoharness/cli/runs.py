"""Making and finding the run of a command."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evoharness.cli.command import Call
from evoharness.cli.parts import (
    ANSWERING_ROLES,
    EVOLVING_ROLES,
    check_code,
    check_models,
    needed,
    sandbox_level,
    workbench_config,
)
from evoharness.errors import UserError
from evoharness.records.paths import as_path

if TYPE_CHECKING:
    from evoharness.config import RunningCommon
    from evoharness.harness import Harness
    from evoharness.records.evolution import Summary
    from evoharness.runs import RunDirectory, RunFacts

EVOLVE = "evolve"
"""The command whose runs are gone on with, shown and exported."""


@contextmanager
def new_run(config: "RunningCommon", call: Call, name: str, facts: "RunFacts") -> "Iterator[RunDirectory]":
    """A new run for this call: in the folder of runs, or in that of the sweep; closed with the block."""
    from evoharness.runs import RunDirectory

    if call.sweep is not None:
        run = RunDirectory.create(call.sweep, str(call.number), call.config_text, facts, stamped=False)
    else:
        run = RunDirectory.create(as_path(config.runs), name, call.config_text, facts)
    with run:
        yield run


def facts_of(config: "RunningCommon", command: str, harnesses: "Iterable[Harness]" = ()) -> "RunFacts":
    """What run.json says about a run of that command; UserError for a part that cannot be had or run."""
    from evoharness.runs import RunFacts

    check_models(config, EVOLVING_ROLES if command == EVOLVE else ANSWERING_ROLES)
    bench = workbench_config(config).build()
    try:
        level = sandbox_level(config, bench)
        for harness in harnesses:
            check_code(bench, harness)
        sandbox = f"{config.sandbox.backend}, level {level}"
        return RunFacts.gather(config.seed, (bench.backbone.id,), sandbox, command)
    finally:
        bench.close()


def check_runs_folder(config: "RunningCommon", call: Call) -> None:
    """UserError when no run can be made where it would be, before any long work is begun."""
    if call.sweep is not None:
        return
    folder = existing = as_path(config.runs).absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise UserError(f"cannot make a run in {folder}: {existing} is no folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(f"cannot make a run in {folder}: {existing} cannot be written to")


def run_at(run: str | None, runs: str) -> "RunDirectory":
    """The run of evolve that is meant, opened for reading; `latest` is the latest of them."""
    from evoharness.runs import RunDirectory, find_run

    path = find_run(needed(run, "run", "latest"), as_path(runs), EVOLVE)
    return RunDirectory.open(path, write=False)


def check_evolved(run: "RunDirectory") -> None:
    """UserError for a run of another command than evolve."""
    if run.facts.made_by != EVOLVE:
        raise UserError(f"{run.shown} is no run of evolve but of {run.facts.made_by or 'another command'}")


def summary_of(run: "RunDirectory") -> "Summary":
    """The summary of a finished run of evolution; UserError when there is none."""
    from evoharness.records.evolution import Summary

    check_evolved(run)
    summary = run.load("summary.json", Summary)
    if summary is None:
        raise UserError(f"{run.shown} has not finished: go on with resume={run.shown}")
    return summary
