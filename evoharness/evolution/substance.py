"""No copied substance: a change may say how to look, never what an answer is or where it lies.

What a candidate adds to its incumbent's files is compared with the evolution questions. Forbidden are
five or more consecutive words of a question or an option; ids, and names of files and videos; and, in
code and prose, a number within half a second of where a question's source begins or ends.

Sources begin and end nearly everywhere in a short video, so chance alone would forbid most constants.
Defaults of λ are allowed, and so are round numbers (how many places to look at, for how many seconds),
except where they are written as a time: in a span such as `[45, 60]`, or in words such as "at 45". Values
of declared parameters, which hold for all videos, are not looked at.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.harness import Harness

WORDS_IN_A_ROW = 5
SECONDS_NEAR = 0.5

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
_SPAN = re.compile(r"[\[(]\s*(\d+(?:\.\d+)?)\s*,\s*(\d+(?:\.\d+)?)\s*[\])]")
_IN_WORDS = re.compile(
    r"\b(?:at|between|from|until|before|after|seconds?|minutes?)\s+(\d+(?:\.\d+)?)"
    r"(?:\s*(?:to|and|-|–)\s*(\d+(?:\.\d+)?))?",
    re.IGNORECASE,
)
_ROUND = {12, 15, 16, 20, 24, 25, 30, 32, 40, 45, 48, 50, 60, 64, 75, 80, 90, 96, 100, 120, 128, 150, 180}
_ROUND |= {192, 200, 240, 250, 256, 300, 360, 400, 500, 512, 600, 900, 1000, 1024, 1800, *range(11)}


class Substance:
    """What must not be copied out of a set of questions."""

    def __init__(self, questions: Sequence[Question], videos: Mapping[str, Path]) -> None:
        self._questions = questions
        self._videos = videos

    @cached_property
    def _phrases(self) -> set[tuple[str, ...]]:
        texts = [text for q in self._questions for text in (q.text, *q.options)]
        return {phrase for text in texts for phrase in _phrases(text)}

    @cached_property
    def _names(self) -> set[str]:
        names = {name for q in self._questions for name in (q.id, q.public().id, *q.support)}
        for key in {q.video for q in self._questions}:
            names.add(key)
            if key in self._videos:
                names.update({self._videos[key].name, self._videos[key].stem})
        # A name that is an ordinary word would forbid that word.
        return {name.casefold() for name in names if len(name) > 3 and not name.isalpha()}

    @cached_property
    def _boundaries(self) -> list[float]:
        spans = [q.source_interval for q in self._questions if q.source_interval is not None]
        return sorted({time for span in spans for time in (span.start, span.end)})

    def copied(self, incumbent: "Harness", candidate: "Harness") -> str:
        """What the candidate copied, in words; empty when it copied nothing."""
        defaults = _numbers_of_parameters(incumbent)
        for path, text in _added(incumbent, candidate).items():
            phrases = _phrases(text) & self._phrases
            if phrases:
                return f"{path} repeats words of a question: “{' '.join(min(phrases))}”"
            folded = text.casefold()
            for name in sorted(self._names):
                if name in folded and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded):
                    return f"{path} names “{name}”"
            if path == "harness.yaml":
                continue
            times = _times(text)
            for number in _NUMBER.findall(text):
                value = float(number)
                general = value in defaults or ((value in _ROUND or value < 1) and value not in times)
                if not general and self._near_boundary(value):
                    return f"{path} holds {number}, within {SECONDS_NEAR} s of where a question's source lies"
        return ""

    def _near_boundary(self, value: float) -> bool:
        return any(abs(value - boundary) <= SECONDS_NEAR for boundary in self._boundaries)


def _times(text: str) -> set[float]:
    """Numbers that are written as a time."""
    found = [group for pattern in (_SPAN, _IN_WORDS) for match in pattern.findall(text) for group in match]
    return {float(number) for number in found if number}


def _phrases(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return {tuple(words[i : i + WORDS_IN_A_ROW]) for i in range(len(words) - WORDS_IN_A_ROW + 1)}


def _added(incumbent: "Harness", candidate: "Harness") -> dict[str, str]:
    """Path → lines that the candidate has and the incumbent has not, joined."""
    before, after = incumbent.files(), candidate.files()
    added = {}
    for path, text in after.items():
        known = set(before.get(path, "").splitlines())
        lines = [line for line in text.splitlines() if line not in known]
        if lines:
            added[path] = "\n".join(lines)
    return added


def _numbers_of_parameters(harness: "Harness") -> set[float]:
    """Numbers that are values of λ, by default or in this harness, and the limits of its routes."""
    from evoharness.harness import parameter_specs

    values: Iterable[object] = [
        *(spec.initial for spec in parameter_specs()),
        *harness.parameters.model_dump().values(),
        *(route.until_s for route in harness.routes),
    ]
    return {float(value) for value in values if isinstance(value, int | float)}
