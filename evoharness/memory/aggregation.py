"""From segments to super events and the root: a text-only stage (appendix A.1)."""

from collections import Counter
from collections.abc import Sequence

from evoharness.models.backbone import Backbone, Refused, Unparsed
from evoharness.models.reasoning_tasks import SegmentGroup, SummarizeSegments, SummarizeVideo
from evoharness.records.interval import Interval
from evoharness.records.memory import Segment, SuperEvent

WINDOW = 50
"""Segments that are grouped in one call; longer videos are grouped window by window."""


def aggregate(
    segments: Sequence[Segment], backbone: Backbone, losses: Counter[str]
) -> tuple[tuple[SuperEvent, ...], str]:
    """Super events over the described segments, and the root's text.

    Where the model refuses or cannot be read, every segment stands for itself and the root is made of their
    summaries; both are counted. `BackboneUnavailable` is passed on: the build can be taken up again.
    """
    described = [segment for segment in segments if segment.status == "described"]
    super_events: list[SuperEvent] = []
    for start in range(0, len(described), WINDOW):
        window = described[start : start + WINDOW]
        for group in _groups(window, backbone, losses):
            members = window[group.first : group.last + 1]
            super_events.append(
                SuperEvent(
                    id=f"x{len(super_events):04d}",
                    label=group.label,
                    description=group.description,
                    segment_ids=tuple(segment.id for segment in members),
                    interval=Interval(start=members[0].interval.start, end=members[-1].interval.end),
                )
            )
    return tuple(super_events), _root(super_events, backbone, losses)


def _groups(window: Sequence[Segment], backbone: Backbone, losses: Counter[str]) -> list[SegmentGroup]:
    task = SummarizeSegments(summaries=tuple(segment.summary for segment in window))
    try:
        answered = backbone.run(task).output.groups
    except (Refused, Unparsed):
        losses["grouping failed"] += 1
        answered = ()
    return complete_groups(answered, [segment.summary for segment in window], losses)


def complete_groups(
    answered: Sequence[SegmentGroup], summaries: Sequence[str], losses: Counter[str]
) -> list[SegmentGroup]:
    """Groups that follow each other and leave out no segment, whatever a model answered.

    Overlaps go to the group that begins first; segments that are in no group become groups of their own.
    """
    complete: list[SegmentGroup] = []
    last = len(summaries) - 1
    covered = 0
    for group in sorted(answered, key=lambda g: (g.first, g.last)):
        begin, end = max(group.first, covered), min(group.last, last)
        if begin > end:
            losses["group dropped"] += 1
            continue
        if (begin, end) != (group.first, group.last):
            losses["group clipped"] += 1
        complete += [_alone(number, summaries) for number in range(covered, begin)]
        label = group.label.strip() or _label(summaries[begin])
        description = group.description.strip() or " ".join(summaries[begin : end + 1])
        complete.append(SegmentGroup(label=label, description=description, first=begin, last=end))
        covered = end + 1
    return complete + [_alone(number, summaries) for number in range(covered, len(summaries))]


def _alone(number: int, summaries: Sequence[str]) -> SegmentGroup:
    summary = summaries[number]
    return SegmentGroup(label=_label(summary), description=summary, first=number, last=number)


def _label(summary: str, longest: int = 60) -> str:
    if len(summary) <= longest:
        return summary
    return summary[:longest].rsplit(" ", 1)[0] + "…"


def _root(super_events: Sequence[SuperEvent], backbone: Backbone, losses: Counter[str]) -> str:
    if not super_events:
        return "Nothing of this video could be described."
    told = tuple(f"{event.label}: {event.description}" for event in super_events)
    try:
        text = backbone.run(SummarizeVideo(super_events=told)).output.text.strip()
    except (Refused, Unparsed):
        text = ""
    if not text:
        losses["root missing"] += 1
    return text or " ".join(event.label for event in super_events)
