"""Equal observation: a candidate must not win by looking more.

Frames and tokens a question, on average over the same questions, stay within a multiple (1.25) of what
the harness of the run's beginning uses. Looking more is the cheapest way to look better, and not what is
to be shown.
"""

from typing import Protocol

from evoharness.evolution.settings import GateSettings


class Observed(Protocol):
    """Whatever knows how much a candidate looked: pairs, standings, verdicts."""

    @property
    def frames_ratio(self) -> float | None:
        """Frames a question, divided by those of the initial harness; None when there were none."""
        ...

    @property
    def tokens_ratio(self) -> float | None:
        """Tokens likewise."""
        ...


def excess_observation(observed: Observed, settings: GateSettings) -> str:
    """By how much a candidate looks too much, in words; empty when it does not."""
    if settings.observation == "free":
        return ""
    for name, ratio in (("frames", observed.frames_ratio), ("tokens", observed.tokens_ratio)):
        if ratio is not None and ratio > settings.observation_ratio:
            return (
                f"uses {ratio:.2f} times the {name} of the initial harness, "
                f"more than {settings.observation_ratio:g}"
            )
    return ""
