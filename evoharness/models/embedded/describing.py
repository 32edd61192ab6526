"""What frames show, in English: from percepts in order of time to remarks.

Everything said is about the frames handed over. What would have happened between two of them is not known,
and an object that shows up in a single frame is said to be seen briefly.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evoharness.models.embedded.describing_pairs import pair_remarks, with_causes
from evoharness.models.embedded.describing_texts import text_remarks
from evoharness.models.embedded.describing_things import thing_remarks
from evoharness.models.embedded.percepts import Percept
from evoharness.models.embedded.remarks import Remark, Timeline
from evoharness.models.embedded.tracking import TextTrack, ThingTrack, track_texts, track_things
from evoharness.records.interval import Interval

MOST_THINGS = 160
"""Tracks of things that are described, the most lasting and largest ones."""


@dataclass(frozen=True)
class Scene:
    """What a sequence of frames shows."""

    remarks: tuple[Remark, ...]
    """In order of time."""
    texts: tuple[TextTrack, ...]
    things: tuple[ThingTrack, ...]
    timeline: Timeline


def describe(percepts: Sequence[Percept], times: Sequence[float], span: Interval) -> Scene:
    """Everything that can be said about frames, given their percepts and times in order."""
    timeline = Timeline(times, span)
    texts = track_texts(percepts)
    things = _worth_telling(track_things(percepts, times))
    remarks: list[Remark] = []
    remarks += text_remarks(texts, things, timeline)
    for track in things:
        remarks += thing_remarks(track, timeline, len(times))
    remarks += _counts(things, timeline)
    remarks += pair_remarks(things, timeline)
    remarks = with_causes(remarks)
    remarks += _repetitions(remarks)
    remarks += _backgrounds(percepts, timeline)
    ordered = sorted(set(remarks), key=lambda remark: (remark.start, remark.end, remark.text))
    return Scene(tuple(ordered), tuple(texts), tuple(things), timeline)


def _worth_telling(tracks: list[ThingTrack]) -> list[ThingTrack]:
    if len(tracks) <= MOST_THINGS:
        return tracks
    ranked = sorted(range(len(tracks)), key=lambda i: (-len(tracks[i].frames), -tracks[i].things[0].area, i))
    return [tracks[index] for index in sorted(ranked[:MOST_THINGS])]


def _counts(tracks: Sequence[ThingTrack], timeline: Timeline) -> list[Remark]:
    """How many things of one name, and of one shape, are visible at once."""
    frames = range(len(timeline.times))
    visible: list[Counter[tuple[str, str]]] = [Counter() for _ in frames]
    for track in tracks:
        shape = track.shape
        for index, thing in zip(track.frames, track.things, strict=True):
            colour = thing.colour
            visible[index][(colour, shape)] += 1
    remarks = []
    names = sorted({name for counter in visible for name, number in counter.items() if number > 1})
    for colour, shape in names:
        series = [counter[(colour, shape)] for counter in visible]
        for first, last, number in _runs(series):
            if number > 1:
                text = f"{number} {colour} {shape}s are visible"
                remarks.append(
                    timeline.remark("count", (first, last), text, 0.5, (f"{colour} {shape}s", text, ""))
                )
    shapes = sorted({shape for counter in visible for _, shape in counter})
    for shape in shapes:
        series = [sum(n for (_, s), n in counter.items() if s == shape) for counter in visible]
        for first, last, number in _runs(series):
            colours = {c: n for (c, s), n in sorted(visible[first].items()) if s == shape}
            if number > 1 and len(colours) > 1:
                listed = ", ".join(f"{n} {c}" for c, n in colours.items())
                text = f"{number} {shape}s are visible: {listed}"
                remarks.append(timeline.remark("count", (first, last), text, 0.4, (f"{shape}s", text, "")))
    return remarks


def _runs(series: Sequence[int]) -> list[tuple[int, int, int]]:
    """(first, last, value) of each stretch of equal values."""
    runs: list[tuple[int, int, int]] = []
    for index, value in enumerate(series):
        if runs and runs[-1][2] == value:
            runs[-1] = (runs[-1][0], index, value)
        else:
            runs.append((index, index, value))
    return runs


_REPEATED = {
    "presence": ("is seen", 0.55),
    "text": ("is shown", 0.55),
    "change": ("", 0.5),
    "motion": ("", 0.35),
    "contact": ("", 0.4),
}


def _repetitions(remarks: Sequence[Remark]) -> list[Remark]:
    """What happens more than once."""
    groups: dict[tuple[str, str, str], list[Remark]] = defaultdict(list)
    for remark in remarks:
        if remark.kind in _REPEATED and remark.subject:
            action = remark.action if remark.kind in ("change", "motion", "contact") else ""
            groups[(remark.kind, remark.subject, action)].append(remark)
    repeated = []
    for (kind, subject, action), members in groups.items():
        if len(members) < 2:
            continue
        verb, weight = _REPEATED[kind]
        start, end = min(r.start for r in members), max(r.end for r in members)
        verb = verb or action
        subject_words = subject if kind != "presence" else f"a {subject}"
        text = f"{subject_words} {verb} {len(members)} times"
        repeated.append(
            Remark("repetition", start, end, text, weight, subject, f"{verb} {len(members)} times")
        )
    return repeated


def _backgrounds(percepts: Sequence[Percept], timeline: Timeline) -> list[Remark]:
    remarks = []
    for index in range(1, len(percepts)):
        before, now = percepts[index - 1].background, percepts[index].background
        if before and now and before != now:
            text = f"the background turns from {before} to {now}"
            parts = ("background", f"turns from {before} to {now}", "")
            remarks.append(timeline.change("change", index, text, 0.3, parts))
    return remarks
