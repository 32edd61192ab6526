"""The sandbox, the small video and the small memory of the Solver's tests; a way to ask strategies."""

import pytest

from evoharness.memory import MemoryReader
from evoharness.records.memory import VideoMemory
from evoharness.records.outcome import Answered
from evoharness.records.question import PublicQuestion
from evoharness.sandbox import ProcessSandbox
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.video import Video
from tests.evolution.proposers.asking import Ask
from tests.solver.conftest import minute, sandbox
from tests.solver.standins import QUESTION, Letters, Witness, only
from tests.solver.test_recalling import memory

__all__ = ["ask", "memory", "minute", "sandbox"]


@pytest.fixture
def ask(minute: Video, sandbox: ProcessSandbox, memory: VideoMemory) -> Ask:
    """Lets a strategy answer about a minute of video, for real, with a memory where it searches one."""

    def answered(
        source: str, backbone: Witness | None = None, question: PublicQuestion = QUESTION
    ) -> tuple[Answered, Witness]:
        backbone = backbone or Witness()
        bench = SolverBench(backbone, Letters(), sandbox, lambda _: MemoryReader(memory, Letters()))
        return solve(question, minute, only(source, "ctx.search" in source), bench, SolverLimits()), backbone

    return answered
