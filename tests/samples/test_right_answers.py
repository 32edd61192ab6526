"""Exactly one answer is right, and a careful viewer finds it."""

import re
from collections import Counter
from collections.abc import Callable

from evoharness.records.interval import Interval
from evoharness.records.question import Question
from evoharness.samples.questions.draft import clock, place_of
from evoharness.samples.timeline import Text, Timeline
from tests.samples.asking import TIMELINES, named, questions_of, quoted
from tests.samples.viewer import Run, Viewer


class Scene:
    """A timeline and what a viewer sees of it."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.viewer = Viewer(timeline)

    def runs(self, question: Question) -> list[Run]:
        """Runs of the look that the question names first."""
        return self.viewer.of[named(question)[0]]

    def steps(self, before: float = float("inf")) -> list[Text]:
        """Sentences of the steps announced before a time."""
        return [
            text
            for text in self.timeline.texts
            if text.role == "step" and not text.text.startswith("Step ") and text.interval.start <= before
        ]

    def card(self, question: Question) -> Interval:
        """When the step that the question quotes is announced."""
        return next(text.interval for text in self.steps() if text.text == quoted(question))

    def readings(self) -> list[Text]:
        """Readings in order of time."""
        readings = [text for text in self.timeline.texts if text.role == "reading"]
        return sorted(readings, key=lambda text: text.interval.start)

    def next_looks(self, time: float) -> set[str]:
        """What comes up first at `time` or later; several, when they come together."""
        first = self.viewer.next_after(time).start
        return {f"the {run.look}" for run in self.viewer.runs if abs(run.start - first) < 0.2}

    def last_looks(self, time: float) -> set[str]:
        """What goes last before `time`; several, when they go together."""
        gone = [run for run in self.viewer.runs if run.end <= time + 0.01]
        last = max(run.end for run in gone)
        return {f"the {run.look}" for run in gone if abs(run.end - last) < 0.2}


Check = Callable[[Scene, Question], set[str]]

CHECKS: dict[str, Check] = {}
"""For each form that is checked, what a careful viewer would accept."""


def check(*forms: str) -> Callable[[Check], Check]:
    """Register a check for some forms."""

    def register(function: Check) -> Check:
        CHECKS.update(dict.fromkeys(forms, function))
        return function

    return register


@check("flash_colour")
def _(scene: Scene, question: Question) -> set[str]:
    said = re.findall(r"\w+", question.text)
    return {run.look.split()[0] for run in scene.viewer.brief() if run.look.split()[1] in said}


@check("flash_shape")
def _(scene: Scene, question: Question) -> set[str]:
    said = re.findall(r"\w+", question.text)
    return {run.look.split()[1] for run in scene.viewer.brief() if run.look.split()[0] in said}


@check("flash_at_place")
def _(scene: Scene, question: Question) -> set[str]:
    return {f"the {r.look}" for r in scene.viewer.brief() if f"the {place_of(r.x, r.y)} of" in question.text}


@check("flash_place", "thing_place")
def _(scene: Scene, question: Question) -> set[str]:
    return {place_of(run.x, run.y) for run in scene.runs(question)}


@check("flash_time", "thing_time")
def _(scene: Scene, question: Question) -> set[str]:
    return {clock(scene.runs(question)[0].start)}


@check("flash_step", "step_of_thing")
def _(scene: Scene, question: Question) -> set[str]:
    return {scene.steps(before=run.start)[-1].text for run in scene.runs(question)}


@check("times_shown")
def _(scene: Scene, question: Question) -> set[str]:
    return {str(len(scene.runs(question)))}


@check("group_count")
def _(scene: Scene, question: Question) -> set[str]:
    return {str(max(run.most for run in scene.runs(question)))}


@check("thing_next")
def _(scene: Scene, question: Question) -> set[str]:
    return scene.next_looks(scene.runs(question)[-1].end)


@check("thing_previous")
def _(scene: Scene, question: Question) -> set[str]:
    return scene.last_looks(scene.runs(question)[0].start)


@check("thing_after_step")
def _(scene: Scene, question: Question) -> set[str]:
    return scene.next_looks(scene.card(question).end)


@check("thing_before_step")
def _(scene: Scene, question: Question) -> set[str]:
    return scene.last_looks(scene.card(question).start)


@check("first_of_four")
def _(scene: Scene, question: Question) -> set[str]:
    return {min(question.options, key=lambda o: scene.viewer.of[o.removeprefix("the ")][0].start)}


@check("last_of_four")
def _(scene: Scene, question: Question) -> set[str]:
    return {max(question.options, key=lambda o: scene.viewer.of[o.removeprefix("the ")][0].start)}


@check("turn_to")
def _(scene: Scene, question: Question) -> set[str]:
    return {
        run.look.split()[0]
        for before in scene.runs(question)
        for run in scene.viewer.runs
        if abs(run.start - before.end) < 0.01 and run.look.split()[1] == before.look.split()[1]
    }


@check("label_text")
def _(scene: Scene, question: Question) -> set[str]:
    run = scene.runs(question)[0]
    labels = [
        t for t in scene.timeline.texts if t.role == "label" and abs(t.interval.start - run.start) < 0.01
    ]
    return {min(labels, key=lambda label: abs(label.x - run.x) + abs(label.y - run.y)).text}


@check("reading_after_step")
def _(scene: Scene, question: Question) -> set[str]:
    after = [t for t in scene.readings() if t.interval.start >= scene.card(question).end]
    return {after[0].text}


@check("reading_before_step")
def _(scene: Scene, question: Question) -> set[str]:
    before = [t for t in scene.readings() if t.interval.end <= scene.card(question).start]
    return {before[-1].text}


@check("step_next")
def _(scene: Scene, question: Question) -> set[str]:
    sentences = [t.text for t in scene.steps()]
    return {sentences[sentences.index(quoted(question)) + 1]}


@check("step_previous")
def _(scene: Scene, question: Question) -> set[str]:
    sentences = [t.text for t in scene.steps()]
    return {sentences[sentences.index(quoted(question)) - 1]}


@check("flash_next")
def _(scene: Scene, question: Question) -> set[str]:
    run = scene.runs(question)[0]
    return {next(f"the {r.look}" for r in scene.viewer.brief() if r.start > run.start)}


@check("flash_previous")
def _(scene: Scene, question: Question) -> set[str]:
    run = scene.runs(question)[0]
    return {[f"the {r.look}" for r in scene.viewer.brief() if r.start < run.start][-1]}


@check("flash_in_step")
def _(scene: Scene, question: Question) -> set[str]:
    brief = [r for r in scene.viewer.brief() if scene.steps(before=r.start)]
    return {f"the {r.look}" for r in brief if scene.steps(before=r.start)[-1].text == quoted(question)}


@check("thing_in_step")
def _(scene: Scene, question: Question) -> set[str]:
    runs = [r for r in scene.viewer.runs if scene.steps(before=r.start)[-1].text == quoted(question)]
    return {f"the {run.look}" for run in runs} & set(question.options)


@check("flash_beside", "host_of_flash", "pair_partner")
def _(scene: Scene, question: Question) -> set[str]:
    run = scene.runs(question)[0]
    return {
        f"the {other.look}"
        for other in scene.viewer.runs
        if other.look != run.look and other.start < run.end - 0.01 and run.start < other.end - 0.01
    }


@check("pair_relation")
def _(scene: Scene, question: Question) -> set[str]:
    run = scene.runs(question)[0]
    beside = [r for r in scene.viewer.runs if r.look != run.look and abs(r.start - run.start) < 0.01]
    where = {
        "left of": {r.look for r in beside if r.x < run.x - 0.1 and r.y == run.y},
        "right of": {r.look for r in beside if r.x > run.x + 0.1 and r.y == run.y},
        "above": {r.look for r in beside if r.y < run.y - 0.1 and r.x == run.x},
        "below": {r.look for r in beside if r.y > run.y + 0.1 and r.x == run.x},
    }
    return {f"the {look}" for words, looks in where.items() if words in question.text for look in looks}


@check("turn_from")
def _(scene: Scene, question: Question) -> set[str]:
    changes = [
        (before.look.split(), after.look.split())
        for before in scene.viewer.runs
        for after in scene.viewer.runs
        if abs(after.start - before.end) < 0.01 and after.look.split()[1] == before.look.split()[1]
    ]
    said = set(re.findall(r"\w+", question.text))
    return {before[0] for before, after in changes if set(after) <= said}


@check("turn_which")
def _(scene: Scene, question: Question) -> set[str]:
    return {
        f"the {before.look}"
        for before in scene.viewer.runs
        for after in scene.viewer.runs
        if abs(after.start - before.end) < 0.01
        and after.look.split()[1] == before.look.split()[1]
        and after.look.split()[0] in re.findall(r"\w+", question.text)
    }


@check("reading_step")
def _(scene: Scene, question: Question) -> set[str]:
    shown = [t for t in scene.readings() if t.text == quoted(question)]
    return {scene.steps(before=reading.interval.start)[-1].text for reading in shown}


@check("blink_in_step")
def _(scene: Scene, question: Question) -> set[str]:
    blinks = [t for t in scene.timeline.texts if t.role == "blink"]
    return {t.text for t in blinks if scene.steps(before=t.interval.start)[-1].text == quoted(question)}


@check("order_of_three")
def _(scene: Scene, question: Question) -> set[str]:
    looks = [option.removeprefix("the ") for option in question.options[0].split(", then ")]
    order = sorted(looks, key=lambda look: scene.viewer.of[look.removeprefix("the ")][0].start)
    return {", then ".join(f"the {look.removeprefix('the ')}" for look in order)}


def test_exactly_the_answer_is_true_for_a_careful_viewer() -> None:
    checked = Counter[str]()
    for timeline in TIMELINES:
        scene = Scene(timeline)
        for question in questions_of(timeline, 150):
            form = question.form.partition("/")[0]
            if form in CHECKS:
                assert CHECKS[form](scene, question) == {question.reference_text}, question
                checked[form] += 1
    assert set(checked) == set(CHECKS)
