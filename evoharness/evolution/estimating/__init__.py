"""What a run would use of its models, found out without one."""

from evoharness.evolution.estimating.expectations import EXPECTED, Expectations
from evoharness.evolution.estimating.load import Amount, Estimate, Load
from evoharness.evolution.estimating.plan import estimate

__all__ = ["EXPECTED", "Amount", "Estimate", "Expectations", "Load", "estimate"]
