"""What nobody can know before a run: shares that depend on videos and models, expected and at their ends.

The expected ones are what runs of the demo (samples, embedded backbone) show; the ends are further out than
any of them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Expectations:
    """Shares and factors with which a plan becomes an amount."""

    segment_s: float
    """Seconds of a segment of a memory; the cut aims at the middle between its bounds."""
    checked: float
    """Share of the generated questions that are no duplicates and well formed."""
    need_evidence: float
    """Share of the generated questions that are not answered rightly without evidence."""
    retained: float
    """Share of the generated questions on which a fresh look agrees: those that are used."""
    failing: float
    """Share of the evolution questions that the incumbent answers wrongly, on videos of two minutes or more;
    of shorter ones, which it sees in full, in proportion less."""
    unexplained: float
    """Share of the failures that stay wrong with the source at hand, and are tried with more around it."""
    promising: float
    """Share of the changes tried on failures that are then tried on the whole sample."""
    fresh: float
    """Share of the answers of changed harnesses that an equal harness has not given before."""
    dearer: float
    """Frames and tokens of an answer of a change that is tried, as a multiple of the incumbent's."""
    looks: float
    """Looks of such an answer likewise: many changes look twice where the incumbent looks once."""
    finalist: float
    """What an answer of a finalist takes, as a multiple of the incumbent's; the gate allows 1.25."""
    judged: float
    """Share of the validation questions that finalists answer before the gate is sure."""
    improved: float
    """Probability that a round of a hundred validation questions or more keeps a change, after which
    incumbent and initial harness differ; with fewer questions it can show less, in proportion."""


EXPECTED = Expectations(
    segment_s=165.0,
    checked=0.98,
    need_evidence=0.7,
    retained=0.64,
    failing=0.22,
    unexplained=0.2,
    promising=0.25,
    fresh=0.83,
    dearer=1.4,
    looks=2.2,
    finalist=1.08,
    judged=0.9,
    improved=0.5,
)
LEAST = Expectations(
    segment_s=300.0,
    checked=0.8,
    need_evidence=0.5,
    retained=0.35,
    failing=0.05,
    unexplained=0.0,
    promising=0.1,
    fresh=0.5,
    dearer=0.8,
    looks=1.0,
    finalist=0.7,
    judged=0.25,
    improved=0.0,
)
MOST = Expectations(
    segment_s=60.0,
    checked=1.0,
    need_evidence=0.9,
    retained=0.85,
    failing=0.6,
    unexplained=0.7,
    promising=0.6,
    fresh=1.0,
    dearer=2.0,
    looks=3.0,
    finalist=1.25,
    judged=1.0,
    improved=1.0,
)
