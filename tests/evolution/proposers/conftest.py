"""The sandbox, the small video and the small memory of the Solver's tests."""

from tests.solver.conftest import minute, sandbox
from tests.solver.test_recalling import memory

__all__ = ["memory", "minute", "sandbox"]
