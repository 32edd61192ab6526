"""What a number of questions can show, in words."""

import math

from evoharness.evolution.settings import EvolutionSettings
from evoharness.evolution.sources import RoundQuestions
from evoharness.records.evolution import Draw
from evoharness.scoring.statistics import (
    detectable_effect,
    needed_discordant,
    needed_questions,
)

USUAL_DISCORDANCE = 0.12
"""Share of discordant pairs that is assumed where none was measured."""


def is_underpowered(
    settings: EvolutionSettings,
    level: float,
    discordance: float | None,
    draw: Draw,
    questions: RoundQuestions,
) -> bool:
    """Whether nothing could be expected to pass: too few questions are answered differently by two harnesses.

    It takes a certain number of discordant pairs, all in favour of the candidate, to reach the level; the
    share of discordant pairs is the measured one, or the usual one where that is larger.
    """
    if settings.gate.name not in ("paired", "sequential"):
        return False
    if settings.gate.name == "paired" and settings.gate.unit == "video":
        return len(draw.validation) < needed_discordant(level)
    expected = len(questions.validation) * max(discordance or 0.0, USUAL_DISCORDANCE)
    return expected < needed_discordant(level)


def advice(
    settings: EvolutionSettings,
    level: float,
    discordance: float | None,
    draw: Draw,
    questions: RoundQuestions,
) -> str:
    """What the validation questions of a round can show at the gate's level, and how many more would do.

    Empty for gates that make no claim. `discordance`: as measured on the finalists; None: assumed.
    """
    if settings.gate.name not in ("paired", "sequential"):
        return ""
    here = len(questions.validation)
    psi = discordance or USUAL_DISCORDANCE
    needed = needed_questions(settings.effect, psi, level)
    about = f"{here} validation questions about {len(draw.validation)} videos"
    if here >= needed:
        return f"{about} would have shown a gain of {settings.effect:.0%} (p ≤ {level:.2g})"
    said = f"{about}; to show a gain of {settings.effect:.0%} needs about {needed} (p ≤ {level:.2g})"
    per_video = here / len(draw.validation) if here else None
    if per_video:
        videos = math.ceil(needed / per_video * len(draw.videos) / len(draw.validation))
        return (
            f"{said}, so about {videos} videos a round at {per_video:.0f} questions a video; "
            f"what is here can show {detectable_effect(here, psi, level):.0%}"
        )
    return f"{said}; at least two videos are needed, because one part of them only learns"
