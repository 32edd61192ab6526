"""The hierarchical memory of one video: root, super events, segments, and the records inside them."""

from enum import StrEnum
from typing import Literal

from evoharness.records.base import Record
from evoharness.records.interval import Interval

MEMORY_SCHEMA = 1


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    OBJECT = "object"
    LOCATION = "location"
    GROUP = "group"


class RelationKind(StrEnum):
    """How two records of a memory are related."""

    PERFORMS = "performs"
    RECEIVES = "receives"
    USES = "uses"
    HAPPENS_IN = "happens_in"
    CAUSES = "causes"
    PREVENTS = "prevents"
    BEFORE = "before"
    OVERLAPS = "overlaps"
    SUBEVENT_OF = "subevent_of"
    PART_OF = "part_of"
    LOCATED_IN = "located_in"
    NEXT_TO = "next_to"
    ATTACHED_TO = "attached_to"
    SAME_AS = "same_as"
    ANNOTATES = "annotates"


class Event(Record):
    """Something that happens."""

    id: str
    """Global node id, such as `s0007/e0003`."""
    kind: str
    """A short class of event in the describer's words, such as `motion` or `appearance`."""
    interval: Interval
    """When it happens; inside its segment."""
    subject: str
    """Who or what acts."""
    object: str
    """What is acted on; empty when nothing is."""
    action: str
    """What is done, as a verb phrase."""
    description: str
    """One sentence about it."""


class Entity(Record):
    """Somebody or something that is seen."""

    id: str
    """Global node id, such as `s0007/n0001`."""
    kind: EntityKind
    """What it is."""
    name: str
    """What to call it; never empty."""
    attributes: tuple[str, ...] = ()
    """Visible properties: colour, shape, size."""
    description: str = ""
    """One sentence about it."""
    first_seen: float
    """Seconds from the start of the video."""
    spatial_hint: str = ""
    """Where in the picture it is, in words."""


class VisibleText(Record):
    """Text that is shown."""

    id: str
    """Global node id, such as `s0007/t0002`."""
    text: str
    """The words as read."""
    interval: Interval
    """While it is visible; inside its segment."""
    description: str = ""
    """Where and how it is shown: a title card, a label beside something, a caption."""


class Relation(Record):
    """A directed edge between two nodes of a memory."""

    source: str
    """Node id."""
    target: str
    """Node id."""
    kind: RelationKind
    """How they are related."""
    description: str = ""
    """A few words, or empty."""


class Segment(Record):
    """A stretch of the video and everything recorded about it."""

    id: str
    """`s0000`, `s0001`, … in order of time."""
    interval: Interval
    """Where it lies in the video."""
    summary: str
    """What happens in it; never empty."""
    transcript: str = ""
    """What is said in it, when a transcript was merged."""
    events: tuple[Event, ...] = ()
    entities: tuple[Entity, ...] = ()
    texts: tuple[VisibleText, ...] = ()
    relations: tuple[Relation, ...] = ()
    """Edges whose both ends lie in this segment, and `same_as` edges to earlier ones."""
    status: Literal["described", "failed"] = "described"
    """`failed`: the description failed for good; the segment is left out of questions."""


class SuperEvent(Record):
    """A group of neighbouring segments that belong together."""

    id: str
    label: str
    description: str
    segment_ids: tuple[str, ...]
    interval: Interval


class MemoryReport(Record):
    """What was repaired or dropped while the memory was built."""

    losses: dict[str, int] = {}
    """How often each kind of repair or loss happened."""
    failed_segments: tuple[str, ...] = ()
    """Segments without a description."""
    frames: int = 0
    """Frames that a describer looked at."""
    repeats: int = 0
    """Frames that it was spared because they look like the one before."""
    notes: tuple[str, ...] = ()
    """What else had to be done to read and describe the video, one line each."""


class VideoMemory(Record):
    """Everything that is remembered about one video."""

    schema_version: int = MEMORY_SCHEMA
    video: str
    """Content hash of the video."""
    duration: float
    """Seconds."""
    root: str
    """What the whole video is about."""
    super_events: tuple[SuperEvent, ...]
    segments: tuple[Segment, ...]
    report: MemoryReport = MemoryReport()

    def segment(self, segment_id: str) -> Segment:
        """The segment of that id; KeyError when there is none."""
        for segment in self.segments:
            if segment.id == segment_id:
                return segment
        raise KeyError(segment_id)
