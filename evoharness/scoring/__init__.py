"""Rewards, and what may be concluded from them."""

from evoharness.scoring.letters import choice_in
from evoharness.scoring.reward import Judge, as_fraction, reward_of

__all__ = ["Judge", "as_fraction", "choice_in", "reward_of"]
