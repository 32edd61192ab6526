"""Remarks about two things: how they lie to each other, and that one touches the other."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import hypot

from evoharness.models.embedded.describing_things import name_at
from evoharness.models.embedded.percepts import Thing, centre
from evoharness.models.embedded.places import gap, relation
from evoharness.models.embedded.remarks import Remark, Timeline
from evoharness.models.embedded.tracking import ThingTrack

MOST = 8
"""Things between which relations are told, in one frame."""
TOUCHING, APART = 0.035, 0.07
"""Gap, in heights of the picture, below which two things touch and above which they are apart."""


def pair_remarks(tracks: Sequence[ThingTrack], timeline: Timeline) -> list[Remark]:
    """How things that are visible together lie to each other, told once for each stretch it stays so."""
    present: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, track in enumerate(tracks):
        for position, index in enumerate(track.frames):
            present[index].append((number, position))
    going: dict[tuple[str, str, str], list[int]] = {}
    done: list[tuple[tuple[str, str, str], list[int]]] = []
    apart: dict[tuple[int, int], bool] = {}
    remarks: list[Remark] = []
    for index in range(len(timeline.times)):
        found = set()
        for (one, first), (two, second) in combinations(present.get(index, [])[:MOST], 2):
            names = (name_at(tracks[one], first), name_at(tracks[two], second))
            views = (tracks[one].things[first], tracks[two].things[second])
            word = _relation(*views)
            if word and names[0] != names[1]:
                found.add((names[0], names[1], word))
            between = gap(views[0].box, views[1].box)
            if between < TOUCHING and apart.get((one, two)):
                remarks.append(_contact(tracks, (one, first), (two, second), index, timeline))
            if between < TOUCHING or between > APART:
                apart[(one, two)] = between > APART
        for key in [key for key in going if key not in found]:
            done.append((key, going.pop(key)))
        for key in found:
            going.setdefault(key, [index, index])[1] = index
    done += list(going.items())
    for (subject, target, word), (start, end) in done:
        weight = 0.3 if word.startswith("next") else 0.2
        text = f"the {subject} is {word} the {target}"
        remarks.append(
            timeline.remark("relation", (start, end), text, weight, (subject, f"is {word}", target))
        )
    return remarks


def _relation(one: Thing, two: Thing) -> str:
    word = relation(one.box, two.box)
    if not word or word == "inside":
        return word
    size = max(one.box[3] - one.box[1], two.box[3] - two.box[1])
    return f"next to and {word}" if gap(one.box, two.box) < 0.6 * size else word


def _contact(
    tracks: Sequence[ThingTrack],
    one: tuple[int, int],
    two: tuple[int, int],
    index: int,
    timeline: Timeline,
) -> Remark:
    """The one that moved more touches the other."""
    mover, other = sorted((one, two), key=lambda which: -_way(tracks[which[0]], which[1]))
    subject, target = name_at(tracks[mover[0]], mover[1]), name_at(tracks[other[0]], max(0, other[1] - 1))
    text = f"the {subject} touches the {target}"
    return timeline.change("contact", index, text, 0.75, (subject, f"touches the {target}", target))


def _way(track: ThingTrack, position: int) -> float:
    """How far a thing came since the frame before."""
    (x1, y1), (x2, y2) = (centre(track.things[max(0, position - back)].box) for back in (0, 1))
    return hypot(x1 - x2, y1 - y2)


def with_causes(remarks: Sequence[Remark]) -> list[Remark]:
    """A change at the moment of a touch is told together with it; what caused what is left to the reader."""
    touches = [remark for remark in remarks if remark.kind == "contact"]
    told = []
    for remark in remarks:
        touch = next(
            (
                touch
                for touch in touches
                if remark.kind == "change"
                and touch.object == remark.subject
                and abs(touch.end - remark.end) <= max(0.6, touch.end - touch.start)
            ),
            None,
        )
        if touch is None:
            told.append(remark)
        else:
            text = f"{remark.text} when the {touch.subject} touches it"
            told.append(replace(remark, text=text, object=touch.subject))
    return told
