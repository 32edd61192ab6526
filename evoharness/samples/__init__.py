"""Synthetic recordings with a known timeline, and questions made from that timeline alone.

Recordings are drawn in the manner of procedure and lecture recordings: step cards, captions, labels,
coloured things that come and go. They stand in for labelled video where there is none: nothing that
answers questions may look in here.
"""

from evoharness.samples.plan import plan_timeline, video_key
from evoharness.samples.produce import SampleSet, read_timeline, render_samples
from evoharness.samples.questions import demand_of, make_questions
from evoharness.samples.timeline import Timeline

__all__ = [
    "SampleSet",
    "Timeline",
    "demand_of",
    "make_questions",
    "plan_timeline",
    "read_timeline",
    "render_samples",
    "video_key",
]
