"""Remarks about one thing: that it is there, comes, goes, moves, and changes colour or size."""

from itertools import pairwise
from math import log
from statistics import median

from evoharness.models.embedded.percepts import Thing, centre
from evoharness.models.embedded.places import direction, place, place_words, side, size_word
from evoharness.models.embedded.remarks import Remark, Timeline
from evoharness.models.embedded.shapes import UNKNOWN
from evoharness.models.embedded.tracking import ThingTrack

STILL = 0.012
"""Way from frame to frame, in widths or heights, below which a thing stands still."""
MOVED = 0.06
"""Least way of a motion worth telling."""
STEADY = 0.04
"""Logarithm of the ratio of areas from frame to frame below which a thing keeps its size."""
GROWN = 1.5
"""Least ratio of areas of a change of size worth telling."""


def thing_subject(track: ThingTrack) -> str:
    """What to call it, without an article."""
    return f"{track.colour} {track.shape}"


def name_at(track: ThingTrack, position: int) -> str:
    """What to call it as it looked at one position of its track, without an article."""
    for first, last, colour in track.stretches:
        if first <= position <= last:
            return f"{colour} {track.shape}"
    return thing_subject(track)


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def thing_remarks(track: ThingTrack, timeline: Timeline, frames: int) -> list[Remark]:
    """Everything about one thing."""
    value = 0.3 if track.shape == UNKNOWN else 0.6
    colours = track.stretches
    first_name = f"{colours[0][2]} {track.shape}"
    last_name = f"{colours[-1][2]} {track.shape}"
    whole = [thing for thing in track.things if not thing.cut] or track.things
    area = median(thing.area for thing in whole)
    remarks = []
    first, last = track.frames[0], track.frames[-1]
    brief = " briefly" if timeline.brief(first, last) else ""
    sized = f"{size_word(area)}{first_name}"
    places = list(dict.fromkeys(place(thing.box) for thing in track.things))
    where = places[0] if len(places) == 1 else "visible"
    text = f"{_article(sized)} {sized} is{brief} {where}"
    remarks.append(timeline.remark("presence", (first, last), text, value, (first_name, "is seen", "")))
    if first > 0:
        action = _coming(track)
        text = f"{_article(first_name)} {first_name} {action}"
        remarks.append(timeline.change("appearance", first, text, value + 0.15, (first_name, action, "")))
    if last < frames - 1:
        action = _going(track)
        text = f"the {last_name} {action}"
        remarks.append(timeline.change("departure", last + 1, text, value + 0.1, (last_name, action, "")))
    remarks += _motions(track, timeline, value)
    for (_, _, old), (start, _, new) in pairwise(colours):
        action = f"turns {new}"
        text = f"the {old} {track.shape} {action}"
        parts = (f"{old} {track.shape}", action, "")
        remarks.append(timeline.change("change", track.frames[start], text, value + 0.3, parts))
    remarks += _growth(track, timeline, value)
    return remarks


def _coming(track: ThingTrack) -> str:
    edge = _edge(track.things[0], track.things[1] if len(track.things) > 1 else None)
    return f"enters from the {edge}" if edge else f"appears {place(track.things[0].box)}"


def _going(track: ThingTrack) -> str:
    edge = _edge(track.things[-1], track.things[-2] if len(track.things) > 1 else None)
    return f"leaves to the {edge}" if edge else f"disappears {place(track.things[-1].box)}"


def _edge(outer: Thing, inner: Thing | None) -> str:
    """The edge of the picture that a thing crosses, judged by its outermost view and the one next to it."""
    touched = side(outer.box)
    if touched or inner is None:
        return touched
    (x1, y1), (x2, y2) = centre(outer.box), centre(inner.box)
    dx, dy = x1 - x2, y1 - y2
    if max(abs(dx), abs(dy)) < 0.02:
        return ""
    ahead = (
        outer.box[0] + 1.5 * dx,
        outer.box[1] + 1.5 * dy,
        outer.box[2] + 1.5 * dx,
        outer.box[3] + 1.5 * dy,
    )
    if abs(dx) > abs(dy):
        return "left" if dx < 0 and ahead[0] < 0 else "right" if dx > 0 and ahead[2] > 1 else ""
    return "top" if dy < 0 and ahead[1] < 0 else "bottom" if dy > 0 and ahead[3] > 1 else ""


def _motions(track: ThingTrack, timeline: Timeline, value: float) -> list[Remark]:
    points = [centre(thing.box) for thing in track.things]
    pieces: list[tuple[int, int]] = []
    for position in range(1, len(points)):
        dx, dy = points[position][0] - points[position - 1][0], points[position][1] - points[position - 1][1]
        if max(abs(dx), abs(dy)) < STILL:
            continue
        if pieces and pieces[-1][1] == position - 1:
            start = points[pieces[-1][0]]
            along = (points[position - 1][0] - start[0]) * dx + (points[position - 1][1] - start[1]) * dy
            if along > 0:
                pieces[-1] = (pieces[-1][0], position)
                continue
        pieces.append((position - 1, position))
    remarks = []
    for first, last in pieces:
        name = name_at(track, first)
        (x1, y1), (x2, y2) = points[first], points[last]
        if max(abs(x2 - x1), abs(y2 - y1)) < MOVED:
            continue
        begin, end = (place_words(track.things[index].box) for index in (first, last))
        heading = direction(x2 - x1, y2 - y1)
        way = f", from the {begin} to the {end}" if begin != end else ""
        action = f"moves {heading}{way}"
        frames = (track.frames[first], track.frames[last])
        parts = (name, action, "")
        remarks.append(timeline.during("motion", frames, f"the {name} {action}", value + 0.2, parts))
    return remarks


def _growth(track: ThingTrack, timeline: Timeline, value: float) -> list[Remark]:
    """A lasting change of size, from the whole views alone."""
    whole = [
        (index, thing.area)
        for index, thing in zip(track.frames, track.things, strict=True)
        if not thing.cut and thing.shape == track.shape
    ]
    if len(whole) < 2:
        return []
    runs: list[list[int]] = []
    for position, ((_, before), (_, area)) in enumerate(pairwise(whole), start=1):
        change = log(max(1e-6, area) / max(1e-6, before))
        if abs(change) < STEADY:
            continue
        sign = 1 if change > 0 else -1
        if runs and runs[-1][1] == position - 1 and runs[-1][2] == sign:
            runs[-1][1] = position
        else:
            runs.append([position - 1, position, sign])
    remarks = []
    for first, last, sign in runs:
        if abs(log(max(1e-6, whole[last][1]) / max(1e-6, whole[first][1]))) < log(GROWN):
            continue
        action = "grows larger" if sign > 0 else "shrinks"
        name = name_at(track, track.frames.index(whole[last][0]))
        frames = (whole[first][0], whole[last][0])
        parts = (name, action, "")
        remarks.append(timeline.during("change", frames, f"the {name} {action}", value + 0.15, parts))
    return remarks
