"""Which tool to call next: search when nothing is found, look where the answer should lie, then stop."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evoharness.models.embedded.clock import read_times
from evoharness.models.embedded.evidence_matching import EvidenceMatcher
from evoharness.models.embedded.question_reading import Asked, Reading, Relation, read_question
from evoharness.models.embedded.statements import read_statements
from evoharness.models.embedded.temporal import Episode, locate
from evoharness.models.reasoning_tasks import ChooseAction, ChosenAction, ToolChoice

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

_ADJACENT_SECONDS = 30.0
"""How far after or before a named moment to look, unless guidance says another number of seconds."""
_CLOSE_SECONDS = 60.0
"""A stretch longer than this has not been looked at closely."""
_MARGIN_SECONDS = 2.0
_MOST_CALLS = 12

_FINDING = ("localize", "locate", "search", "find", "view_full")
_LISTING = ("enumerate", "list", "count")
_LOOKING = ("look", "inspect", "watch", "between", "records", "segment")
_STILL = ("frame", "crop")

_TEXT_ARGUMENTS = ("query", "prompt", "question", "text", "phrase", "claim", "description", "event")
_START_ARGUMENTS = ("start", "start_s", "from", "begin", "start_time")
_END_ARGUMENTS = ("end", "end_s", "to", "until", "end_time")
_SPAN_ARGUMENTS = ("span", "window", "interval")
_SPANS_ARGUMENTS = ("spans", "windows", "intervals")
_TIME_ARGUMENTS = ("time", "timestamp", "at", "t")


@dataclass(frozen=True)
class _Wish:
    """A call worth making."""

    kinds: Sequence[str]
    text: str
    window: tuple[float, float] | None = None


def choose_next(task: ChooseAction, embedder: "Embedder") -> ChosenAction:
    """The first worthwhile call that has not been made; stop when there is none."""
    if len(task.history) >= _MOST_CALLS:
        return ChosenAction(stop=True)
    for wish in _wishes(task, embedder):
        for tool in _fitting_tools(task.tools, wish.kinds):
            arguments = _arguments(tool, wish)
            if arguments is not None and not _made(tool.name, arguments, task.history):
                return ChosenAction(tool=tool.name, arguments=arguments)
            if arguments is not None:
                break
    return ChosenAction(stop=True)


def _wishes(task: ChooseAction, embedder: "Embedder") -> Iterator[_Wish]:
    reading = read_question(task.question)
    matcher = EvidenceMatcher(read_statements(task.evidence), embedder)
    times = read_times(task.question)
    named = reading.anchors[0] if reading.anchors else reading.focus or task.question
    moment = Episode(times[0].start, times[0].end, ()) if times else locate(matcher, named)
    if moment is None:
        if reading.asked is Asked.COUNT:
            yield _Wish(_LISTING, named)
        for text in dict.fromkeys((named, task.question, *task.options)):
            yield _Wish(_FINDING, text)
        return
    if reading.asked is Asked.COUNT and not times:
        yield _Wish(_LISTING, named)
    yield _Wish(_LOOKING, task.question, _window(reading, moment, task.guidance, task.duration))
    if moment.end - moment.start <= _CLOSE_SECONDS:
        yield _Wish(_STILL, task.question, (moment.start, moment.end))


def _window(reading: Reading, moment: Episode, guidance: str, duration: float) -> tuple[float, float]:
    reach = _reach(guidance)
    start, end = moment.start - _MARGIN_SECONDS, moment.end + _MARGIN_SECONDS
    if reading.relation is Relation.AFTER:
        start, end = moment.end - _MARGIN_SECONDS, moment.end + reach
    elif reading.relation is Relation.BEFORE:
        start, end = moment.start - reach, moment.start + _MARGIN_SECONDS
    start = min(max(0.0, start), duration)
    return round(start, 1), round(min(max(start, end), duration), 1)


def _reach(guidance: str) -> float:
    said = [time.end for time in read_times(guidance) if 0 < time.end <= 600]
    return said[0] if said else _ADJACENT_SECONDS


def _fitting_tools(tools: Sequence[ToolChoice], kinds: Sequence[str]) -> list[ToolChoice]:
    """Tools whose name has one of the words, in the order of the words; then those whose purpose has one."""
    named = [tool for kind in kinds for tool in tools if kind in tool.name.lower()]
    meant = [tool for kind in kinds for tool in tools if re.search(rf"\b{kind}", tool.purpose.lower())]
    return list({tool.name: tool for tool in [*named, *meant]}.values())


def _arguments(tool: ToolChoice, wish: _Wish) -> dict[str, Any] | None:
    """Values for the arguments whose names are understood; None when the tool takes no part of the wish."""
    filled: dict[str, Any] = {}
    for name in tool.arguments:
        low = name.lower()
        if low in _TEXT_ARGUMENTS:
            filled[name] = wish.text
        elif wish.window is None:
            continue
        elif low in _START_ARGUMENTS:
            filled[name] = wish.window[0]
        elif low in _END_ARGUMENTS:
            filled[name] = wish.window[1]
        elif low in _SPAN_ARGUMENTS:
            filled[name] = list(wish.window)
        elif low in _SPANS_ARGUMENTS:
            filled[name] = [list(wish.window)]
        elif low in _TIME_ARGUMENTS:
            filled[name] = round((wish.window[0] + wish.window[1]) / 2, 1)
    needs_window = wish.window is not None
    has_window = any(name.lower() not in _TEXT_ARGUMENTS for name in filled)
    if not filled or (needs_window and not has_window):
        return None
    return filled


def _made(name: str, arguments: Mapping[str, Any], history: Sequence[str]) -> bool:
    leaves = [_plain(json.dumps(value, ensure_ascii=False)) for value in arguments.values()]
    return any(
        _plain(name) in _plain(line) and all(leaf in _plain(line) for leaf in leaves) for line in history
    )


def _plain(text: str) -> str:
    return re.sub(r"[^\w.]+", " ", text.lower()).strip()
