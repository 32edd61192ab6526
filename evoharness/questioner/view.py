"""A memory as the forms see it: what can be named, with every interval at which it is there.

Texts that were read several times, and events that were reported several times, become one item with
several occurrences; so counting, uniqueness and "never shown then" are answered from the whole memory.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from evoharness.questioner import english
from evoharness.records.interval import Interval, merged
from evoharness.records.memory import Entity, EntityKind, Event, Segment, VideoMemory, VisibleText

TEXT = "text"
EVENT = "event"
SLACK_S = 2.0
"""How far a recorded border may lie from the true one: a describer at 0.5 fps sees every 2 s."""
APART_S = 2.0
"""Starts that differ by less are not ordered: both may lie between the same two samples at 0.5 fps."""
REREAD_S = 4.5
"""Readings of one text that lie no further apart are one showing: two missed samples at 0.5 fps."""
FLEETING_S = 2.0
"""In view for no longer than this is fleeting: a look every second or two may miss it."""
SAME_VISIT_S = 10.0
"""Events of one actor that lie no further apart belong to one stay in view."""
REPEAT_S = 1.0
"""Reports of one event that lie no further apart are one happening."""


@dataclass(frozen=True)
class Item:
    """A visible text or an event, with all its occurrences."""

    kind: str
    """`text` or `event`."""
    name: str
    """The words of the text, or the clause of the event (`the red circle enters from the left`)."""
    intervals: tuple[Interval, ...]
    """Occurrences in order of time, merged."""
    ids: tuple[str, ...]
    """Records it was made of."""
    segments: tuple[str, ...]
    """Ids of the segments of its records, in order."""
    subject: str = ""
    """Noun phrase of an event's actor."""
    predicate: str = ""
    """What the actor does, in the present tense."""
    event_kind: str = ""
    """The describer's class of event."""
    description: str = ""
    """The describer's sentence about it."""
    in_view: float = math.inf
    """Seconds for which the text, or the actor around its event, is in view as far as records tell."""

    @property
    def fleeting(self) -> bool:
        """Whether it is gone before a sparse look would come by."""
        return self.in_view <= FLEETING_S

    @property
    def interval(self) -> Interval:
        """The first occurrence."""
        return self.intervals[0]

    @property
    def start(self) -> float:
        """Start of the first occurrence, in seconds."""
        return self.intervals[0].start

    @property
    def once(self) -> bool:
        """Whether it occurs a single time."""
        return len(self.intervals) == 1

    @property
    def seconds(self) -> float:
        """How long it lasts in total."""
        return sum(interval.duration for interval in self.intervals)

    def near(self, interval: Interval, slack: float = SLACK_S) -> bool:
        """Whether some occurrence lies within `slack` seconds of the interval."""
        return any(
            own.start - slack <= interval.end and interval.start - slack <= own.end for own in self.intervals
        )


@dataclass(frozen=True)
class Thing:
    """An entity, with every segment that records it under that name."""

    name: str
    """Noun phrase, without an article."""
    kind: EntityKind
    records: tuple[Entity, ...]
    segments: tuple[str, ...]

    @property
    def first_seen(self) -> float:
        """Seconds from the start of the video."""
        return min(record.first_seen for record in self.records)

    @property
    def ids(self) -> tuple[str, ...]:
        """Records it was made of."""
        return tuple(record.id for record in self.records)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute that some record gives."""
        return tuple(dict.fromkeys(word for record in self.records for word in record.attributes))


@dataclass
class _Group:
    names: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    texts: list[VisibleText] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)


class MemoryView:
    """Reads one memory; nothing in it is trusted to be filled in or well written."""

    def __init__(self, memory: VideoMemory) -> None:
        self.memory = memory
        self.duration = memory.duration
        self.segments: tuple[Segment, ...] = tuple(s for s in memory.segments if s.status == "described")
        self._of_actor: dict[str, tuple[Item, ...]] = {}
        self._segments = {segment.id: segment for segment in self.segments}

    def segment(self, segment_id: str) -> Segment:
        """The described segment of that id."""
        return self._segments[segment_id]

    @cached_property
    def texts(self) -> tuple[Item, ...]:
        """Every readable text, in order of its first showing; readings of the same words are one item."""
        groups: list[_Group] = []
        exact: dict[str, _Group] = {}
        for segment in self.segments:
            for record in segment.texts:
                name = english.clean(record.text)
                if not readable(name):
                    continue
                folded = english.fold(name)
                group = exact.get(folded) or next((g for g in groups if _slip(g, name, record)), None)
                if group is None:
                    group = exact[folded] = _Group()
                    groups.append(group)
                group.names.append(name)
                group.texts.append(record)
                group.segments.append(segment.id)
        return _in_order(
            Item(
                kind=TEXT,
                name=max(dict.fromkeys(group.names), key=group.names.count),
                intervals=tuple(merged([t.interval for t in group.texts], gap=REREAD_S)),
                ids=tuple(t.id for t in group.texts),
                segments=tuple(dict.fromkeys(group.segments)),
                description=english.clean(next((t.description for t in group.texts if t.description), "")),
                in_view=min(t.interval.duration for t in group.texts),
            )
            for group in groups
        )

    @cached_property
    def events(self) -> tuple[Item, ...]:
        """All that happens and can be told in a clause, in order, but for what only reports a text."""
        return tuple(item for item in self._told if not is_state(item.name))

    @cached_property
    def states(self) -> tuple[Item, ...]:
        """What is so for a while rather than happens: `three cups are visible`."""
        return tuple(item for item in self._told if is_state(item.name))

    @cached_property
    def _told(self) -> tuple[Item, ...]:
        groups: dict[tuple[str, ...], _Group] = {}
        for segment in self.segments:
            for event in segment.events:
                subject, predicate = clause_of(event)
                name = f"{subject} {predicate}".strip()
                if not predicate or not 2 <= len(english.tokens(name)) <= 18 or self._reports_text(name):
                    continue
                group = groups.setdefault(english.content(name), _Group())
                group.names.append(name)
                group.events.append(event)
                group.segments.append(segment.id)
        items = []
        for group in groups.values():
            subject, predicate = clause_of(group.events[0])
            items.append(
                Item(
                    kind=EVENT,
                    name=f"{subject} {predicate}".strip(),
                    intervals=tuple(merged([e.interval for e in group.events], gap=REPEAT_S)),
                    ids=tuple(e.id for e in group.events),
                    segments=tuple(dict.fromkeys(group.segments)),
                    subject=subject,
                    predicate=predicate,
                    event_kind=english.clean(group.events[0].kind).casefold(),
                    description=english.clean(group.events[0].description),
                )
            )
        return _in_order(_with_stays(items))

    @cached_property
    def _by_subject(self) -> dict[str, list[Item]]:
        found: dict[str, list[Item]] = {}
        for event in self.events:
            if event.subject:
                found.setdefault(event.subject, []).append(event)
        return found

    def of_actor(self, subject: str) -> tuple[Item, ...]:
        """The events of that actor, and of every actor whose name could mean it."""
        if subject not in self._of_actor:
            self._of_actor[subject] = tuple(
                event
                for name, events in self._by_subject.items()
                if name == subject or english.confusable(name, subject)
                for event in events
            )
        return self._of_actor[subject]

    @cached_property
    def things(self) -> tuple[Thing, ...]:
        """Entities by name, in order of first sight."""
        groups: dict[tuple[str, ...], list[tuple[Entity, str]]] = {}
        for segment in self.segments:
            for entity in segment.entities:
                name = bare(entity.name)
                if name and len(english.tokens(name)) <= 8 and not self._reports_text(entity.name):
                    groups.setdefault(english.tokens(name), []).append((entity, segment.id))
        things = [
            Thing(
                name=bare(found[0][0].name),
                kind=found[0][0].kind,
                records=tuple(entity for entity, _ in found),
                segments=tuple(dict.fromkeys(segment for _, segment in found)),
            )
            for found in groups.values()
        ]
        return tuple(sorted(things, key=lambda thing: (thing.first_seen, thing.name)))

    @cached_property
    def anchors(self) -> tuple[Item, ...]:
        """Texts and events that happen once and whose name can mean nothing else in this memory."""
        return tuple(item for item in (*self.texts, *self.events) if item.once and not self.ambiguous(item))

    def ambiguous(self, item: Item) -> bool:
        """Whether the item's name could also be said of another item."""
        return item.ids[0] in self._ambiguous

    @cached_property
    def _ambiguous(self) -> frozenset[str]:
        found = set()
        for items in (self.texts, self.events):
            words = [english.content(item.name) for item in items]
            vague = [english.specific(w) for w in words]
            bags = [frozenset(w) for w in vague]
            for i, item in enumerate(items):
                for j, other in enumerate(items):
                    if i == j:
                        continue
                    if item.kind == TEXT:
                        doubtful = _padded(words[i]) in _padded(words[j]) or english.same_words(
                            item.name, other.name
                        )
                    else:
                        doubtful = bags[i] <= bags[j] and english.contains_in_order(words[j], vague[i])
                    if doubtful:
                        found.add(item.ids[0])
                        break
        return frozenset(found)

    def _reports_text(self, name: str) -> bool:
        """Whether a clause or an entity name quotes a recorded text: the text itself is the better item."""
        said = _padded(english.content(name))
        return any(words in said for words in self._long_texts)

    @cached_property
    def _long_texts(self) -> tuple[str, ...]:
        names = (english.clean(t.text) for segment in self.segments for t in segment.texts)
        words = (english.content(name) for name in names if readable(name))
        return tuple(dict.fromkeys(_padded(w) for w in words if len(w) >= 2))

    def segments_of(self, thing: Thing) -> tuple[str, ...]:
        """Ids of the segments that record the thing, or an event of it or of something of that name."""
        acting = [s for e in self.events if english.contains_words(e.name, thing.name) for s in e.segments]
        return tuple(dict.fromkeys((*thing.segments, *acting)))

    def segments_in(self, interval: Interval) -> tuple[str, ...]:
        """Ids of the segments that share more than an instant with the interval, or else touch it."""
        touching = [s for s in self.segments if s.interval.overlaps(interval)]
        inside = [
            s
            for s in touching
            if min(s.interval.end, interval.end) - max(s.interval.start, interval.start) > 0
        ]
        return tuple(s.id for s in inside or touching[-1:])


def _with_stays(items: Sequence[Item]) -> list[Item]:
    """Events with the shortest stay of their actor around them: its events that follow each other closely."""
    moments: dict[str, list[Interval]] = {}
    for item in items:
        moments.setdefault(item.subject, []).extend(item.intervals)
    stays = {
        subject: merged(intervals, gap=SAME_VISIT_S) for subject, intervals in moments.items() if subject
    }
    return [
        replace(
            item,
            in_view=min(
                (stay.duration for stay in stays.get(item.subject, ()) if stay.overlaps(item.interval)),
                default=math.inf,
            ),
        )
        for item in items
    ]


def _slip(group: _Group, name: str, record: VisibleText) -> bool:
    """Whether a reading is one of the group's text with a letter misread: alike, and not far in time."""
    return english.same_words(group.names[0], name) and any(
        t.interval.start - REREAD_S <= record.interval.end
        and record.interval.start - REREAD_S <= t.interval.end
        for t in group.texts
    )


def _padded(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def readable(text: str) -> bool:
    """Whether a text that was read is fit for a question: 4 to 70 characters, mostly letters and digits,
    with a word of at least 3 letters (or 2 of a script without spaces)."""
    signs = sum(c.isalnum() or c.isspace() for c in text)
    longest = max((sum(c.isalpha() for c in word) for word in text.split()), default=0)
    if not text.isascii() and longest >= 2 and len(text) >= 2:
        return len(text) <= 70 and signs >= 0.75 * len(text)
    return 4 <= len(text) <= 70 and longest >= 3 and signs >= 0.75 * len(text)


_STATE = re.compile(r"\b(?:is|are|can be|remains?|stays?) (?:visible|seen|shown|present|on screen|in view)\b")


def is_state(clause: str) -> bool:
    """Whether a clause says that something is there, rather than that something happens."""
    return _STATE.search(clause) is not None


def bare(name: str) -> str:
    """A cleaned entity name without its article."""
    phrase = english.clean(name)
    first, _, rest = phrase.partition(" ")
    return rest if first.casefold() in {"a", "an", "the"} and rest else phrase


def clause_of(event: Event) -> tuple[str, str]:
    """Subject and predicate of an event; ("", "") when the record says too little."""
    subject, action = english.clean(event.subject), english.clean(event.action)
    if subject and action:
        phrase = english.noun_phrase(subject)
        own, told = english.content(subject), english.content(action)
        if own and told[: len(own)] == own and len(told) > len(own):
            action = " ".join(action.split()[-(len(told) - len(own)) :])
        elif english.contains_words(action, subject):
            return "", english.lower_first(action)
        predicate = english.predicate_of(action, phrase)
        target = english.clean(event.object)
        if target and not english.contains_words(predicate, target):
            predicate = f"{predicate} {english.noun_phrase(target)}"
        return phrase, predicate
    words = english.clean(event.description)
    if 3 <= len(english.tokens(words)) <= 16 and "." not in words:
        return "", english.lower_first(words)
    return "", ""


def _in_order(items: Iterator[Item] | Sequence[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items, key=lambda item: (item.start, item.interval.end, item.name)))
