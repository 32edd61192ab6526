"""When something is there: by the clock, and in which part of the video."""

from collections.abc import Iterator
from itertools import pairwise

from evoharness.questioner import english
from evoharness.questioner.forms.base import TEXT, Craft, Draft, opening
from evoharness.questioner.policy import DistractorMode
from evoharness.questioner.view import SLACK_S, MemoryView
from evoharness.records.question import FineType


def spacing(craft: Craft, duration: float) -> float:
    """Seconds between neighbouring time options: closer for harder distractors, never under 6 s."""
    share = {DistractorMode.FAR: 0.15, DistractorMode.SAME_SEGMENT: 0.08, DistractorMode.NEIGHBOURING: 0.04}
    return max(6.0, share[craft.mode] * duration)


def time_options(craft: Craft, reference: float, duration: float) -> tuple[tuple[str, ...], str] | None:
    """K clock times in order, the reference among them; None when the video is too short for them."""
    step = spacing(craft, duration)
    before_room, after_room = int(reference // step), int((duration - reference) // step)
    places = [
        before
        for before in range(craft.options)
        if before <= before_room and craft.options - 1 - before <= after_room
    ]
    if not places:
        return None
    before = craft.pick(places)
    times = [float(int(reference))]
    for sign, count in ((-1, before), (1, craft.options - 1 - before)):
        at = times[0]
        for left in range(count, 0, -1):
            spare = max(0.0, (at if sign < 0 else duration - at) - left * step)
            at += sign * (step + craft.rng.random() * min(spare, step * 0.8))
            times.append(at)
    options = tuple(english.clock(t) for t in sorted(times))
    return (options, english.clock(reference)) if len(set(options)) == craft.options else None


def when_it_begins(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The time at which a unique text appears, or a unique event happens."""
    for item in craft.brief_first(view.anchors):
        found = time_options(craft, item.start, view.duration)
        if found is None:
            continue
        options, answer = found
        anchor = craft.anchor(view, item)
        asked: tuple[str, ...] = (
            f"At about what time is it that {anchor.appears}?",
            f"When, approximately, is the moment that {anchor.appears}?",
        )
        if item.kind == TEXT and anchor.names == (item.name,):
            asked = (
                f'At about what time does the text "{item.name}" first appear?',
                f'When does "{item.name}" come on screen?',
            )
        elif anchor.names != (item.name,):
            asked = (f"At about what time can you see {anchor.appears.removesuffix(' appears')}?",)
        yield Draft(
            text=craft.pick(asked),
            answer=answer,
            wrong=tuple(o for o in options if o != answer),
            interval=anchor.interval if anchor.names != (item.name,) else opening(item.interval),
            support=anchor.ids,
            fine_type=FineType.SEGMENT_CONTENT,
            ordered=True,
            options=options,
            about=(item.name, "time"),
        )


def in_which_stretch(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The stretch of the video, of K equal ones, in which a unique item lies; well inside its stretch."""
    length = view.duration / craft.options
    if length < 4 * SLACK_S:
        return
    borders = [english.clock(round(n * length)) for n in range(craft.options + 1)]
    options = tuple(f"from {a} to {b}" for a, b in pairwise(borders))
    for item in craft.brief_first(view.anchors):
        number = int(item.start // length)
        low, high = number * length + SLACK_S, (number + 1) * length - SLACK_S
        if number >= craft.options or item.start < low or item.interval.end > high:
            continue
        anchor = craft.anchor(view, item)
        name = f'does the text "{item.name}" appear' if item.kind == TEXT else f"is it that {item.name}"
        if anchor.names != (item.name,):
            name = f"can you see {anchor.appears.removesuffix(' appears')}"
        yield Draft(
            text=craft.pick(
                (f"In which part of the video {name}?", f"In which of these stretches of the video {name}?")
            ),
            answer=options[number],
            wrong=tuple(o for o in options if o != options[number]),
            interval=anchor.interval,
            support=anchor.ids,
            fine_type=FineType.LONG_RANGE_TEMPORAL,
            ordered=True,
            options=options,
            about=(item.name, "part"),
        )
