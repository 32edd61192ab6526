"""Compose the timeline of one video from a seed and its index alone."""

import colorsys
import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from evoharness.records.interval import Interval
from evoharness.samples import composer
from evoharness.samples.composer import Act, Composer
from evoharness.samples.timeline import Backdrop, Chapter, Timeline
from evoharness.samples.vocabulary import BLINK_NOUNS, FIELDS, NUMBERS, PLACES, REMARKS, Field, wrong_with

SHORTEST_MINUTES, USUAL_MINUTES = 2.0, 8.0


def video_key(seed: int, index: int) -> str:
    """A name that says nothing about the content."""
    return "recording-" + hashlib.sha256(f"{seed}/{index}".encode()).hexdigest()[:10]


def plan_timeline(seed: int, index: int, longest_minutes: float = USUAL_MINUTES) -> Timeline:
    """The timeline of video `index` of `seed`, whatever other videos there are.

    Up to 8 minutes, durations lie between 2 minutes (or half the longest) and `longest_minutes`, most
    of them in the lower half. Above, every fifth video, beginning with the first, is a long one of about
    three quarters of `longest_minutes` or more.
    """
    rng = random.Random(f"recording {seed} {index}")
    large, variable = _formats(seed, index)
    fps = 10 if variable else rng.choice([6, 8]) if large else rng.choice([8, 10])
    low = min(SHORTEST_MINUTES, longest_minutes / 2)
    high = min(USUAL_MINUTES, longest_minutes)
    minutes = low + (high - low) * rng.betavariate(1.2, 2.9)
    if longest_minutes > USUAL_MINUTES and index % 5 == 0:
        minutes = rng.uniform(0.75, 1.0) * longest_minutes
    # the last act may run over by some seconds
    seconds = min(minutes * 60, longest_minutes * 60 - 12)
    work = rng.choice(FIELDS)
    studio = _Studio(Composer(rng, 720 if large else 360, fps), work, seconds)
    chapters = studio.compose()
    made = studio.composer
    return Timeline(
        video=video_key(seed, index),
        seed=seed,
        index=index,
        field=work.name,
        duration=made.clock,
        width=1280 if large else 640,
        height=720 if large else 360,
        variable_rate=variable,
        fps=fps,
        chapters=tuple(chapters),
        texts=tuple(made.texts),
        things=tuple(made.things),
        events=tuple(made.events),
    )


def _formats(seed: int, index: int) -> tuple[bool, bool]:
    """Whether a video is large, and whether its rate varies: half are large, half vary."""
    rng = random.Random(f"formats {seed} {index // 4}")
    formats = [(large, variable) for variable in (False, True) for large in (False, True)]
    rng.shuffle(formats)
    return formats[index % 4]


@dataclass
class _Studio:
    """Everything that lasts for one video: its words, its deck of acts, its backdrops."""

    composer: Composer
    work: Field
    target: float
    used: set[str] = field(default_factory=set)
    deck: list[Act] = field(default_factory=list)
    returning: dict[int, int] = field(default_factory=dict)

    def compose(self) -> list[Chapter]:
        """Title, chapters and end card; the composer holds what they show."""
        c = self.composer
        self.hue = c.rng.random()
        self.with_header = c.rng.random() < 0.35
        self.quantities = c.rng.sample(self.work.quantities, 2)
        self.labels = c.rng.sample(self.work.labels, 2)
        self.blinks = c.rng.sample(BLINK_NOUNS, 2)
        ends = self._chapter_ends()
        chapters = [self._card("title", c.rng.choice(self.work.titles), 4.0, None)]
        returns = self._returns(len(ends))
        number = 0
        skipped = c.rng.randrange(2, len(ends)) if len(ends) > 3 and c.rng.random() < 0.4 else None
        for position, end in enumerate(ends):
            number += 2 if position == skipped else 1
            c.chapter = position + 1
            start = len(chapters)
            chapters.append(self._card("step", self._step(), c.between(2.5, 3.5), number))
            self._scene(chapters[start], end, returns.get(position, []))
            closed = chapters[start].model_copy(
                update={"interval": Interval(start=chapters[start].interval.start, end=c.clock)}
            )
            chapters[start] = closed
        c.chapter = len(chapters)
        chapters.append(
            self._card("end", c.rng.choice(["End of the recording", "Thank you for watching"]), 3.0, None)
        )
        return chapters

    def _chapter_ends(self) -> list[float]:
        """When each chapter should end, in seconds."""
        ends: list[float] = []
        at, last = 4.0, self.target - 3.0
        while last - at > 12 or not ends:
            length = self.composer.rng.uniform(14, 32)
            if last - at - length < 12:
                length = last - at
            at += length
            ends.append(at)
        return ends

    def _card(
        self, role: Literal["title", "step", "end"], words: str, seconds: float, number: int | None
    ) -> Chapter:
        c = self.composer
        span = c.span(seconds, seconds)
        if number is not None:
            c.write("step", f"Step {number}", span, (0.5, 0.36), (30, 52), number=number)
        text = c.write(
            role, words, span, (0.5, 0.52), (28, 48) if role == "step" else (32, 54), number=number
        )
        light = c.chapter % 2 == 1
        c.tone = "light" if light else "dark"
        self.hue = (self.hue + c.rng.uniform(0.2, 0.45)) % 1
        return Chapter(
            number=c.chapter,
            interval=span,
            card=span,
            text=text.id,
            card_backdrop=self._backdrop(not light, 0.26, panel=False),
            scene_backdrop=self._backdrop(light, 0.12, panel=True),
        )

    def _backdrop(self, light: bool, saturation: float, panel: bool) -> Backdrop:
        rng = self.composer.rng
        value = rng.uniform(0.7, 0.78) if light else rng.uniform(0.27, 0.34)
        drift = rng.uniform(0.04, 0.08) * rng.choice([-1, 1])
        hue = self.hue if panel else (self.hue + 0.5) % 1

        def rgb(brightness: float) -> tuple[int, int, int]:
            r, g, b = colorsys.hsv_to_rgb(hue, saturation, brightness)
            return round(255 * r), round(255 * g), round(255 * b)

        left, top = rng.uniform(0.02, 0.3), rng.uniform(0.08, 0.3)
        return Backdrop(
            tone="light" if light else "dark",
            top=rgb(value + drift),
            bottom=rgb(value - drift),
            panel=(left, top, left + rng.uniform(0.3, 0.6), top + rng.uniform(0.3, 0.5)) if panel else None,
            grain=rng.randrange(2**31),
        )

    def _fresh(self, make: Callable[[], str]) -> str:
        """Words not used before in this video, as long as `make` finds any."""
        words = make()
        for _ in range(200):
            if words not in self.used:
                break
            words = make()
        self.used.add(words)
        return words

    def _step(self) -> str:
        rng, work = self.composer.rng, self.work

        def make() -> str:
            verb, adjective = rng.choice(work.verbs), f"{rng.choice(work.adjectives)} "
            if rng.random() < 0.4 or adjective[:4] == verb[:4].lower():
                adjective = ""
            return f"{verb} the {adjective}{rng.choice(work.things)}"

        return self._fresh(make)

    # the scene of a chapter

    def _scene(self, chapter: Chapter, end: float, returning: list[int]) -> None:
        c = self.composer
        begin = c.clock
        due = sorted((c.rng.uniform(begin, max(begin, end - 4)), which) for which in returning)
        c.pause(0.6, 1.6)
        while due or c.clock < end - 3.5:
            if due and (c.clock >= due[0][0] or c.clock >= end - 3.5):
                self._comes_back(due.pop(0)[1])
            else:
                self._draw()(c)
            c.pause()
        self._captions(begin, c.clock - 0.5)
        if self.with_header:
            step = next(t for t in c.texts if t.id == chapter.text)
            span = Interval(start=begin, end=c.clock)
            c.write("header", step.text, span, (0.5, 0.055), (15, 22), number=step.number)

    def _draw(self) -> Act:
        """The next act of a shuffled deck that holds every act in its proportion."""
        if not self.deck:
            proportions: dict[Act, int] = {
                composer.flash: 5,
                composer.flash_beside: 3,
                composer.visitor: 4,
                composer.turn: 2,
                composer.resize: 1,
                composer.burst: 2,
                composer.group: 2,
                composer.pair: 2,
                composer.odd_one: 1,
                composer.touch: 2,
                self._labelled: 5,
                self._reading: 5,
                self._blink: 3,
            }
            self.deck = [act for act, times in proportions.items() for _ in range(times)]
            self.composer.rng.shuffle(self.deck)
        return self.deck.pop()

    def _labelled(self, c: Composer) -> None:
        """A thing with its label, or two whose labels differ by a number."""
        first, span, noun = c.place(), c.span(2.5, 4.5), c.rng.choice(self.labels)
        names = [first] if c.rng.random() < 0.5 else [first, c.place(first)]
        for name in names:
            thing = c.thing(
                "labelled", c.look(), PLACES[name], [span], together=f"labelled at {span.start:g}"
            )
            c.comes_and_goes(thing)
            words = self._fresh(lambda: f"{noun} {c.rng.choice(NUMBERS)}")
            at = (thing.x, thing.y + thing.radius + (0.04 if c.small_video else 0.025))
            c.write("label", words, span, at, (15, 10), faint=True, beside=thing.id)

    def _reading(self, c: Composer) -> None:
        def make() -> str:
            name, unit, low, high = c.rng.choice(self.quantities)
            return f"{name} {c.rng.randint(low, high)} {unit}"

        small = c.rng.random() < 0.7
        c.write(
            "reading",
            self._fresh(make),
            c.span(2.0, 3.0),
            PLACES[c.place()],
            (18, 10 if small else 24),
            faint=small,
        )

    def _blink(self, c: Composer) -> None:
        words = self._fresh(lambda: f"{c.rng.choice(self.blinks)} {c.rng.choice(NUMBERS)}")
        c.write("blink", words, c.span(*composer.BRIEF), PLACES[c.place()], (22, 32))

    def _captions(self, begin: float, end: float) -> None:
        """Captions on the lower track, one after another, inside the scene."""
        c, work = self.composer, self.work

        def stop() -> str:
            thing = c.rng.choice(work.things)
            return f"Stop: the {thing} {wrong_with(thing, c.rng.choice(work.troubles))}"

        def remark() -> str:
            return c.rng.choice(REMARKS).format(thing=c.rng.choice(work.things))

        at = begin + c.rng.uniform(0.5, 5)
        while at + 4.5 < end:
            span = Interval(start=c.snap(at), end=c.snap(at + c.rng.uniform(3, 4.5)))
            stopping = c.rng.random() < 0.3
            words = self._fresh(stop if stopping else remark)
            c.write("stop" if stopping else "caption", words, span, (0.5, 0.92), (20, 32))
            at = span.end + c.rng.uniform(6, 16)

    # things that come back over the whole recording

    def _returns(self, chapters: int) -> dict[int, list[int]]:
        """For each chapter, which returning things show up in it (one entry a showing)."""
        rng, scheduled = self.composer.rng, dict[int, list[int]]()
        for which in range(min(8, max(1, round(self.target / 110)))):
            for _ in range(rng.choice(composer.TIMES)):
                scheduled.setdefault(rng.randrange(chapters), []).append(which)
        return scheduled

    def _comes_back(self, which: int) -> None:
        """One more showing of a returning thing, always in the same place."""
        c = self.composer
        span = c.span(2.0, 3.0)
        if which in self.returning:
            position = self.returning[which]
            thing = c.things[position]
            c.things[position] = thing.model_copy(update={"shown": (*thing.shown, span)})
        else:
            self.returning[which] = len(c.things)
            thing = c.thing("repeat", c.look(lasting=True), PLACES[c.place()], [span])
        c.comes_and_goes(thing, [span])
