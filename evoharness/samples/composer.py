"""A timeline in the making: a clock that moves forward and the acts that fill it.

Acts on the main track follow one another, so nothing hides anything else; captions run below them on
a track of their own. Every time is a whole number of frames.
"""

import math
import random
from collections.abc import Callable

from evoharness.records.interval import Interval
from evoharness.samples.timeline import EventKind, Happening, Text, TextRole, Thing, ThingRole
from evoharness.samples.vocabulary import COLOURS, COLUMNS, PLACES, ROWS, SHAPES, UNSEEN

ASPECT = 9 / 16
RADIUS, LARGE, SMALL, IN_A_ROW = 0.07, 0.115, 0.04, 0.055
"""Radii of things, as fractions of the picture's height."""
SIDES = {"left": (-0.08, None), "right": (1.08, None), "top": (None, -0.13), "bottom": (None, 1.13)}
"""Where a thing waits outside the picture: x or y; the other coordinate is its place's."""
BRIEF = (0.5, 0.7)
"""Seconds that a brief event lasts: seen by anyone who looks twice a second, missed by many who look once."""
TIMES = (2, 3, 4, 5)
"""How often something may be repeated, each as likely as the others: a guess has one chance in four."""


class Composer:
    """Holds the clock and what was composed so far."""

    def __init__(self, rng: random.Random, height: int, fps: int) -> None:
        self.rng = rng
        self.small_video = height < 720
        self.fps = fps
        self.clock = 0.0
        self.chapter = 0
        self.tone = "dark"
        self.texts: list[Text] = []
        self.things: list[Thing] = []
        self.events: list[Happening] = []
        self._unused = [(colour, shape) for colour in COLOURS for shape in SHAPES]
        rng.shuffle(self._unused)
        self._last_use: dict[tuple[str, str], float] = {}
        self._kept: set[tuple[str, str]] = set()

    # time

    def snap(self, seconds: float) -> float:
        """The nearest time at which there can be a frame."""
        return round(round(seconds * self.fps) / self.fps, 4)

    def between(self, low: float, high: float) -> float:
        """A random number of seconds, a whole number of frames, not shorter than `low`."""
        frames = self.rng.uniform(low * self.fps, high * self.fps)
        return max(math.ceil(low * self.fps - 1e-6), round(frames)) / self.fps

    def pause(self, low: float = 0.7, high: float = 1.6) -> None:
        """Let some time pass."""
        self.clock = self.snap(self.clock + self.between(low, high))

    def span(self, low: float, high: float) -> Interval:
        """An interval that begins now; moves the clock to its end."""
        start = self.snap(self.clock)
        self.clock = self.snap(start + self.between(low, high))
        return Interval(start=start, end=self.clock)

    # what is on the screen

    def look(
        self, like: tuple[str, str] | None = None, turning: str | None = None, lasting: bool = False
    ) -> tuple[str, str]:
        """A colour and shape that stand out here, not used before while there are any left.

        `like` asks for a look-alike (same colour or same shape), `turning` for that very shape, and
        `lasting` for a colour that stands out against every background and
        will not be used again. When all are used, one that
        was not seen lately comes back.
        """
        unseen = {c for tone in (UNSEEN if lasting else [self.tone]) for c in UNSEEN[tone]}

        def fits(pair: tuple[str, str]) -> bool:
            return (
                pair[0] not in unseen
                and (turning is None or pair[1] == turning)
                and (like is None or (pair != like and (pair[0] == like[0] or pair[1] == like[1])))
            )

        fresh = [pair for pair in self._unused if fits(pair)]
        old = sorted(
            (pair for pair in self._last_use if fits(pair) and pair not in self._kept),
            key=lambda pair: self._last_use[pair],
        )
        pair = fresh[0] if fresh else self.rng.choice(old[:6])
        if lasting:
            self._kept.add(pair)
        return self._use(pair)

    def _use(self, pair: tuple[str, str]) -> tuple[str, str]:
        if pair in self._unused:
            self._unused.remove(pair)
        self._last_use[pair] = self.clock
        return pair

    def place(self, *avoid: str) -> str:
        """One of the nine places, none of those given."""
        return self.rng.choice([name for name in PLACES if name not in avoid])

    def thing(
        self,
        role: ThingRole,
        look: tuple[str, str],
        at: tuple[float, float],
        shown: list[Interval],
        *,
        radius: float = RADIUS,
        together: str | None = None,
    ) -> Thing:
        """Add a thing."""
        thing = Thing(
            id=f"object/{len(self.things)}",
            role=role,
            colour=look[0],
            shape=look[1],
            radius=radius,
            x=round(at[0], 4),
            y=round(at[1], 4),
            shown=tuple(shown),
            chapter=self.chapter,
            together=together,
        )
        self.things.append(thing)
        return thing

    def happens(
        self, kind: EventKind, thing: Thing, start: float, end: float, **details: object
    ) -> Happening:
        """Add an event."""
        event = Happening.model_validate(
            {
                "id": f"event/{len(self.events)}",
                "kind": kind,
                "thing": thing.id,
                "interval": Interval(start=self.snap(start), end=self.snap(end)),
                **details,
            }
        )
        self.events.append(event)
        return event

    def comes_and_goes(self, thing: Thing, shown: list[Interval] | None = None) -> None:
        """Add what the showings (all of them, or those given) of a thing that stays where it is amount to."""
        for showing in shown or thing.shown:
            if showing.duration <= 1.001:
                self.happens("flashes", thing, showing.start, showing.end)
            else:
                self.happens("appears", thing, showing.start, showing.start)
                self.happens("disappears", thing, showing.end, showing.end)

    def write(
        self,
        role: TextRole,
        words: str,
        interval: Interval,
        at: tuple[float, float],
        size: tuple[int, int],
        *,
        faint: bool = False,
        beside: str | None = None,
        number: int | None = None,
    ) -> Text:
        """Add a text; `size` is the font size in a small and in a large video."""
        text = Text(
            id=f"text/{len(self.texts)}",
            role=role,
            text=words,
            interval=interval,
            x=round(at[0], 4),
            y=round(at[1], 4),
            size=size[0 if self.small_video else 1],
            faint=faint and not self.small_video,
            beside=beside,
            number=number,
        )
        self.texts.append(text)
        return text


Act = Callable[[Composer], None]


def flash(c: Composer) -> None:
    """Something coloured is there for a second or less."""
    thing = c.thing("flash", c.look(), PLACES[c.place()], [c.span(*BRIEF)], radius=c.rng.choice([0.06, 0.08]))
    c.comes_and_goes(thing)


def flash_beside(c: Composer) -> None:
    """While one thing stands there, a look-alike flashes elsewhere."""
    start, look, home = c.clock, c.look(), c.place()
    c.pause(1.2, 2.2)
    flashed = c.span(*BRIEF)
    other = c.look(like=look)
    c.pause(1.2, 2.0)
    host = c.thing("host", look, PLACES[home], [Interval(start=start, end=c.clock)])
    c.comes_and_goes(host)
    c.comes_and_goes(c.thing("flash", other, PLACES[c.place(home)], [flashed]))


def burst(c: Composer) -> None:
    """The same thing several times in a row."""
    look, shown = c.look(), []
    for _ in range(c.rng.choice(TIMES)):
        shown.append(c.span(*BRIEF))
        c.pause(0.8, 1.2)
    c.comes_and_goes(c.thing("repeat", look, PLACES[c.place()], shown))


def row_of(c: Composer, count: int) -> list[tuple[float, float]]:
    """Centres of `count` things in one row."""
    y = c.rng.choice(list(ROWS.values()))
    return [(0.5 + 0.15 * (i - (count - 1) / 2), y) for i in range(count)]


def group(c: Composer) -> None:
    """Several of the same thing at once."""
    look, span, count = c.look(), c.span(2.5, 4.0), c.rng.choice(TIMES)
    for at in row_of(c, count):
        thing = c.thing("group", look, at, [span], radius=IN_A_ROW, together=f"group at {span.start:g}")
        c.comes_and_goes(thing)


def odd_one(c: Composer) -> None:
    """A row of things that are the same, but for one."""
    look, span, place = c.look(), c.span(3.0, 4.0), c.rng.randrange(5)
    odd = c.look(like=look)
    for i, at in enumerate(row_of(c, 5)):
        thing = c.thing(
            "odd" if i == place else "row",
            odd if i == place else look,
            at,
            [span],
            radius=IN_A_ROW,
            together=f"row at {span.start:g}",
        )
        c.comes_and_goes(thing)


def pair(c: Composer) -> None:
    """Two things beside or above each other."""
    columns, rows = list(COLUMNS.values()), list(ROWS.values())
    if c.rng.random() < 0.5:
        first = c.rng.randrange(2)
        y = c.rng.choice(rows)
        places = [(columns[first], y), (columns[first + 1], y)]
    else:
        first = c.rng.randrange(2)
        x = c.rng.choice(columns)
        places = [(x, rows[first]), (x, rows[first + 1])]
    span = c.span(2.5, 4.0)
    for at in places:
        thing = c.thing("pair", c.look(), at, [span], together=f"pair at {span.start:g}")
        c.comes_and_goes(thing)


def turn(c: Composer) -> None:
    """A thing changes its colour where it stands."""
    start, look = c.clock, c.look()
    c.pause(1.5, 2.5)
    changed, new = c.clock, c.look(turning=look[1], like=look)
    c.pause(1.5, 2.5)
    thing = c.thing("host", look, PLACES[c.place()], [Interval(start=start, end=c.clock)])
    c.comes_and_goes(thing)
    c.happens("turns", thing, changed, changed, before=look[0], after=new[0])


def resize(c: Composer) -> None:
    """A thing grows or shrinks where it stands."""
    start, look = c.clock, c.look()
    c.pause(1.2, 2.0)
    change = c.span(0.5, 0.75)
    c.pause(1.5, 2.2)
    thing = c.thing("host", look, PLACES[c.place()], [Interval(start=start, end=c.clock)])
    c.comes_and_goes(thing)
    grows = c.rng.random() < 0.5
    c.happens(
        "grows" if grows else "shrinks", thing, change.start, change.end, radius=LARGE if grows else SMALL
    )


def outside(side: str, home: tuple[float, float]) -> tuple[float, float]:
    """The point just out of the picture on that side, in line with `home`."""
    x, y = SIDES[side]
    return (home[0] if x is None else x, home[1] if y is None else y)


def visitor(c: Composer) -> None:
    """A thing comes in from a side, does something, and leaves."""
    rng, look, name = c.rng, c.look(), c.place()
    home = PLACES[name]
    side, exit_side = rng.choice(list(SIDES)), rng.choice(list(SIDES))
    origin = outside(side, home)
    start = c.clock
    entering = c.span(1.2, 2.0)
    c.pause(0.8, 1.4)
    deed = rng.choice(["turns", "grows", "shrinks", "moves"])
    instant = deed == "turns"
    doing = (
        Interval(start=c.clock, end=c.clock)
        if instant
        else c.span(0.6, 0.8)
        if deed != "moves"
        else c.span(1.2, 2.0)
    )
    new = c.look(turning=look[1], like=look) if instant else look
    target = PLACES[c.place(name)] if deed == "moves" else home
    c.pause(1.5, 2.0)
    leaving = c.span(1.2, 2.0) if rng.random() < 0.75 else None
    thing = c.thing("visitor", look, origin, [Interval(start=start, end=c.clock)])
    c.happens("enters", thing, entering.start, entering.end, path=(*origin, *home), before=side)
    if deed == "moves":
        c.happens("moves", thing, doing.start, doing.end, path=(*home, *target))
    elif instant:
        c.happens("turns", thing, doing.start, doing.end, before=look[0], after=new[0])
    else:
        radius = LARGE if deed == "grows" else SMALL
        c.happens("grows" if deed == "grows" else "shrinks", thing, doing.start, doing.end, radius=radius)
    if leaving:
        way_out = outside(exit_side, target)
        c.happens("leaves", thing, leaving.start, leaving.end, path=(*target, *way_out), after=exit_side)
    else:
        c.happens("disappears", thing, c.clock, c.clock)


def touch(c: Composer) -> None:
    """One thing comes in and touches another, which changes its colour at that moment."""
    start, look = c.clock, c.look()
    name = c.rng.choice(["centre", "top centre", "bottom centre"])
    home, side = PLACES[name], c.rng.choice(["left", "right"])
    c.pause(1.0, 1.6)
    other = c.look(like=look)
    coming = c.span(1.4, 2.0)
    touched, new = c.clock, c.look(turning=look[1], like=look)
    c.pause(0.5, 0.8)
    going = c.span(1.2, 1.6)
    c.pause(0.8, 1.2)
    still = c.thing("touched", look, home, [Interval(start=start, end=c.clock)])
    c.comes_and_goes(still)
    origin = outside(side, home)
    reach = 2 * RADIUS * ASPECT * (-1 if side == "left" else 1)
    contact = (home[0] + reach, home[1])
    mover = c.thing("toucher", other, origin, [Interval(start=coming.start, end=going.end)])
    c.happens("enters", mover, coming.start, coming.end, path=(*origin, *contact), before=side)
    c.happens("touches", mover, touched, touched, other=still.id)
    c.happens("turns", still, touched, touched, before=look[0], after=new[0], other=mover.id)
    c.happens("leaves", mover, going.start, going.end, path=(*contact, *origin), after=side)
