"""One harness on one public question: context, tools, limits, trace."""

from evoharness.solver.bench import SolverBench, SolverLimits
from evoharness.solver.equivalence import behaviour
from evoharness.solver.skills import PlanStep, Skill, SkillError, fires, read_skill, skill_markdown
from evoharness.solver.solve import solve

__all__ = [
    "PlanStep",
    "Skill",
    "SkillError",
    "SolverBench",
    "SolverLimits",
    "behaviour",
    "fires",
    "read_skill",
    "skill_markdown",
    "solve",
]
