"""Remarks about texts: what is shown, where, and beside what."""

from collections.abc import Sequence

from evoharness.models.embedded.percepts import Box, Thing, centre
from evoharness.models.embedded.places import gap, place, relation
from evoharness.models.embedded.remarks import Remark, Timeline
from evoharness.models.embedded.tracking import TextTrack, ThingTrack


def text_remarks(
    texts: Sequence[TextTrack], things: Sequence[ThingTrack], timeline: Timeline
) -> list[Remark]:
    """One remark for each text, with its place; labels name the thing they belong to."""
    beside: dict[int, list[tuple[str, Thing]]] = {}
    for track in things:
        name = f"{track.colour} {track.shape}"
        for index, thing in zip(track.frames, track.things, strict=True):
            beside.setdefault(index, []).append((name, thing))
    remarks = []
    for text in texts:
        middle = len(text.frames) // 2
        if not text.text:
            remarks.append(_unreadable(text, beside.get(text.frames[len(text.frames) // 2], []), timeline))
            continue
        kind, where, owner = _role(text.box, beside.get(text.frames[middle], []))
        brief = " briefly" if timeline.brief(text.frames[0], text.frames[-1]) else ""
        quoted = text.text.replace('"', "'")
        sentence = f'the {kind} "{quoted}" is{brief} shown {where}'
        weight = {"title": 0.95, "heading": 0.85, "caption": 0.8, "text": 0.7, "label": 0.65}[kind.split()[0]]
        parts = (f'the {kind} "{quoted}"', f"is shown {where}", owner)
        remarks.append(timeline.remark("text", (text.frames[0], text.frames[-1]), sentence, weight, parts))
    return remarks


def _unreadable(text: TextTrack, things: Sequence[tuple[str, Thing]], timeline: Timeline) -> Remark:
    kind, where, owner = _role(text.box, things)
    noun = "label" if kind.startswith("label") else "text"
    parts = (f"small {noun}", f"is shown {where}", owner)
    sentence = f"a small {noun} that is too small to read is shown {where}"
    return timeline.remark("unread", (text.frames[0], text.frames[-1]), sentence, 0.35, parts)


def _role(box: Box, things: Sequence[tuple[str, Thing]]) -> tuple[str, str, str]:
    """What kind of text it is, where it is, and the name of the thing it labels."""
    height, (x, y) = box[3] - box[1], centre(box)
    nearest = min(things, key=lambda item: gap(box, item[1].box), default=None)
    if nearest is not None and height < 0.075:
        name, thing = nearest
        size = max(thing.box[3] - thing.box[1], 0.04)
        word = (
            relation(box, thing.box)
            .replace("to the left of", "left of")
            .replace("to the right of", "right of")
        )
        if word and gap(box, thing.box) < min(0.09, 0.7 * size + 0.02) and y < 0.86:
            word = {"left of": "to the left of", "right of": "to the right of"}.get(word, word)
            return "label text", f"{word} the {name} {place(box)}", name
    if y > 0.78 and height < 0.09:
        return "caption text", "at the bottom", ""
    if height > 0.075 or (not things and 0.3 < y < 0.7 and 0.3 < x < 0.7 and height > 0.05):
        return "title text", place(box), ""
    if y < 0.16:
        return "heading text", place(box), ""
    return "text", place(box), ""
