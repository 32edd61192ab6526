"""What a careful viewer of a recording sees, worked out frame by frame and without any ids.

An account of a timeline that shares nothing with the question maker but the state of each thing at an
instant: which looks (colour and shape) are on the screen, where, how many, and from when to when.
"""

from collections import defaultdict
from dataclasses import dataclass

from evoharness.samples.scene import thing_state
from evoharness.samples.timeline import Timeline


@dataclass(frozen=True)
class Run:
    """One unbroken stretch during which a look can be seen."""

    look: str
    start: float
    end: float
    x: float
    """Where it is first seen."""
    y: float
    most: int
    """How many of it there are at once, at most."""


class Viewer:
    """Runs of every look in a recording, in order of time."""

    def __init__(self, timeline: Timeline) -> None:
        events = {
            thing.id: tuple(
                sorted((e for e in timeline.events if e.thing == thing.id), key=lambda e: e.interval.start)
            )
            for thing in timeline.things
        }
        runs: list[Run] = []
        open_runs: dict[str, Run] = {}
        step = 1 / timeline.fps
        for number in range(round(timeline.duration * timeline.fps) + 1):
            time = number * step
            seen: dict[str, list[tuple[float, float]]] = defaultdict(list)
            for thing in timeline.things:
                if thing.first - 1 < time < thing.last + 1:
                    state = thing_state(thing, events[thing.id], time)
                    if state is not None:
                        seen[f"{state.colour} {state.shape}"].append((state.x, state.y))
            for look in [look for look in open_runs if look not in seen]:
                runs.append(open_runs.pop(look))
            for look, places in seen.items():
                run = open_runs.get(look) or Run(look, time, time, *places[0], 0)
                open_runs[look] = Run(look, run.start, time + step, run.x, run.y, max(run.most, len(places)))
        runs += open_runs.values()
        self.runs = sorted(runs, key=lambda run: run.start)
        self.of: dict[str, list[Run]] = defaultdict(list)
        for run in self.runs:
            self.of[run.look].append(run)

    def brief(self) -> list[Run]:
        """Runs of a second or less, with room for doubt."""
        return [run for run in self.runs if run.end - run.start <= 1.2]

    def next_after(self, time: float) -> Run:
        """The first run that begins at `time` or later."""
        return next(run for run in self.runs if run.start >= time - 1e-3)
