"""A memory as one HTML page: small pictures on a timeline, and everything that is recorded under them.

The page loads nothing from anywhere, so the file can be sent as it is. Whatever comes out of a video or a
model is text on it, never markup.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from evoharness.memory.nodes import node_of, records_of
from evoharness.memory.thumbnails import Picture, Thumbnails
from evoharness.memory.transcripts import cues_of
from evoharness.records.interval import Interval
from evoharness.records.memory import Segment, VideoMemory

MOST_PICTURES = 480
"""On one page: two megabytes or so."""
LEAST_MARK = 0.3
"""Percent of the whole that a mark takes at least, on a usual screen."""
STRIP = 16
"""Pictures side by side on the timeline."""
TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
"""Seconds between two marks of the timeline; the first that gives few enough is taken."""
MOST_TICKS = 12
LAST_TICK = 0.96
"""Further right there is no room for what a mark says."""
LANES = {"event": 6, "text": 3}
"""The most marks one above the other."""
HUES = (210, 28, 145, 280, 340, 50, 180, 95)
"""Of the parts of the video, one after the other."""


@dataclass(frozen=True)
class Mark:
    """Something on the timeline."""

    left: float
    """Where it begins, in percent of the whole."""
    width: float
    """How long it is, in percent of the whole."""
    label: str
    title: str = ""
    target: str = ""
    """Id of what is shown when it is clicked."""
    hue: int = 0
    failed: bool = False
    lane: int = 0
    """Counted from the top; marks of the same lane do not overlap, unless there are too few lanes."""


@dataclass(frozen=True)
class Shown:
    """A picture on the page."""

    time: float
    clock: str
    url: str


@dataclass(frozen=True)
class Line:
    """A record on the page."""

    clock: str
    time: float
    kind: str
    text: str
    more: str


@dataclass(frozen=True)
class Card:
    """A segment on the page."""

    segment: Segment
    clock: str
    hue: int
    pictures: tuple[Shown, ...]
    lines: tuple[Line, ...]
    spoken: tuple[Line, ...]
    relations: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Chapter:
    """A super event on the page, or segments that belong to none."""

    id: str
    label: str
    description: str
    clock: str
    hue: int
    cards: tuple[Card, ...]


def render_page(memory: VideoMemory, thumbnails: Thumbnails, title: str) -> str:
    """The page of a memory; `title`: what to call the video."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("evoharness.memory").joinpath("page.html.j2").read_text(encoding="utf-8")
    chapters = _chapters(memory, _pictures(memory, thumbnails))
    shown = [picture for chapter in chapters for card in chapter.cards for picture in card.pictures]
    shown.sort(key=lambda picture: picture.time)
    cards = sorted(
        (card for chapter in chapters for card in chapter.cards), key=lambda c: c.segment.interval.start
    )
    return environment.from_string(source).render(
        title=title,
        memory=memory,
        facts=_facts(memory),
        ticks=_ticks(memory.duration),
        parts=[_part(memory, chapter) for chapter in chapters if chapter.id],
        segments=[_segment(memory, card) for card in cards],
        moments=_moments(memory),
        strip=_strip(shown, memory.duration),
        chapters=chapters,
    )


def clock(seconds: float) -> str:
    """`1:05.2`, `1:02:03.4`; whole seconds without a fraction."""
    tenths = max(0, round(seconds * 10))
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    told = f"{rest // 10:02d}" + (f".{rest % 10}" if rest % 10 else "")
    return f"{hours}:{minutes:02d}:{told}" if hours else f"{minutes}:{told}"


def span_text(interval: Interval) -> str:
    """`1:05.2–1:20`, or one time for an instant."""
    start, end = clock(interval.start), clock(interval.end)
    return start if start == end else f"{start}–{end}"


def _facts(memory: VideoMemory) -> list[tuple[str, str]]:
    segments, report = memory.segments, memory.report
    counts = [
        ("segment", "segments", len(segments)),
        ("part", "parts", len(memory.super_events)),
        ("event", "events", sum(len(s.events) for s in segments)),
        ("entity", "entities", sum(len(s.entities) for s in segments)),
        ("text", "texts", sum(len(s.texts) for s in segments)),
        ("relation", "relations", sum(len(s.relations) for s in segments)),
        ("frame looked at", "frames looked at", report.frames),
        ("failed segment", "failed segments", len(report.failed_segments)),
    ]
    told = [(one if count == 1 else many, f"{count:,}") for one, many, count in counts if count]
    return [("length", clock(memory.duration)), *told]


def _pictures(memory: VideoMemory, thumbnails: Thumbnails) -> dict[str, tuple[Shown, ...]]:
    """Segment id → pictures, evenly thinned so that the page stays small."""
    each = max(1, MOST_PICTURES // max(1, len(memory.segments)))
    found = {}
    for segment in memory.segments:
        pictures = thumbnails.segments.get(segment.id, ())
        count = min(each, len(pictures))
        chosen = [pictures[number * len(pictures) // count] for number in range(count)]
        found[segment.id] = tuple(_shown(picture) for picture in chosen)
    return found


def _shown(picture: Picture) -> Shown:
    return Shown(picture.time, clock(picture.time), f"data:image/jpeg;base64,{picture.jpeg}")


def _chapters(memory: VideoMemory, pictures: Mapping[str, tuple[Shown, ...]]) -> list[Chapter]:
    """Super events in order of time; segments that belong to none follow them."""
    segments = {segment.id: segment for segment in memory.segments}
    names = _names(memory)
    chapters = []
    for number, event in enumerate(memory.super_events):
        hue = HUES[number % len(HUES)]
        members = [segments.pop(name) for name in event.segment_ids if name in segments]
        cards = tuple(_card(segment, hue, pictures, names) for segment in members)
        clock_text = span_text(event.interval)
        chapters.append(Chapter(event.id, event.label, event.description, clock_text, hue, cards))
    if segments:
        cards = tuple(_card(segment, 0, pictures, names) for segment in segments.values())
        chapters.append(Chapter("", "Segments outside all parts", "", "", 0, cards))
    return chapters


def _card(
    segment: Segment, hue: int, pictures: Mapping[str, tuple[Shown, ...]], names: Mapping[str, str]
) -> Card:
    lines = []
    for record in records_of(segment):
        node = node_of(record, segment)
        more = getattr(record, "spatial_hint", "") or (record.description if node.kind == "text" else "")
        start = node.interval.start
        lines.append(Line(span_text(node.interval), start, node.kind, node.text, more))
    spoken = tuple(
        Line(clock(cue.start), cue.start, "said", cue.text, "") for cue in cues_of(segment.transcript)
    )
    relations = tuple(
        (
            names.get(edge.source, edge.source),
            edge.kind.value.replace("_", " "),
            names.get(edge.target, edge.target),
        )
        for edge in segment.relations
    )
    lines.sort(key=lambda line: line.time)
    return Card(
        segment, span_text(segment.interval), hue, pictures[segment.id], tuple(lines), spoken, relations
    )


def _names(memory: VideoMemory) -> dict[str, str]:
    """Node id → a few words for it."""
    return {
        record.id: f"{_short(node_of(record, segment).text)} ({record.id})"
        for segment in memory.segments
        for record in records_of(segment)
    }


def _part(memory: VideoMemory, chapter: Chapter) -> Mark:
    event = next(event for event in memory.super_events if event.id == chapter.id)
    left, width = _place(event.interval, memory.duration)
    return Mark(left, width, chapter.label, f"{chapter.clock}  {chapter.label}", chapter.id, chapter.hue)


def _segment(memory: VideoMemory, card: Card) -> Mark:
    segment = card.segment
    left, width = _place(segment.interval, memory.duration)
    failed = segment.status == "failed"
    return Mark(
        left, width, segment.id, f"{card.clock}  {segment.summary}", segment.id, card.hue, failed=failed
    )


def _moments(memory: VideoMemory) -> list[Mark]:
    """Events and, below them, visible texts, as marks without a label."""
    marks = []
    ends = {kind: [-1.0] * lanes for kind, lanes in LANES.items()}
    for segment in memory.segments:
        for record in records_of(segment):
            node = node_of(record, segment)
            if node.kind == "entity":
                continue
            left, width = _place(node.interval, memory.duration)
            title = f"{span_text(node.interval)}  {node.text}"
            taken = ends[node.kind]
            lane = next((n for n, end in enumerate(taken) if end <= left), taken.index(min(taken)))
            taken[lane] = left + max(width, LEAST_MARK)
            below = LANES["event"] if node.kind == "text" else 0
            marks.append(Mark(left, width, node.kind, title, segment.id, lane=below + lane))
    return marks


def _ticks(duration: float) -> list[Mark]:
    step = next((step for step in TICKS if duration / step <= MOST_TICKS), TICKS[-1])
    count = min(1000, int(LAST_TICK * duration // step))
    return [Mark(100 * n * step / duration, 0, clock(n * step)) for n in range(count + 1)] if duration else []


def _strip(shown: Sequence[Shown], duration: float) -> list[Shown]:
    """The pictures nearest to the middles of equal stretches of the whole video."""
    times = [picture.time for picture in shown]
    strip = []
    for number in range(min(STRIP, len(shown))):
        middle = duration * (number + 0.5) / min(STRIP, len(shown))
        at = bisect_left(times, middle)
        near = [n for n in (at - 1, at) if 0 <= n < len(times)]
        strip.append(shown[min(near, key=lambda n: abs(times[n] - middle))])
    return strip


def _place(interval: Interval, duration: float) -> tuple[float, float]:
    if duration <= 0:
        return 0.0, 100.0
    left = min(100.0, 100 * interval.start / duration)
    return round(left, 3), round(min(100.0 - left, 100 * interval.duration / duration), 3)


def _short(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else text[:longest].rstrip() + "…"
