"""Harnesses on questions: where the work is done, and what is kept of it."""

from evoharness.evaluation.embedding import BesideWorkers
from evoharness.evaluation.evaluator import (
    AnswerItem,
    Evaluator,
    OnOutcome,
    OutcomesInMemory,
    OutcomeStore,
    answer,
)
from evoharness.evaluation.executor import (
    Executor,
    InlineExecutor,
    ItemFailed,
    JobFailed,
    TooManyFailed,
    WorkerLost,
)
from evoharness.evaluation.interrupts import Interrupted
from evoharness.evaluation.measure import Measure, measure
from evoharness.evaluation.outage import ProviderLost
from evoharness.evaluation.processes import ProcessExecutor
from evoharness.evaluation.remembering import PageItem, SegmentDone, remembered, write_page
from evoharness.evaluation.workbench import Workbench, WorkbenchConfig

__all__ = [
    "AnswerItem",
    "BesideWorkers",
    "Evaluator",
    "Executor",
    "InlineExecutor",
    "Interrupted",
    "ItemFailed",
    "JobFailed",
    "Measure",
    "OnOutcome",
    "OutcomeStore",
    "OutcomesInMemory",
    "PageItem",
    "ProcessExecutor",
    "ProviderLost",
    "SegmentDone",
    "TooManyFailed",
    "Workbench",
    "WorkbenchConfig",
    "WorkerLost",
    "answer",
    "measure",
    "remembered",
    "write_page",
]
