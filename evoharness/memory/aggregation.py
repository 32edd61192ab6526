"""From segments to super events and the root: a text-only stage (appendix A.1)."""

import json
from collections import Counter
from collections.abc import Sequence

from evoharness.memory.checkpoints import Checkpoints
from evoharness.memory.repair import LONGEST_FIELD, one_line
from evoharness.models.backbone import Backbone, BackboneUnavailable, Refused, Reply, Unparsed
from evoharness.models.reasoning_tasks import SegmentGroup, SummarizeSegments, SummarizeVideo
from evoharness.models.task import Output, Task
from evoharness.records.base import Record
from evoharness.records.interval import Interval
from evoharness.records.memory import Segment, SuperEvent

MOST_LEFT = 0.75
"""Parts are grouped once more only when the last time left no larger share of them."""
WINDOW = 50
"""What is grouped in one call: segments, or groups of them."""
LONGEST_LABEL = 200
"""Letters of a label."""
LONGEST_TEXT = 4 * LONGEST_FIELD
"""Letters of a description, and of the root."""


class Groups(Record):
    """What one window was grouped into."""

    groups: tuple[SegmentGroup, ...]
    losses: dict[str, int] = {}


class Root(Record):
    """What the whole video is about."""

    text: str
    losses: dict[str, int] = {}


def aggregate(
    segments: Sequence[Segment],
    backbone: Backbone,
    losses: Counter[str],
    steps: Checkpoints | None = None,
) -> tuple[tuple[SuperEvent, ...], str]:
    """Super events over the described segments, and the root's text; `losses` is added to.

    Where the model refuses or cannot be read, every segment stands for itself and the root is made of their
    labels; both are counted. `BackboneUnavailable` is passed on: the build can be taken up again, and what
    is among `steps` is not asked for again.
    """
    work = _Aggregation(backbone, losses, steps or Checkpoints(None))
    described = [segment for segment in segments if segment.status == "described"]
    super_events = []
    for number, group in enumerate(work.grouped([segment.summary for segment in described], "groups")):
        members = described[group.first : group.last + 1]
        super_events.append(
            SuperEvent(
                id=f"x{number:04d}",
                label=group.label,
                description=group.description,
                segment_ids=tuple(segment.id for segment in members),
                interval=Interval(start=members[0].interval.start, end=members[-1].interval.end),
            )
        )
    return tuple(super_events), work.root(super_events)


class _Aggregation:
    """Groups texts, window by window; knows what it lost."""

    def __init__(self, backbone: Backbone, losses: Counter[str], steps: Checkpoints) -> None:
        self._backbone = backbone
        self._losses = losses
        self._steps = steps

    def grouped(self, summaries: Sequence[str], name: str) -> list[SegmentGroup]:
        """Groups over all of them, that follow each other and leave out none.

        A window slides: the last group of one may go on beyond it, so the next begins where that group does.
        """
        settled: list[SegmentGroup] = []
        start = 0
        while start < len(summaries):
            window = summaries[start : start + WINDOW]
            groups = self._of_window(window, f"{name}-{start:05d}")
            end = start + len(window)
            if end < len(summaries) and len(groups) > 1:
                groups = groups[:-1]
            settled += [
                group.model_copy(update={"first": start + group.first, "last": start + group.last})
                for group in groups
            ]
            start = settled[-1].last + 1
        return settled

    def _of_window(self, summaries: Sequence[str], name: str) -> Sequence[SegmentGroup]:
        def make() -> Groups:
            lost: Counter[str] = Counter()
            reply = self._asked(SummarizeSegments(summaries=tuple(summaries)))
            if reply is None:
                lost["grouping failed"] += 1
            answered = reply.output.groups if reply is not None else ()
            return Groups(groups=tuple(complete_groups(answered, summaries, lost)), losses=dict(lost))

        found = self._steps.once(name, json.dumps(summaries), Groups, make)
        self._losses.update(found.losses)
        return found.groups

    def root(self, super_events: Sequence[SuperEvent]) -> str:
        """What the whole video is about. Very many super events are grouped until they are few."""
        if not super_events:
            return "Nothing of this video could be described."
        told = [f"{event.label}: {event.description}" for event in super_events]
        level = 1
        while len(told) > WINDOW:
            groups = self.grouped(told, f"parts{level}")
            before = len(told)
            if len(groups) < before:
                told = [f"{group.label}: {group.description}" for group in groups]
            if len(groups) > MOST_LEFT * before:  # whoever groups hardly sees parts
                break
            level += 1

        def make() -> Root:
            reply = self._asked(SummarizeVideo(super_events=tuple(told)))
            text = one_line(reply.output.text, LONGEST_TEXT) if reply is not None else ""
            if text:
                return Root(text=text)
            return Root(text=" ".join(event.label for event in super_events), losses={"root missing": 1})

        found = self._steps.once("root", json.dumps(told), Root, make)
        self._losses.update(found.losses)
        return found.text

    def _asked(self, task: Task[Output]) -> Reply[Output] | None:
        """The reply; None when there is none for good."""
        try:
            return self._backbone.run(task)
        except (Refused, Unparsed):
            return None
        except BackboneUnavailable as error:
            if not error.lasting:
                raise
            return None


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
        label = one_line(group.label, LONGEST_LABEL) or _label(summaries[begin])
        description = one_line(group.description, LONGEST_TEXT) or " ".join(summaries[begin : end + 1])
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
