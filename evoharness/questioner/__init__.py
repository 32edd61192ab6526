"""The Questioner: questions with references computed from memory records, filters, quality, refinement."""

from evoharness.questioner.filters import Checked, Filter, FilterReport, filter_questions
from evoharness.questioner.generate import Generated, generate, generate_counted
from evoharness.questioner.policy import (
    DistractorMode,
    Policy,
    QualityWeights,
    QuestionerSettings,
    initial_policy,
    target_proportions,
)
from evoharness.questioner.quality import Accuracy, Quality, accuracies, quality, total_variation
from evoharness.questioner.refinement import Findings, Refinement, Refiner, RuleRefiner

__all__ = [
    "Accuracy",
    "Checked",
    "DistractorMode",
    "Filter",
    "FilterReport",
    "Findings",
    "Generated",
    "Policy",
    "Quality",
    "QualityWeights",
    "QuestionerSettings",
    "Refinement",
    "Refiner",
    "RuleRefiner",
    "accuracies",
    "filter_questions",
    "generate",
    "generate_counted",
    "initial_policy",
    "quality",
    "target_proportions",
    "total_variation",
]
