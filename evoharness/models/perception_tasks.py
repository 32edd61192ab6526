"""Tasks that look: frames in, text and intervals out. Times are seconds from the start of the video."""

from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel

from evoharness.models.task import Role, Task
from evoharness.records.base import Record
from evoharness.records.frame import Frame
from evoharness.records.interval import Interval
from evoharness.records.memory import EntityKind


class Observation(Record):
    """What is seen during one stretch of time."""

    interval: Interval
    text: str
    found: bool = True
    """Whether it bears on what was asked."""


class InspectedFrames(Record):
    """What a look at a span found."""

    observations: tuple[Observation, ...]
    """In order of time."""
    candidates: tuple[Interval, ...] = ()
    """Stretches that deserve a closer look, the most promising first."""


class InspectFrames(Task[InspectedFrames]):
    """Watch the frames of one span with a question in mind."""

    default_role: ClassVar[Role] = Role.VIDEO_EXPERT
    max_output_tokens: ClassVar[int] = 4096
    output: ClassVar[type[Record]] = InspectedFrames

    frames: tuple[Frame, ...]
    """In order of time."""
    span: Interval
    """The span that the frames sample."""
    prompt: str
    """What to look for; empty: everything."""


class LocalizedEvent(Record):
    """A coarse timeline, and the tightest window that holds the event asked for."""

    timeline: tuple[Observation, ...]
    window: Interval | None = None
    """None when the event is not seen."""


class LocalizeEvent(Task[LocalizedEvent]):
    """Find when something happens (MedClaw's view_full_video, one stage)."""

    default_role: ClassVar[Role] = Role.VIDEO_EXPERT
    max_output_tokens: ClassVar[int] = 4096
    output: ClassVar[type[Record]] = LocalizedEvent

    frames: tuple[Frame, ...]
    span: Interval
    query: str


class FrameDescription(Record):
    """What one frame, or a region of it, shows."""

    text: str


class DescribeFrame(Task[FrameDescription]):
    """Look closely at a single frame (select_video_frame) or at a region of it (crop_video_frame)."""

    default_role: ClassVar[Role] = Role.FRAME_VERIFIER
    output: ClassVar[type[Record]] = FrameDescription

    frame: Frame
    """A crop when its `box` is set."""
    prompt: str
    """What to look for; empty: everything."""


class DescribedEvent(BaseModel):
    """An event as a describer reports it, before it is checked."""

    kind: str = ""
    start: float
    end: float
    subject: str = ""
    object: str = ""
    action: str = ""
    description: str = ""


class DescribedEntity(BaseModel):
    """An entity as a describer reports it."""

    kind: str = EntityKind.OBJECT.value
    """One of `EntityKind`, if the describer keeps to them."""
    name: str
    attributes: tuple[str, ...] = ()
    description: str = ""
    first_seen: float
    spatial_hint: str = ""


class DescribedText(BaseModel):
    """A visible text as a describer reports it."""

    text: str
    start: float
    end: float
    description: str = ""


class DescribedRelation(BaseModel):
    """A relation between two described things, each named as `event:2`, `entity:0`, `text:1`."""

    source: str
    target: str
    kind: str
    """One of `RelationKind`, if the describer keeps to them."""
    description: str = ""


class SegmentDescription(Record):
    """The local graph of a segment as a describer reports it; the memory checks it before use."""

    summary: str
    events: tuple[DescribedEvent, ...] = ()
    entities: tuple[DescribedEntity, ...] = ()
    texts: tuple[DescribedText, ...] = ()
    relations: tuple[DescribedRelation, ...] = ()


class DescribeSegment(Task[SegmentDescription]):
    """Record everything that one segment shows (appendix A.1)."""

    default_role: ClassVar[Role] = Role.DESCRIBER
    max_output_tokens: ClassVar[int] = 8192
    output: ClassVar[type[Record]] = SegmentDescription

    frames: tuple[Frame, ...]
    span: Interval
    transcript: str = ""
    """What is said during the segment, when a transcript was merged."""


class SpokenLine(Record):
    """Words that are said during one stretch of time."""

    interval: Interval
    text: str


class Transcription(Record):
    """What is said, in order of time."""

    lines: tuple[SpokenLine, ...]


class Transcribe(Task[Transcription]):
    """Write down what is said during one span of a recording.

    The sound is no part of the prompt: a backbone that can listen takes it from `path`.
    """

    default_role: ClassVar[Role] = Role.TRANSCRIBER
    max_output_tokens: ClassVar[int] = 8192
    output: ClassVar[type[Record]] = Transcription

    path: Path
    """A file with sound: the video itself, or its audio track."""
    key: str
    """Identity of the content of the file; the path says nothing about it."""
    span: Interval
    language: str = ""
    """What is spoken, such as `en`; empty: unknown."""
    words: tuple[str, ...] = ()
    """Names and terms that are likely to be said."""
