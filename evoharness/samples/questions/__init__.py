"""Multiple-choice questions made from a timeline alone."""

from evoharness.samples.questions.choose import demand_of, make_questions

__all__ = ["demand_of", "make_questions"]
