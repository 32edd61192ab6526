"""Build the memory of one video, segment by segment (appendix A.1).

The steps are the cut into segments and what is said in them, the description of each segment, the groups
over them, and the root. Each is written down as soon as it is finished, so a build that was interrupted
goes on where it stopped, comes to the same memory, and asks no model twice for what it has. What comes out
does not depend on which segment is described first, nor on how many are described at a time.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evoharness.memory.aggregation import aggregate
from evoharness.memory.checkpoints import Checkpoints
from evoharness.memory.describing import (
    Describing,
    FinishedSegment,
    Part,
    damaged_pictures,
    lost_pictures,
    replaced_readers,
)
from evoharness.memory.lanes import Lanes
from evoharness.memory.linking import link_entities
from evoharness.memory.looking import Look, looking
from evoharness.memory.settings import MemorySettings
from evoharness.memory.thumbnails import Thumbnails
from evoharness.memory.transcripts import Transcript, transcript_for, transcript_of
from evoharness.models.backbone import Backbone
from evoharness.records.base import Record
from evoharness.records.interval import Interval
from evoharness.records.memory import MemoryReport, VideoMemory
from evoharness.video import Video

UNDECODED = "picture that could not be decoded"
DAMAGED = "picture with damaged parts"


@dataclass(frozen=True)
class Built:
    """What building a memory gives."""

    memory: VideoMemory
    thumbnails: Thumbnails


class Plan(Record):
    """What is known of a video before anything is described."""

    spans: tuple[Interval, ...]
    """The segments, in order of time."""
    transcript: Transcript
    """What is said."""
    notes: tuple[str, ...] = ()
    """What had to be done to read the video."""
    lost: tuple[int, ...] = ()
    """Numbers of pictures that could not be decoded."""
    damaged: tuple[int, ...] = ()
    """Numbers of those that came with parts that a decoder made up."""


def build_memory(
    video: Video,
    backbone: Backbone,
    settings: MemorySettings | None = None,
    *,
    checkpoints: Path | None = None,
    on_segment: Callable[[int, int], None] | None = None,
    spans: Sequence[Interval] | None = None,
    lanes: Lanes | None = None,
    look: Look = looking,
) -> VideoMemory:
    """The memory of a video, as `backbone` describes it: see `build`."""
    return build(
        video,
        backbone,
        settings,
        checkpoints=checkpoints,
        on_segment=on_segment,
        spans=spans,
        lanes=lanes,
        look=look,
    ).memory


def build(
    video: Video,
    backbone: Backbone,
    settings: MemorySettings | None = None,
    *,
    checkpoints: Path | None = None,
    on_segment: Callable[[int, int], None] | None = None,
    spans: Sequence[Interval] | None = None,
    lanes: Lanes | None = None,
    look: Look = looking,
    stopping: Callable[[], bool] | None = None,
) -> Built:
    """The memory of a video, as `backbone` describes it, and small pictures for people.

    `checkpoints`: folder for finished steps; what lies there from an earlier try is used. `on_segment` is
    called after each segment with how many are finished and how many there are. `spans`: the segments, in
    order; None: cut where scenes change. `lanes`: how many segments are described at a time; None: one.

    A segment that the model refuses, answers unreadably or turns down for good is marked as failed and
    listed in the report. `BackboneUnavailable` is passed on after what was in flight has been written down.
    `stopping` is asked before each segment: StoppedEarly when it says so, after the same.
    """
    settings = settings or MemorySettings()
    steps = Checkpoints(checkpoints)
    if checkpoints is not None:
        checkpoints.mkdir(parents=True, exist_ok=True)  # decoded pictures lie there as well
    made_from = video.info.content_hash + ("" if spans is None else repr([(s.start, s.end) for s in spans]))
    plan = steps.done("plan", made_from, Plan)
    with look(video, settings, spans if plan is None else plan.spans, checkpoints) as survey:
        if plan is None:
            said = transcript_for(video, settings.transcript, backbone, survey.spans)
            whole = Interval(start=0, end=video.info.duration)
            plan = Plan(
                spans=tuple(survey.spans),
                transcript=said,
                notes=replaced_readers(video),
                lost=lost_pictures(video, whole),
                damaged=damaged_pictures(video, whole),
            )
            steps.keep("plan", made_from, plan)
        parts = [
            Part(f"s{number:04d}", span, transcript_of(plan.transcript.cues, span))
            for number, span in enumerate(plan.spans)
        ]
        told = on_segment or (lambda _done, _all: None)
        stop = stopping or (lambda: False)
        finished = Describing(video, backbone, survey, steps, lanes or Lanes(), told, stop).all(parts)
    return Built(
        memory=_memory(video, backbone, steps, plan, finished),
        thumbnails=Thumbnails(segments={done.segment.id: done.pictures for done in finished}),
    )


def _memory(
    video: Video, backbone: Backbone, steps: Checkpoints, plan: Plan, finished: Sequence[FinishedSegment]
) -> VideoMemory:
    losses = Counter(plan.transcript.losses)
    lost, damaged = set(plan.lost), set(plan.damaged)
    for done in finished:
        losses.update(done.losses)
        lost.update(done.lost)
        damaged.update(done.damaged)
    if lost:
        losses[UNDECODED] = len(lost)
    if damaged:
        losses[DAMAGED] = len(damaged)
    notes = [f"the file: {warning}" for warning in video.info.warnings]
    notes += [*plan.notes, *(note for done in finished for note in done.notes)]
    segments = link_entities([done.segment for done in finished])
    super_events, root = aggregate(segments, backbone, losses, steps)
    return VideoMemory(
        video=video.info.content_hash,
        duration=video.info.duration,
        root=root,
        super_events=super_events,
        segments=segments,
        report=MemoryReport(
            losses=dict(sorted(losses.items())),
            failed_segments=tuple(segment.id for segment in segments if segment.status == "failed"),
            frames=sum(done.frames for done in finished),
            repeats=sum(done.repeats for done in finished),
            notes=tuple(dict.fromkeys(notes)),
        ),
    )
