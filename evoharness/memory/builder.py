"""Build the memory of one video, segment by segment (appendix A.1).

Each segment is finished on its own and written down as soon as it is, so a build that was interrupted goes
on where it stopped and describes no segment twice. Everything after that (links, super events, root) needs
no frames and is done over in a few calls.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from evoharness.memory.aggregation import aggregate
from evoharness.memory.linking import link_entities
from evoharness.memory.repair import failed_segment, repair
from evoharness.memory.settings import MemorySettings
from evoharness.memory.transcripts import Cue, transcript_for, transcript_of
from evoharness.models.backbone import Backbone, Refused, Unparsed
from evoharness.models.perception_tasks import DescribeSegment
from evoharness.records.base import Record
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from evoharness.records.memory import MemoryReport, Segment, VideoMemory
from evoharness.records.storage import write_atomically
from evoharness.video import Video, scattered_times, scenes

LEAST_FRAMES = 4
"""A short segment is shown to the describer in at least so many pictures, where it has them."""


class FinishedSegment(Record):
    """A segment as it is written down while its memory is being built."""

    segment: Segment
    losses: dict[str, int] = {}
    """How often each kind of repair or loss happened."""
    frames: int = 0
    """Frames that the describer looked at."""


def build_memory(
    video: Video,
    backbone: Backbone,
    settings: MemorySettings | None = None,
    *,
    checkpoints: Path | None = None,
    on_segment: Callable[[int, int], None] | None = None,
    spans: Sequence[Interval] | None = None,
) -> VideoMemory:
    """The memory of a video, as `backbone` describes it.

    `checkpoints`: folder for finished segments; what lies there from an earlier try is used. `on_segment` is
    called after each segment with how many are finished and how many there are. A segment that the model
    refuses or answers unreadably is marked as failed and listed in the report. `BackboneUnavailable` is
    passed on. `spans`: the segments, in order; None: cut where scenes change.
    """
    settings = settings or MemorySettings()
    if spans is None:
        spans = scenes(video, settings)
    transcript = transcript_for(video, settings.transcript, backbone, spans)
    finished: list[FinishedSegment] = []
    for number, span in enumerate(spans):
        file = checkpoints / f"s{number:04d}.json" if checkpoints is not None else None
        done = _taken_up(file, span)
        if done is None:
            done = _describe(video, backbone, settings, f"s{number:04d}", span, transcript.cues)
            if file is not None:
                write_atomically(file, done.model_dump_json())
        finished.append(done)
        if on_segment is not None:
            on_segment(number + 1, len(spans))
    losses = Counter(transcript.losses)
    for done in finished:
        losses.update(done.losses)
    segments = link_entities([done.segment for done in finished])
    super_events, root = aggregate(segments, backbone, losses)
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
        ),
    )


def _describe(
    video: Video,
    backbone: Backbone,
    settings: MemorySettings,
    segment_id: str,
    span: Interval,
    cues: Sequence[Cue],
) -> FinishedSegment:
    frames = _frames_of(video, span, settings)
    said = transcript_of(cues, span)
    try:
        reply = backbone.run(DescribeSegment(frames=tuple(frames), span=span, transcript=said))
    except (Refused, Unparsed) as error:
        failed = failed_segment(segment_id, span, str(error), said)
        return FinishedSegment(segment=failed, losses={"segment failed": 1}, frames=len(frames))
    segment, losses = repair(reply.output, segment_id, span, said)
    return FinishedSegment(segment=segment, losses=dict(losses), frames=len(frames))


def _frames_of(video: Video, span: Interval, settings: MemorySettings) -> list[Frame]:
    fps = settings.fps
    if span.duration > 0:
        fps = max(fps, min(LEAST_FRAMES, settings.frame_cap) / span.duration)
    seed = f"{video.info.content_hash} {span.start}"
    return video.frames(scattered_times(span, fps, settings.frame_cap, seed), settings.detail)


def _taken_up(file: Path | None, span: Interval) -> FinishedSegment | None:
    """What an earlier try wrote down for the same stretch; None when it is not there or not whole."""
    if file is None or not file.is_file():
        return None
    try:
        done = FinishedSegment.model_validate_json(file.read_bytes())
    except ValueError:
        return None
    return done if done.segment.interval == span else None
