"""From a timeline to pictures: what is on the screen at each instant, drawn only when it changes."""

from collections.abc import Iterator
from dataclasses import dataclass

from evoharness.samples.canvas import Canvas, Stamp, box_stamp, gradient, shape_stamp, text_stamp
from evoharness.samples.timeline import Backdrop, Happening, Text, Thing, Timeline
from evoharness.samples.vocabulary import COLOURS

FAINT = 75
"""How far small print stands out from its background, in levels of 255."""


@dataclass(frozen=True)
class ThingState:
    """One thing at one instant: centre and radius in fractions, colour by name."""

    shape: str
    colour: str
    x: float
    y: float
    radius: float


def thing_state(thing: Thing, events: tuple[Happening, ...], time: float) -> ThingState | None:
    """How a thing looks at `time`, given its own events in order; None when it is not on the screen."""
    if not any(s.start <= time + 1e-4 and time < s.end - 1e-4 for s in thing.shown):
        return None
    colour, x, y, radius = thing.colour, thing.x, thing.y, thing.radius
    for event in events:
        start, end = event.interval.start, event.interval.end
        if start > time + 1e-4:
            break
        done = 1.0 if end <= start else min(1.0, (time - start) / (end - start))
        if event.kind == "turns" and event.after is not None:
            colour = event.after
        elif event.path is not None:
            x1, y1, x2, y2 = event.path
            x, y = x1 + (x2 - x1) * done, y1 + (y2 - y1) * done
        elif event.radius is not None:
            radius += (event.radius - radius) * done
    return ThingState(thing.shape, colour, x, y, radius)


class Stage:
    """Draws a timeline frame by frame, forward in time.

    `frames()` yields (frame number, planes, changed): the array is the same one each time, valid until
    the next step; `changed` tells whether it differs from the frame before.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._canvas = Canvas(timeline.width, timeline.height)
        self._background = Canvas(timeline.width, timeline.height)
        self._backdrop: Backdrop | None = None
        self._boxes: list[tuple[int, int, int, int]] = []
        self._drawn: object = None
        self._events = {
            thing.id: tuple(
                sorted((e for e in timeline.events if e.thing == thing.id), key=lambda e: e.interval.start)
            )
            for thing in timeline.things
        }
        self._busy = self._busy_frames()

    def frames(self) -> Iterator[tuple[int, Canvas, bool]]:
        """Every frame of the recording, in order."""
        for number in range(round(self._timeline.duration * self._timeline.fps)):
            changed = number in self._busy and self._show(number / self._timeline.fps)
            yield number, self._canvas, changed

    def _busy_frames(self) -> set[int]:
        """Frames at which something may change."""
        timeline, busy = self._timeline, {0}

        def mark(start: float, end: float) -> None:
            busy.update(range(round(start * timeline.fps), round(end * timeline.fps) + 1))

        for chapter in timeline.chapters:
            for at in (chapter.card.start, chapter.card.end):
                mark(at, at)
        for text in timeline.texts:
            mark(text.interval.start, text.interval.start)
            mark(text.interval.end, text.interval.end)
        for thing in timeline.things:
            for shown in thing.shown:
                mark(shown.start, shown.start)
                mark(shown.end, shown.end)
        for event in timeline.events:
            if event.path is not None or event.radius is not None:
                mark(event.interval.start, event.interval.end)
            else:
                mark(event.interval.start, event.interval.start)
        return busy

    def _show(self, time: float) -> bool:
        chapter = self._timeline.chapter_at(time + 1e-4)
        backdrop = chapter.card_backdrop if time < chapter.card.end - 1e-4 else chapter.scene_backdrop
        near = [t for t in self._timeline.things if t.first <= time + 1e-4 and time < t.last]
        states = [s for t in near if (s := thing_state(t, self._events[t.id], time)) is not None]
        texts = [
            t
            for t in self._timeline.texts
            if t.interval.start <= time + 1e-4 and time < t.interval.end - 1e-4
        ]
        wanted = (backdrop, states, texts)
        if wanted == self._drawn:
            return False
        if backdrop != self._backdrop:
            self._background.paint(
                gradient(
                    self._canvas.width,
                    self._canvas.height,
                    backdrop.top,
                    backdrop.bottom,
                    backdrop.panel,
                    backdrop.grain,
                )
            )
            self._backdrop = backdrop
            self._canvas.copy_from(self._background)
        else:
            for box in self._boxes:
                self._canvas.restore(self._background, box)
        self._boxes = [self._draw_thing(state) for state in states]
        for text in texts:
            self._boxes += self._draw_text(text, backdrop)
        self._drawn = wanted
        return True

    def _draw_thing(self, state: ThingState) -> tuple[int, int, int, int]:
        width, height = self._canvas.width, self._canvas.height
        stamp = shape_stamp(state.shape, round(state.radius * height))
        return self._canvas.draw(stamp, COLOURS[state.colour], state.x * width, state.y * height)

    def _draw_text(self, text: Text, backdrop: Backdrop) -> list[tuple[int, int, int, int]]:
        x, y = text.x * self._canvas.width, text.y * self._canvas.height
        stamp: Stamp = text_stamp(text.text, text.size)
        behind = backdrop.colour_at(text.y)
        boxes = []
        if text.role in ("caption", "stop", "header"):
            h, w = stamp.mask.shape
            behind = (28, 32, 40) if backdrop.tone == "dark" else (232, 232, 226)
            boxes.append(
                self._canvas.draw(box_stamp(w + 2 * text.size, h + text.size // 2 + 4), behind, x, y)
            )
        if text.faint:
            step = FAINT if backdrop.tone == "dark" else -FAINT
            ink = (behind[0] + step, behind[1] + step, behind[2] + step)
        else:
            ink = (240, 240, 236) if backdrop.tone == "dark" else (24, 26, 32)
        boxes.append(self._canvas.draw(stamp, ink, x, y))
        return boxes
