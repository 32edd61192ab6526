"""What nobody can know before a run: shares that depend on videos and models, expected and at their ends.

The expected ones are what runs of the demo (samples, embedded backbone) show; between its ends each of them
lies nearly always. What follows from the settings, the videos or the harness is not here.
"""

import math
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Expectations:
    """Shares and factors with which a plan becomes an amount."""

    segment_s: float
    """Seconds of a segment of a memory; the cut aims at the middle between its bounds."""
    source_s: float
    """Seconds of the source of a question about one moment."""
    wide_s: float
    """Seconds of the source of a question that counts or compares, in a video that is long enough."""
    checked: float
    """Share of the generated questions that are no duplicates and well formed."""
    agreed: float
    """Share of the questions that need evidence on which a fresh look agrees: those that are used."""
    lasts_s: float
    """How long things can be seen, on average: what a harness that looks less often sees. Those asked about
    are briefer as far as such are preferred (see `chances.preferred`)."""
    blurred: float
    """Share of it that cannot be made out in pictures of next to no size; of larger ones it is as much less
    as their sides are nearer to the usual."""
    confused: float
    """Share of the questions about a video of two minutes that are answered wrongly whatever was seen."""
    unsure: float
    """Share of the questions that were seen in full of whose answer the model is not sure."""
    unsure_wrong: float
    """Share of the wrong answers of which it is not sure."""
    mended: float
    """Share of the answers that are wrong for want of a look which further looks can mend."""
    mending: float
    """Share of the changes that look further which mend what can be mended."""
    luck: float
    """How likely it is that something can be mended, as a multiple of what follows from the number of wrong
    answers: there are few, and with other videos others."""
    lasting: float
    """Share of the candidates that still do better when they have answered all evolution questions."""
    finer: float
    """Frames and tokens of what a change adds, as a multiple of what is counted."""
    better: float
    """Probability that a finalist does better than the incumbent on the validation questions."""
    shown: float
    """Probability that it is then shown to be better, with a hundred validation questions or more; with fewer
    in proportion less."""
    judged: float
    """Share of the validation questions that finalists answer before the gate is sure."""
    wordy: float
    """Tokens of answers, as a multiple of the usual."""
    other: float
    """Everything, as a multiple: questions and videos differ in more than is thought of here."""

    def unseen(self, gap_s: float) -> float:
        """Share of what is asked about that falls between two frames, `gap_s` apart.

        What can be seen for L seconds is missed with probability 1 - L/gap; L is taken to be exponential.
        """
        if gap_s <= 0:
            return 0.0
        ratio = gap_s / self.lasts_s
        return 1 - (1 - math.exp(-ratio)) / ratio

    def ends(self) -> "list[tuple[Expectations, Expectations]]":
        """For each of the figures: these expectations with the one end of it, and with the other."""
        return [
            (
                replace(self, **{each.name: getattr(LOW, each.name)}),
                replace(self, **{each.name: getattr(HIGH, each.name)}),
            )
            for each in fields(self)
        ]


EXPECTED = Expectations(
    segment_s=165.0,
    source_s=3.0,
    wide_s=28.0,
    checked=0.99,
    agreed=0.86,
    lasts_s=9.0,
    blurred=0.17,
    confused=0.05,
    unsure=0.06,
    unsure_wrong=0.5,
    mended=0.65,
    mending=0.5,
    luck=1.0,
    lasting=0.35,
    finer=1.0,
    better=0.4,
    shown=0.5,
    judged=0.9,
    wordy=1.0,
    other=1.0,
)
LOW = Expectations(
    segment_s=300.0,
    source_s=2.0,
    wide_s=14.0,
    checked=0.9,
    agreed=0.65,
    lasts_s=24.0,
    blurred=0.05,
    confused=0.01,
    unsure=0.02,
    unsure_wrong=0.25,
    mended=0.3,
    mending=0.25,
    luck=0.0,
    lasting=0.15,
    finer=0.7,
    better=0.2,
    shown=0.2,
    judged=0.5,
    wordy=0.7,
    other=0.75,
)
HIGH = Expectations(
    segment_s=90.0,
    source_s=6.0,
    wide_s=56.0,
    checked=1.0,
    agreed=1.0,
    lasts_s=3.5,
    blurred=0.45,
    confused=0.25,
    unsure=0.15,
    unsure_wrong=0.8,
    mended=0.95,
    mending=0.8,
    luck=3.0,
    lasting=0.7,
    finer=1.5,
    better=0.7,
    shown=1.0,
    judged=1.0,
    wordy=1.5,
    other=1.35,
)
