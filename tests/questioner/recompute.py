"""References computed a second time, from the raw records and the words of the question alone."""

import re
from collections.abc import Callable

from evoharness.records.memory import VideoMemory
from evoharness.records.question import Question

Check = Callable[[Question, VideoMemory], bool]


def seconds(clock: str) -> int:
    total = 0
    for part in clock.split(":"):
        total = total * 60 + int(part)
    return total


def clocks(text: str) -> list[int]:
    return [seconds(c) for c in re.findall(r"\d+(?::\d+)+", text)]


def quotes(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)


def plain(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def joined(spans: list[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Reports that lie at most `gap` seconds apart tell of one occurrence."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + gap:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def showings(memory: VideoMemory, words: str) -> list[tuple[float, float]]:
    spans = [
        (t.interval.start, t.interval.end)
        for s in memory.segments
        for t in s.texts
        if plain(t.text) == plain(words)
    ]
    return joined(spans, 4.5)


def happenings(memory: VideoMemory, clause: str) -> list[tuple[float, float]]:
    spans = [
        (e.interval.start, e.interval.end)
        for s in memory.segments
        for e in s.events
        if plain(f"the {e.subject} {e.action}") == plain(clause)
    ]
    return joined(spans, 1.0)


def times(memory: VideoMemory, name: str) -> list[tuple[float, float]]:
    return showings(memory, name) or happenings(memory, name)


def clause_in(question: Question, memory: VideoMemory) -> str:
    """The longest event clause that stands in the question."""
    found = [
        clause
        for s in memory.segments
        for e in s.events
        if plain(clause := f"the {e.subject} {e.action}") in plain(question.text)
    ]
    return max(found, key=len, default="")


def cue_start(question: Question, memory: VideoMemory) -> float:
    named = quotes(question.text)
    return times(memory, named[0] if named else clause_in(question, memory))[0][0]


def is_next(question: Question, memory: VideoMemory) -> bool:
    """No other option begins between the cue and the reference."""
    assert question.answer is not None
    cue = cue_start(question, memory)

    def first_after(name: str) -> float:
        return min((a for a, _ in times(memory, name) if a > cue), default=float("inf"))

    options = [first_after(option) for option in question.options]
    return options[question.answer] == min(options) < float("inf") and options.count(min(options)) == 1


def is_previous(question: Question, memory: VideoMemory) -> bool:
    assert question.answer is not None
    cue = cue_start(question, memory)

    def last_before(name: str) -> float:
        return max((a for a, _ in times(memory, name) if a < cue), default=-1.0)

    options = [last_before(option) for option in question.options]
    return options[question.answer] == max(options) >= 0 and options.count(max(options)) == 1


def is_there_then(question: Question, memory: VideoMemory) -> bool:
    """Only the reference is there at the time, or during the thing, that the question names."""
    at = clocks(question.text)
    if at:
        low, high = float(min(at)) - 0.5, float(max(at)) + 0.5
    else:
        named = quotes(question.text)
        (low, high), *more = times(memory, named[0] if named else clause_in(question, memory))
        if more:
            return False
    there = [any(a <= high and low <= b for a, b in times(memory, option)) for option in question.options]
    return [i for i, seen in enumerate(there) if seen] == [question.answer]


def is_the_count(question: Question, memory: VideoMemory) -> bool:
    return question.reference_text == str(len(times(memory, clause_in(question, memory))))


def is_the_number_of_texts(question: Question, memory: VideoMemory) -> bool:
    low, high = clocks(question.text)
    shown = {
        plain(t.text)
        for s in memory.segments
        for t in s.texts
        if t.interval.start <= high and low <= t.interval.end
    }
    return question.reference_text == str(len(shown))


def is_when(question: Question, memory: VideoMemory) -> bool:
    named = quotes(question.text)
    (start, _), *more = times(memory, named[0] if named else clause_in(question, memory))
    near = [abs(seconds(option) - start) for option in question.options]
    return not more and near.index(min(near)) == question.answer and min(near) < 1


def is_the_stretch(question: Question, memory: VideoMemory) -> bool:
    named = quotes(question.text)
    (start, end), *more = times(memory, named[0] if named else clause_in(question, memory))
    inside = [
        i
        for i, option in enumerate(question.options)
        if clocks(option)[0] <= start and end <= clocks(option)[1]
    ]
    return not more and inside == [question.answer]


def is_extreme(question: Question, memory: VideoMemory) -> bool:
    assert question.answer is not None
    starts = [times(memory, option)[0][0] for option in question.options]
    pick = min if re.search(r"first|earliest", question.text) else max
    return starts[question.answer] == pick(starts) and starts.count(pick(starts)) == 1


def is_in_order(question: Question, memory: VideoMemory) -> bool:
    assert question.answer is not None

    def ordered(option: str) -> bool:
        starts = [times(memory, part.strip('"'))[0][0] for part in option.split("; then ")]
        return starts == sorted(starts)

    return [i for i, o in enumerate(question.options) if ordered(o)] == [question.answer]


def is_longest(question: Question, memory: VideoMemory) -> bool:
    assert question.answer is not None
    lasting = [sum(b - a for a, b in showings(memory, option)) for option in question.options]
    return lasting[question.answer] == max(lasting) and lasting.count(max(lasting)) == 1


def is_brief(question: Question, memory: VideoMemory) -> bool:
    lasting = [sum(b - a for a, b in showings(memory, option)) for option in question.options]
    return [i for i, s in enumerate(lasting) if s <= 2] == [question.answer]


def is_the_only_actor(question: Question, memory: VideoMemory) -> bool:
    told = plain(question.text)
    actions = {e.action for s in memory.segments for e in s.events if plain(e.action) in told}
    longest = max(actions, key=len)
    actors = {plain(f"the {e.subject}") for s in memory.segments for e in s.events if e.action == longest}
    return [i for i, o in enumerate(question.options) if plain(o) in actors] == [question.answer]


CHECKS: dict[str, Check] = {
    "next_text": is_next,
    "next_event": is_next,
    "previous_text": is_previous,
    "previous_event": is_previous,
    "shown_while": is_there_then,
    "happens_while": is_there_then,
    "happens_between": is_there_then,
    "text_at": is_there_then,
    "repeats": is_the_count,
    "texts_shown": is_the_number_of_texts,
    "when_it_begins": is_when,
    "in_which_stretch": is_the_stretch,
    "earliest_or_latest": is_extreme,
    "order_of_three": is_in_order,
    "longest_shown": is_longest,
    "only_briefly": is_brief,
    "who_acts": is_the_only_actor,
}
"""By form; for questions whose anchors are described, not related."""
