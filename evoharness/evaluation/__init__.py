"""Harnesses on questions: where the work is done, and what is kept of it."""

from evoharness.evaluation.executor import Executor, InlineExecutor, JobFailed, WorkerLost
from evoharness.evaluation.interrupts import Interrupted
from evoharness.evaluation.processes import ProcessExecutor
from evoharness.evaluation.workbench import Workbench, WorkbenchConfig

__all__ = [
    "Executor",
    "InlineExecutor",
    "Interrupted",
    "JobFailed",
    "ProcessExecutor",
    "Workbench",
    "WorkbenchConfig",
    "WorkerLost",
]
