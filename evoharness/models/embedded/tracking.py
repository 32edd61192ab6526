"""What stays the same from frame to frame: texts and things followed over the frames handed over.

Nothing is assumed between two frames: a track lists the frames in which its text or thing was perceived.
Texts are the same when they read alike at the same place; two readings whose digits differ are never the
same. Things are the same when colour and shape agree and the way between is short, or when one of the two
changes in place.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import hypot
from statistics import median

from evoharness.models.embedded.colours import colour_name
from evoharness.models.embedded.percepts import Box, Percept, Reading, Thing, centre, overlap
from evoharness.models.embedded.shapes import UNKNOWN
from evoharness.models.embedded.spelling import edit_distance

SURE = 0.95
"""Confidence from which a reading is not taken for a misreading."""
RESIZED = 1.35
"""Ratio of heights from which the same words are another text: a title that comes back as a heading."""
MISREAD = 2
"""At most this many letters differ between a text and a misreading of it."""
SPEED = 0.45
"""Fastest motion that is followed, in diagonals of the picture a second."""
FARTHEST = 0.6
"""Longest way between two frames, in diagonals."""
COLOUR_STEP = 55
"""Largest change of a channel below which a colour counts as unchanged."""


@dataclass
class TextTrack:
    """A text over consecutive frames."""

    frames: list[int] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The reading with the most confidence in all."""
        votes: dict[str, float] = {}
        for reading in self.readings:
            votes[reading.text] = votes.get(reading.text, 0.0) + reading.score
        return max(votes, key=lambda text: (votes[text], len(text), text))

    @property
    def box(self) -> Box:
        """Where it is in its middle frame."""
        return self.readings[len(self.readings) // 2].box


@dataclass
class ThingTrack:
    """A thing over the frames in which it is seen; properties are computed once, when it is complete."""

    frames: list[int] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)

    @cached_property
    def shape(self) -> str:
        """The shape it has in most frames, whole views before cut ones."""
        votes = Counter[str]()
        for thing in self.things:
            votes[thing.shape] += 1 if thing.cut else 4 if thing.shape != UNKNOWN else 2
        return max(votes, key=lambda shape: (votes[shape], shape))

    @cached_property
    def colour(self) -> str:
        """The colour it has in most frames."""
        votes = Counter(thing.colour for thing in self.things)
        return max(votes, key=lambda colour: (votes[colour], colour))

    @cached_property
    def stretches(self) -> tuple[tuple[int, int, str], ...]:
        """(first, last, colour name) of the stretches of one measured colour; positions within the track."""
        stretches: list[list[int]] = []
        anchor: tuple[int, int, int] | None = None
        for position, thing in enumerate(self.things):
            if (
                anchor is None
                or max(abs(a - b) for a, b in zip(anchor, thing.rgb, strict=True)) >= COLOUR_STEP
            ):
                stretches.append([position, position])
                anchor = thing.rgb
            stretches[-1][1] = position
        named: list[tuple[int, int, str]] = []
        for first, last in stretches:
            members = self.things[first : last + 1]
            red, green, blue = (int(median(thing.rgb[channel] for thing in members)) for channel in range(3))
            name = colour_name(red, green, blue)
            if named and named[-1][2] == name:
                named[-1] = (named[-1][0], last, name)
            else:
                named.append((first, last, name))
        return tuple(named)


def paragraphs(readings: Sequence[Reading]) -> list[Reading]:
    """Join lines set below each other in one block: a sentence broken over lines is one text."""
    blocks: list[list[Reading]] = []
    for reading in sorted(readings, key=lambda item: (item.box[1], item.box[0])):
        for block in blocks:
            if reading.text and block[-1].text and _continues(block[-1].box, reading.box):
                block.append(reading)
                break
        else:
            blocks.append([reading])
    return [_joined(block) for block in blocks]


def _continues(upper: Box, lower: Box) -> bool:
    high, low = upper[3] - upper[1], lower[3] - lower[1]
    gap = lower[1] - upper[3]
    if not (-0.3 * high < gap < 0.75 * min(high, low)) or max(high, low) > 1.35 * min(high, low):
        return False
    centred = abs(centre(upper)[0] - centre(lower)[0]) < 0.02
    return centred or abs(upper[0] - lower[0]) < 0.012


def _joined(block: list[Reading]) -> Reading:
    if len(block) == 1:
        return block[0]
    box = (
        min(reading.box[0] for reading in block),
        min(reading.box[1] for reading in block),
        max(reading.box[2] for reading in block),
        max(reading.box[3] for reading in block),
    )
    return Reading(" ".join(reading.text for reading in block), box, min(reading.score for reading in block))


def same_text(one: Reading, other: Reading) -> bool:
    """Whether two readings are one text.

    They are when letters and digits agree. A doubtful reading may also be a misreading of the other one: a
    letter or two differ, the digits never do. Two sure readings that differ are two texts, however alike.
    """
    first, second = _plain(one.text), _plain(other.text)
    if first == second:
        return True
    if min(one.score, other.score) >= SURE or _digits(first) != _digits(second):
        return False
    most = min(MISREAD, max(len(first), len(second)) // 6)
    return most > 0 and edit_distance(*sorted((first, second)), most) <= most


@lru_cache(maxsize=65536)
def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def track_texts(percepts: Sequence[Percept]) -> list[TextTrack]:
    """Follow texts over consecutive frames, in order of first sight."""
    tracks: list[TextTrack] = []
    going: list[TextTrack] = []
    for index, percept in enumerate(percepts):
        readings = paragraphs(percept.texts)
        pairs = sorted(
            (_text_distance(track.readings[-1], reading), number, position)
            for number, track in enumerate(going)
            for position, reading in enumerate(readings)
            if _text_distance(track.readings[-1], reading) < 10
        )
        used_tracks: set[int] = set()
        used: set[int] = set()
        for _, number, position in pairs:
            if number in used_tracks or position in used:
                continue
            used_tracks.add(number)
            used.add(position)
            going[number].frames.append(index)
            going[number].readings.append(readings[position])
        going = [track for number, track in enumerate(going) if number in used_tracks]
        for position, reading in enumerate(readings):
            if position not in used:
                started = TextTrack([index], [reading])
                tracks.append(started)
                going.append(started)
    return tracks


def _text_distance(one: Reading, other: Reading) -> float:
    """Small for the same text nearby; 10 for different texts."""
    if not same_text(one, other):
        return 10.0
    (x1, y1), (x2, y2) = centre(one.box), centre(other.box)
    distance = abs(x1 - x2) + abs(y1 - y2)
    low, high = sorted((one.box[3] - one.box[1], other.box[3] - other.box[1]))
    if high > RESIZED * low and one.text:
        return 10.0
    exact = one.text == other.text
    if not exact and distance > 0.2:
        return 10.0
    return distance + (0.0 if exact else 1.0)


def track_things(percepts: Sequence[Percept], times: Sequence[float]) -> list[ThingTrack]:
    """Follow things over the frames, in order of first sight; one missed frame is bridged when hidden."""
    tracks: list[ThingTrack] = []
    candidates: list[ThingTrack] = []
    for index, percept in enumerate(percepts):
        candidates = [track for track in candidates if index - track.frames[-1] <= 2]
        costs = []
        for number, track in enumerate(candidates):
            skipped = index - track.frames[-1] == 2
            if skipped and not _hidden(track.things[-1], percepts[index - 1].things):
                continue
            step = times[index] - times[track.frames[-1]]
            for position, thing in enumerate(percept.things):
                cost = _thing_cost(track, thing, step, times) + (0.5 if skipped else 0.0)
                if cost < 5:
                    costs.append((cost, number, position))
        used_tracks: set[int] = set()
        used: set[int] = set()
        for _, number, position in sorted(costs):
            if number in used_tracks or position in used:
                continue
            used_tracks.add(number)
            used.add(position)
            candidates[number].frames.append(index)
            candidates[number].things.append(percept.things[position])
        started = [
            ThingTrack([index], [thing])
            for position, thing in enumerate(percept.things)
            if position not in used
        ]
        tracks.extend(started)
        candidates.extend(started)
    return tracks


def _hidden(thing: Thing, others: Sequence[Thing]) -> bool:
    return any(overlap(thing.box, other.box) > 0.02 for other in others)


def same_colour(one: Thing, other: Thing) -> bool:
    """Whether two views have the same colour, by name or by measure."""
    if one.colour == other.colour:
        return True
    return max(abs(a - b) for a, b in zip(one.rgb, other.rgb, strict=True)) < COLOUR_STEP


def _thing_cost(track: ThingTrack, thing: Thing, step: float, times: Sequence[float]) -> float:
    """Below 5 when it may be the same thing; smaller is likelier."""
    last = track.things[-1]
    (x1, y1), (x2, y2) = centre(last.box), centre(thing.box)
    still = hypot(x1 - x2, y1 - y2)
    way = still
    if len(track.frames) > 1:
        before = track.things[-2]
        elapsed = max(1e-6, times[track.frames[-1]] - times[track.frames[-2]])
        x0, y0 = centre(before.box)
        ahead_x, ahead_y = x1 + (x1 - x0) * step / elapsed, y1 + (y1 - y0) * step / elapsed
        way = min(still, hypot(ahead_x - x2, ahead_y - y2))
    if way > min(FARTHEST, 0.12 + SPEED * step):
        return 9.0
    colour, shape = same_colour(last, thing), last.shape == thing.shape
    vague = last.cut or thing.cut or UNKNOWN in (last.shape, thing.shape)
    growth = max(last.area, thing.area) / max(1e-6, min(last.area, thing.area))
    if colour and shape and (growth < 2.2 or vague or way < 0.04):
        return way + 0.1 * (growth - 1)
    if colour and (vague or way < 0.08) and growth < 3:
        return way + 1.0
    if shape and growth < 1.5 and way < 0.06:
        return way + 2.0
    if vague and colour and way < 0.15:
        return way + 3.0
    return 9.0
