"""Equal observation: a candidate must not win by looking more.

Frames and tokens a question, on average over the same questions, stay within a multiple (1.25) of what
the harness of the run's beginning uses. Looking more is the cheapest way to look better, and not what is
to be shown.
"""

from evoharness.evolution.pairs import Pairs
from evoharness.evolution.settings import GateSettings


def excess_observation(pairs: Pairs, settings: GateSettings) -> str:
    """By how much a candidate looks too much, in words; empty when it does not."""
    if settings.observation == "free":
        return ""
    for name, ratio in (("frames", pairs.frames_ratio), ("tokens", pairs.tokens_ratio)):
        if ratio is not None and ratio > settings.observation_ratio:
            return (
                f"uses {ratio:.2f} times the {name} of the initial harness, "
                f"more than {settings.observation_ratio:g}"
            )
    return ""
